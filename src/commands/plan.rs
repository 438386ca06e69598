//! `cotenant plan`.

use clap::Args;
use cotenant_compiler::compile;
use cotenant_compiler::topology::Topology;

use crate::cli::{Machine, PolicyPaths, ResultFormat};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{Look, print, tell};
use crate::{load, render};

/// Show what a policy comes to on a machine
///
/// Lists the classes in matching order, each with the processes it takes, the CPUs they get in the order in which these
/// are filled, and how they are scheduled; then every clause with what it comes to here, by what it is kept and how
/// strongly. Nothing is changed. Findings go to standard error, as `cotenant lint` shows them.
///
/// Strength: `strict` is guaranteed by the kernel; `reactive` is kept by a loop that looks again every tick.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant plan web.policy                                   on this machine
  cotenant plan --topology \"pack:1 core:16 pu:2\" web.policy  on another
  cotenant plan --format json /etc/cotenant | jq '.classes[] | {name, tiers: .placement.tiers}'")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    #[command(flatten)]
    machine: Machine,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = ResultFormat::Table)]
    format: ResultFormat,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let sources = load::load(&options.policy.paths)?;
    let machine = Topology::load(&options.machine.source)?;
    let (plan, diagnostics) = compile(sources.clone(), &machine);
    tell(&render::human(&diagnostics, &sources, Look::of_stderr()));
    let Some(plan) = plan else {
        tell(&format!("{}\n", render::found(&diagnostics)));
        return Ok(Outcome::Refused);
    };
    print(&match options.format {
        ResultFormat::Table => render::plan(&plan, Look::of_stdout()),
        ResultFormat::Json => render::plan_json(&plan),
    })?;
    Ok(Outcome::Done)
}
