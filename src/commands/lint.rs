//! `cotenant lint`.

use clap::{Args, ValueEnum};
use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::Severity;

use crate::cli::{Machine, PolicyPaths};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{Look, print, tell};
use crate::{host, load, render};

/// Check a policy
///
/// Reports every mistake of a policy in one go: what cannot be read, names that do not exist, clauses that contradict each
/// other, and what the machine does not have. Exits with 1 where there are errors.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant lint web.policy                  against this machine
  cotenant lint --topology rack7.xml /etc/cotenant
                                            a directory, against another machine
  cotenant lint --deny warnings -           standard input, in a commit hook
  cotenant lint --format json web.policy    for programs: one object a line, on standard output")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    #[command(flatten)]
    machine: Machine,
    /// How to show what is found.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// What else to refuse, besides errors.
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Deny>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The text with its mistakes marked, on standard error.
    Human,
    /// `file:line:column: severity[code]: message`, on standard error.
    Short,
    /// One object a line, on standard output.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Exit with 1 on warnings, too.
    Warnings,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let sources = load::load(&options.policy.paths)?;
    let machine = Topology::load(&options.machine.source)?;
    let (plan, mut diagnostics) = compile(sources.clone(), &machine);
    if options.machine.source == TopologySource::Live {
        diagnostics.extend(host::findings(&sources));
        diagnostics.sort();
    }
    let denied = options.deny == Some(Deny::Warnings) && diagnostics.count(Severity::Warning) > 0;
    match options.format {
        Format::Json => print(&render::json(&diagnostics, &sources))?,
        Format::Short => tell(&render::short(&diagnostics, &sources)),
        Format::Human => {
            tell(&render::human(&diagnostics, &sources, Look::of_stderr()));
            let summary = match &plan {
                Some(plan) if !denied => render::passed(&diagnostics, sources.iter().count(), plan.classes.len()),
                Some(_) => format!("{}; warnings are denied", render::found(&diagnostics)),
                None => render::found(&diagnostics),
            };
            tell(&format!("{summary}\n"));
        }
    }
    Ok(if plan.is_none() || denied { Outcome::Refused } else { Outcome::Done })
}
