//! `cotenant release`.

use clap::Args;
use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::enforcer::Enforcer;
use cotenant_enforcer::lock::RunLock;
use cotenant_grammar::SourceSet;

use crate::enforcing::{Place, not_lent};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{print, tell};

/// Put everything back as it was
///
/// Ends the daemon, if one runs, and undoes what it, `apply`, or a daemon that was killed did to processes, threads and
/// control groups. What somebody else changed since is left to them.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    not_lent()?;
    let roots = options.place.roots();
    if let Some(answer) = ask(&roots.run, Request::Release)? {
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let mut lines = answer.lines();
        let Some(released) = lines.next() else {
            return Err(Failure::new("the daemon ended without an answer")
                .help("run `cotenant release` again: it finishes what the daemon left"));
        };
        let refused: Vec<&str> = lines.collect();
        refused.iter().for_each(|line| tell(&format!("not done: {line}\n")));
        said(released)?;
        return Ok(if refused.is_empty() { Outcome::Done } else { Outcome::InPart });
    }
    let _lock = RunLock::take(&roots.run)?;
    // An empty plan: what is to be undone stands in the journal, and starting undoes it.
    let machine = Topology::load(&TopologySource::Live)?;
    let (plan, _) = compile(SourceSet::default(), &machine);
    let Some(plan) = plan else { return Err(Failure::new("an empty policy makes no plan")) };
    let (_, pass) = Enforcer::start(roots, plan)?;
    for failure in &pass.failures {
        tell(&format!("not done: {failure}\n"));
    }
    said(&pass.released.to_string())?;
    Ok(if pass.failures.is_empty() { Outcome::Done } else { Outcome::InPart })
}

fn said(released: &str) -> Result<(), Failure> {
    print(&format!("{released} {} put back\n", if released == "1" { "process" } else { "processes" }))
}
