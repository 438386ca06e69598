//! `cotenant probe`.

use std::io::IsTerminal;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::roots::Roots;
use cotenant_enforcer::sys::affinity;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::probe::{Effort, Findings, Work, measure, spots};
use crate::render;
use crate::terminal::{Look, print};

/// Measure what a busy neighbour costs on this machine
///
/// A victim of each kind (integers, floating point, a pointer chase, a walk over memory) works beside a neighbour of each
/// kind: on its sibling, behind the same cache, in the same memory node, in another; as far as this machine has them. What is
/// shown is how many times as much CPU time the same work takes then, and what that means for a policy. Two CPUs are busy
/// meanwhile: some minutes on a large machine, and what else runs there should be little.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant probe                        measure, and say what to write into a policy
  cotenant probe --format json > costs  for programs
  taskset -c 8-15 cotenant probe        on these CPUs only
  cotenant probe --turn 0.02 --turns 3  a first look, in a quarter of the time")]
pub(crate) struct Options {
    /// How to show it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Seconds that one turn takes: 0.005 to 10.
    #[arg(long, value_name = "SECONDS", default_value = "0.08", value_parser = turn)]
    turn: Duration,
    /// Fewest turns for each pair; there are up to five times as many until the median stands.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=100))]
    turns: u8,
}

/// The ways to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs: one document, with `schema_version`.
    Json,
    /// A picture.
    Svg,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let machine = Topology::load(&TopologySource::Live)?;
    let allowed = affinity::get(Tid::current())?;
    let (victim, spots) = spots(&machine, &allowed).ok_or_else(|| {
        Failure::new(format!("there is no neighbour to measure: this program may use CPU {allowed} alone"))
            .help("give it two CPUs at least: see `taskset -p $$`, and the cgroup's `cpuset.cpus.effective`")
    })?;
    let procfs = Procfs::new(Roots::default().proc);
    let least = usize::from(options.turns);
    let effort = Effort { turn: options.turn, turns: (least, least * 5) };
    let pairs: Vec<_> = spots
        .iter()
        .flat_map(|spot| Work::ALL.into_iter().flat_map(move |work| Work::ALL.map(|other| (*spot, work, other))))
        .collect();
    let progress = progress(pairs.len());
    let mut costs = Vec::new();
    for (spot, work, neighbour) in pairs {
        progress.set_message(format!("{} beside {} {}", work.word(), neighbour.word(), spot.distance.words()));
        costs.extend(measure(&procfs, (victim, work), (spot, neighbour), effort)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    let findings = Findings { victim, spots, costs };
    print(&match options.format {
        Format::Table => render::probe(&findings, Look::of_stdout()),
        Format::Json => render::probe_json(&findings, &machine),
        Format::Svg => render::probe_svg(&findings),
    })?;
    Ok(Outcome::Done)
}

/// A bar on standard error, where that is a terminal.
fn progress(pairs: usize) -> ProgressBar {
    let bar = ProgressBar::new(pairs as u64);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    match ProgressStyle::with_template("{bar:30} {pos} of {len}, {eta} left  {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn turn(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.005..=10.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("write a number of seconds from 0.005 to 10".to_owned()),
    }
}
