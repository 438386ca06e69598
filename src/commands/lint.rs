//! `cotenant lint`.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use cotenant_compiler::topology::Topology;
use cotenant_compiler::{Plan, check, lints};
use cotenant_grammar::{Diagnostics, Severity, SourceSet};

use crate::cli::PolicyPaths;
use crate::failure::Failure;
use crate::findings::Findings;
use crate::fleet::Fleet;
use crate::outcome::Outcome;
use crate::terminal::{Look, print, tell};
use crate::{host, load, render};

/// Check a policy
///
/// Reports every mistake of a policy in one go: what cannot be read, names that do not exist, clauses that contradict each
/// other, and what the machine does not have. Exits with 1 where there are errors. With several machines, one run checks
/// against all of them, and a finding that holds on some only names those.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant lint web.policy                  against this machine
  cotenant lint --topology rack7.xml /etc/cotenant
                                            a directory, against another machine
  cotenant lint --topology fleet/ --topology \"pack:2 core:8 pu:2\" web.policy
                                            against every *.xml of a directory, and one more
  cotenant lint --deny warnings -           standard input, in a commit hook
  cotenant lint --means web.policy          and by what each clause is kept, how strongly
  cotenant lint --format json web.policy    for programs: one object a line, on standard output
  cotenant lint --format sarif web.policy > findings.sarif
                                            for code hosts and editors
  cotenant explain unknown-word             more about one finding")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    #[command(flatten)]
    fleet: Fleet,
    /// How to show what is found.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Also note what each class is promised: by what each clause is kept, and how strongly.
    #[arg(long)]
    means: bool,
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
    /// One SARIF 2.1.0 document, on standard output.
    Sarif,
    /// Annotations of a pull request, as a GitHub workflow prints them, on standard output.
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Exit with 1 on warnings, too.
    Warnings,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    if let Some(machine) = options.policy.paths.iter().find(|path| path.extension().is_some_and(|it| it == "xml")) {
        // The shell opens an unquoted pattern out, and all but the first of its files are taken for policies.
        let failure = Failure::new(format!("`{}` is a machine and stands where policies do", machine.display()));
        return Err(failure.help("put a pattern for machines into quotes: `--topology 'fleet/*.xml'`"));
    }
    let sources = load::load(&options.policy.paths)?;
    let hosts = options.fleet.load()?;
    let means = |plan: &Plan| if options.means { lints::kept_by(plan) } else { Diagnostics::default() };
    // Whether a sensor can be had is found out by loading it, and changes nothing but by what a clause is kept.
    let facilities = |machine: &Topology| match options.means {
        true => host::facilities_of_daemon(machine),
        false => host::facilities(),
    };
    let findings = Findings::of(&check(sources.clone()), &hosts, || host::findings(&sources), facilities, means);
    let said = findings.said();
    let denied = options.deny == Some(Deny::Warnings) && said.count(Severity::Warning) > 0;
    match options.format {
        Format::Json => print(&render::json(&findings, &sources))?,
        Format::Sarif => print(&render::sarif(&findings, &sources))?,
        Format::Github => print(&render::github(&said, &sources))?,
        Format::Short => tell(&render::short(&said, &sources)),
        Format::Human => {
            tell(&render::human(&said, &sources, Look::of_stderr()));
            tell(&format!("{}\n", summary(&findings, &said, &sources, denied)));
            if std::io::stderr().is_terminal() {
                tell(&render::hint(&said).unwrap_or_default());
            }
        }
    }
    Ok(if findings.refused > 0 || denied { Outcome::Refused } else { Outcome::Done })
}

fn summary(findings: &Findings, said: &Diagnostics, sources: &SourceSet, denied: bool) -> String {
    let several = findings.machines() > 1;
    match (findings.refused, findings.classes) {
        (0, Some(classes)) if !denied => {
            let passed = render::passed(said, sources.iter().count(), classes);
            if several { format!("{passed}, on {} machines", findings.machines()) } else { passed }
        }
        (0, _) => format!("{}; warnings are denied", render::found(said)),
        (refused, _) if several => {
            format!("{}; refused on {refused} of {} machines", render::found(said), findings.machines())
        }
        _ => render::found(said),
    }
}
