//! `cotenant exec`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use cotenant_compiler::Plan;
use cotenant_compiler::plan::PlannedClass;
use cotenant_compiler::topology::TopologySource;
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::ids::{Pid, Tid};
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::roots::Roots;
use cotenant_enforcer::sys::{affinity, core_sched};
use cotenant_enforcer::thread::{Before, Touched, Wrote};

use crate::enforced::nothing_enforced;
use crate::enforcing::{Compiled, Place, compiled, machine, unkept};
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
    let class = plan.class_named(name).map(|at| plan.classes.get(at));
    class.ok().flatten().ok_or_else(|| {
        let failure = Failure::new(format!("the policy has no class `{name}`"));
        match plan.class_named(name) {
            Err(Some(nearest)) => failure.help(format!("write `{nearest}`")),
            _ => failure,
        }
    })
}

/// Gives this process what its class has without anybody watching.
fn place_self(class: &PlannedClass) -> Result<(), Failure> {
    let Some(placement) = &class.placement else { return Ok(()) };
    let (procfs, reach) = (Procfs::new(Roots::default().proc), placement.reach());
    let (me, tid) = (Pid::current(), Tid::current());
    let start = procfs.thread_stat(me, tid)?.start;
    // Nobody puts back what it asked for, so that all it has now may pass for what its cpuset gives.
    let cpuset = affinity::get(tid)?;
    let mut touched = Touched { start, before: Before::read(&procfs, tid, &cpuset)?, wrote: Wrote::default() };
    let mut todo = touched.intend(tid, placement.attributes, Some(&reach), &cpuset)?;
    Touched::perform(&procfs, (me, tid, start), &mut todo)?;
    if placement.cookie.is_some() {
        core_sched::create(tid)?;
    }
    unkept(placement).for_each(|line| tell(&format!("not done: {line}\n")));
    Ok(())
}
