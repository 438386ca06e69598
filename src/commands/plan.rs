//! `cotenant plan`.

mod older;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cotenant_compiler::plan::Facilities;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_compiler::{Plan, compile_on};
use cotenant_enforcer::cgroup::{Hierarchy, Magic, Version};
use cotenant_enforcer::roots::Roots;
use cotenant_grammar::SourceSet;

use crate::cli::{Machine, PolicyPaths};
use crate::comparison::Comparison;
use crate::enforcing::RunDirectory;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{Look, print, tell};
use crate::{host, load, render};
use older::Older;

/// Show what a policy comes to on a machine
///
/// Lists the classes in matching order, each with the processes it takes, the CPUs they get in the order in which these
/// are filled, and how they are scheduled; then every clause with what it comes to here, by what it is kept and how
/// strongly. Nothing is changed. Findings go to standard error, as `cotenant lint` shows them.
///
/// With --diff, says instead what changes against another policy on this machine, fit for a comment on a pull request.
/// `--diff enforced` compares with the policy that a daemon has in force, whatever its files say by now, on the machine that
/// it enforces for unless --topology names another.
///
/// Strength: `strict` is guaranteed by the kernel; `bounded` is kept by it but for a stated share; `reactive` is kept by a
/// loop that looks again every tick; `refused` is not kept, and the policy is warned about it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant plan web.policy                                   on this machine
  cotenant plan --topology \"pack:1 core:16 pu:2\" web.policy  on another
  cotenant plan --diff old.policy new.policy                 what the new one changes
  cotenant plan --diff enforced web.policy                   what would change here if this were enforced
  cotenant plan --format svg web.policy > web.svg            a picture of the machine, coloured by class
  cotenant plan --format json /etc/cotenant | jq '.classes[] | {name, tiers: .placement.tiers}'")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    #[command(flatten)]
    machine: Machine,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Say what changes against this policy, an older one as a rule; may be repeated for a policy of several paths. The
    /// word `enforced` stands for what the daemon of --run-dir enforces; a file of that name is `./enforced`.
    #[arg(long, value_name = "OLD")]
    diff: Vec<PathBuf>,
    #[command(flatten)]
    run: RunDirectory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs: one document, with `schema_version`.
    Json,
    /// A picture of the machine, its CPUs coloured by the classes that may use them.
    Svg,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    if options.format == Format::Svg && !options.diff.is_empty() {
        return Err(Failure::new("a comparison cannot be shown as a picture")
            .help("leave out `--diff`, or take `--format table` or `--format json`"));
    }
    if options.policy.paths.iter().chain(&options.diff).filter(|path| load::is_stdin(path)).count() > 1 {
        return Err(Failure::new("standard input is named twice").help("write `-` once"));
    }
    if !options.diff.is_empty() {
        return compare(options);
    }
    let source = options.machine.source();
    let (machine, sources) = (Topology::load(source)?, load::load(&options.policy.paths)?);
    let Some(plan) = planned(sources, &machine, facilities(source, &machine), tell) else {
        return Ok(Outcome::Refused);
    };
    print(&match options.format {
        Format::Table => render::plan(&plan, Look::of_stdout()) + &placing(source),
        Format::Json => render::plan_json(&plan),
        Format::Svg => render::plan_svg(&plan),
    })?;
    Ok(Outcome::Done)
}

/// Says what the policy changes about an older one.
fn compare(options: &Options) -> Result<Outcome, Failure> {
    let Older { sources, machine } = older::read(&options.diff, &options.run.path)?;
    let (machine, facilities) = match (machine, &options.machine.named) {
        // A daemon may play another machine, and has the means of this one all the same.
        (Some(enforced_for), None) => {
            let facilities = host::facilities_of_daemon(&enforced_for);
            (enforced_for, facilities)
        }
        _ => {
            let machine = Topology::load(options.machine.source())?;
            let facilities = facilities(options.machine.source(), &machine);
            (machine, facilities)
        }
    };
    let Some(plan) = planned(load::load(&options.policy.paths)?, &machine, facilities, tell) else {
        return Ok(Outcome::Refused);
    };
    // What is only worth knowing of the older policy is nobody's concern any more.
    let mut said = String::new();
    let Some(old) = planned(sources, &machine, facilities, |text| said.push_str(text)) else {
        tell(&format!("{said}nothing is compared with a policy that is refused\n"));
        return Ok(Outcome::Refused);
    };
    let comparison = Comparison::of(&old, &plan);
    print(&match options.format {
        Format::Json => render::diff_json(&comparison, &plan),
        _ => render::diff(&comparison, &plan),
    })?;
    Ok(Outcome::Done)
}

/// The means of a machine; of one that is only described, none but what every machine has.
fn facilities(source: &TopologySource, machine: &Topology) -> Facilities {
    if *source == TopologySource::Live { host::facilities_of_daemon(machine) } else { Facilities::default() }
}

/// How processes are given their CPUs on this host; nothing for a machine elsewhere, which does not say.
fn placing(source: &TopologySource) -> String {
    if *source != TopologySource::Live {
        return String::new();
    }
    let group = Roots::default().group;
    let means = match Hierarchy::detect(&Roots::default().cgroup, Magic::Check).version() {
        Some(Version::V1) => format!("processes are moved into groups below `{group}` (cgroup v1)"),
        Some(Version::V2) => {
            "a cgroup of one class alone gets its CPUs, other threads an affinity (cgroup v2)".to_owned()
        }
        None => "each thread gets an affinity; this host has no cgroup tree with CPU sets".to_owned(),
    };
    format!("\nplaced by: {means}\n")
}

/// The plan of a policy; what there is to say about it goes to `tell`.
fn planned(sources: SourceSet, machine: &Topology, facilities: Facilities, mut tell: impl FnMut(&str)) -> Option<Plan> {
    let (plan, diagnostics) = compile_on(sources.clone(), machine, facilities);
    tell(&render::human(&diagnostics, &sources, Look::of_stderr()));
    if plan.is_none() {
        tell(&format!("{}\n", render::found(&diagnostics)));
    }
    plan
}
