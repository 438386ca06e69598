//! `cotenant exec`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use cotenant_compiler::Plan;
use cotenant_compiler::plan::{Placement, PlannedClass, Strength};
use cotenant_compiler::topology::TopologySource;
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::sys::{affinity, core_sched, sched};
use cotenant_enforcer::thread::wanted;
use cotenant_grammar::nearest;

use crate::enforced::nothing_enforced;
use crate::enforcing::{Compiled, Place, compiled, machine};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{Look, tell};
use crate::{host, render};

/// Start a command in a class, whatever the class matches
///
/// The command is placed before its first instruction and takes the place of `cotenant`: it has its process id, gets its
/// signals, and its exit status is the command's. A daemon keeps it in the class for as long as it lives and the daemon runs,
/// whatever it executes; its children are classified like everybody's. Without a daemon, `--policy` names the policy, and the
/// command gets what holds without anybody watching: CPUs, scheduling, a cookie.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant exec batch -- make -j32
  cotenant exec --policy web.policy web -- ./server --port 80

Exit codes:
  the command's own; 2 where it could not be placed, 126 where it cannot be executed, 127 where it is not there")]
pub(crate) struct Options {
    /// The class, as the policy calls it.
    #[arg(value_name = "CLASS")]
    class: String,
    /// The command and its arguments.
    #[arg(value_name = "CMD", last = true, required = true)]
    command: Vec<OsString>,
    /// Policy files or directories to place by, in the place of a daemon.
    #[arg(long = "policy", value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    match &options.paths[..] {
        [] => ask_daemon(options)?,
        paths => {
            let machine = machine(&TopologySource::Live)?;
            // Warnings are for who writes the policy, not for everybody who starts a command by it.
            let Compiled { sources, diagnostics, plan } = compiled(paths, &machine, host::facilities())?;
            let Some(plan) = plan else {
                tell(&render::human(&diagnostics.errors(), &sources, Look::of_stderr()));
                return Ok(Outcome::Refused);
            };
            place_self(class_of(&plan, &options.class)?)?;
        }
    }
    let Some((program, arguments)) = options.command.split_first() else { return Ok(Outcome::Done) };
    // It returns only where there is nothing to become.
    let error = Command::new(program).args(arguments).exec();
    tell(&format!("error: `{}` cannot be executed: {error}\n", program.to_string_lossy()));
    Ok(Outcome::Exit(if error.kind() == ErrorKind::NotFound { 127 } else { 126 }))
}

/// Has the daemon place this process, which is about to be another program.
fn ask_daemon(options: &Options) -> Result<(), Failure> {
    let run = options.place.roots().run;
    let answer = ask(&run, Request::Exec(options.class.clone()))?
        .ok_or_else(|| nothing_enforced(&run).or_help("or name the policy's files with `--policy`"))?;
    match String::from_utf8_lossy(&answer).trim_end() {
        "placed" => Ok(()),
        "" => Err(Failure::new("the daemon does not place processes that ask for it").help(
            "only root and the daemon's own user may ask; and one of an older version does not know the request",
        )),
        why => Err(Failure::new(format!("not placed: {why}"))),
    }
}

fn class_of<'a>(plan: &'a Plan, name: &str) -> Result<&'a PlannedClass, Failure> {
    plan.classes.iter().find(|class| class.name == name).ok_or_else(|| {
        let failure = Failure::new(format!("the policy has no class `{name}`"));
        match nearest(name, plan.classes.iter().map(|class| class.name.as_str())) {
            Some(nearest) => failure.help(format!("write `{nearest}`")),
            None => failure,
        }
    })
}

/// Gives this process what its class has without anybody watching.
fn place_self(class: &PlannedClass) -> Result<(), Failure> {
    let Some(placement) = &class.placement else { return Ok(()) };
    let me = Tid::current();
    affinity::set(me, &placement.reach())?;
    let (now, reach) = (sched::get(me)?, affinity::get(me)?);
    if !reach.is_subset(&placement.reach()) {
        return Err(Failure::new(format!("CPUs {} of class `{}` cannot be had here", placement.reach(), class.name))
            .help("the cpuset of the shell that this was started in does not have them"));
    }
    let wanted = wanted(&now, placement.attributes);
    if wanted != now {
        sched::set(me, &wanted)?;
        if sched::get(me)?.nice != wanted.nice {
            sched::set_nice(me, wanted.nice)?;
        }
    }
    if placement.cookie.is_some() {
        core_sched::create(me)?;
    }
    unkept(placement).into_iter().for_each(|line| tell(&line));
    Ok(())
}

/// Clauses that nobody keeps now, one line each.
fn unkept(placement: &Placement) -> Vec<String> {
    let lines = placement.clauses.iter().filter_map(|clause| match clause.strength {
        Strength::Reactive => Some(format!(
            "not done: `{}` follows the load, which nobody watches: `cotenant enforce` does\n",
            clause.text
        )),
        Strength::Refused => Some(format!("not done: `{}` {}\n", clause.text, clause.effect)),
        Strength::Strict | Strength::Bounded => None,
    });
    lines.collect()
}
