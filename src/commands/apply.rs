//! `cotenant apply`.

use clap::Args;
use cotenant_compiler::plan::PlannedClass;
use cotenant_compiler::topology::TopologySource;
use cotenant_enforcer::daemon::{UNMOVED, UNSEEN};
use cotenant_enforcer::enforcer::{Enforcer, Pass};
use cotenant_enforcer::lock::RunLock;
use cotenant_enforcer::privilege::Lack;

use crate::cli::PolicyPaths;
use crate::enforcing::{Place, Ready, machine, ready, shed, unkept};
use crate::failure::Failure;
use crate::host;
use crate::outcome::Outcome;
use crate::terminal::{print, tell};

/// Place what runs now, then end
///
/// One pass: every process that the policy matches is placed, and what is started later is not looked at, though children
/// inherit from their parents. `cotenant release` puts everything back. Clauses that follow the load need `enforce`; they
/// are listed, and the exit code is 3.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant apply web.policy && cotenant release

Exit codes:
  0  every clause holds for what runs now
  3  applied in part: what was not done is said on standard error")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    /// Play this machine as another, to try a policy out: levels or a file as for `plan`.
    #[arg(long = "topology", value_name = "T", default_value = "live")]
    source: TopologySource,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    for Lack { means, error } in shed(&options.place)? {
        tell(&format!("warning: {means}: {error}\n"));
    }
    let machine = machine(&options.source)?;
    // Nobody watches once this has ended, so nothing rests on a sensor.
    let Some(Ready { plan, .. }) = ready(&options.policy.paths, &machine, host::facilities())? else {
        return Ok(Outcome::Refused);
    };
    let roots = options.place.roots();
    let _lock = RunLock::take(&roots.run)?;
    let of_class = |class: &PlannedClass| {
        let lines = class.placement.iter().flat_map(unkept);
        lines.map(|line| format!("class `{}`: {line}", class.name)).collect::<Vec<_>>()
    };
    let unkept: Vec<String> = plan.classes.iter().flat_map(of_class).collect();
    let (mut enforcer, recovered) = Enforcer::start(roots, plan)?;
    if let Some(error) = enforcer.hindrance() {
        tell(&format!("warning: {UNMOVED}: {error}\n"));
    }
    if let Some(error) = enforcer.unseen_groups() {
        tell(&format!("warning: {UNSEEN}: {error}\n"));
    }
    let mut pass = recovered;
    match enforcer.scan() {
        Ok(placed) => pass.add(placed),
        // All or nothing: what was placed until then goes back.
        Err(error) => {
            drop(enforcer.release_all());
            return Err(error.into());
        }
    }
    let members = enforcer.members().count();
    print(&format!("{members} {} placed\n", if members == 1 { "process" } else { "processes" }))?;
    Ok(shortfall(&pass, &unkept))
}

/// Says what was not done.
fn shortfall(pass: &Pass, unkept: &[String]) -> Outcome {
    for failure in &pass.failures {
        tell(&format!("not done: {failure}\n"));
    }
    for line in unkept {
        tell(&format!("not done: {line}\n"));
    }
    if pass.failures.is_empty() && unkept.is_empty() { Outcome::Done } else { Outcome::InPart }
}
