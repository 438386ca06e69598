//! `cotenant why`.

use std::path::PathBuf;

use clap::Args;
use cotenant_compiler::Plan;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_enforcer::accounts::Accounts;
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::ids::Pid;
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::subject::Subject;

use crate::cli::ResultFormat;
use crate::enforced::{self, nothing_enforced};
use crate::enforcing::{Place, compiled_of};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::terminal::{Look, print, tell};
use crate::why::{Question, shown};
use crate::{host, load, render};

/// Show why a process is in its class, or in none
///
/// The clause that decided, marked in its file; the process's fields as predicates see them; each class in the order in which
/// it is asked, with the comparison that decided; then what was written to each thread, what the kernel says of it now, and
/// what somebody else has changed since. The policy is the one that a daemon enforces here, or that of the given paths.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant why $(pidof -s nginx)          what the daemon did to it, and why
  cotenant why 4242 new.policy            what another policy would make of it

Exit codes:
  0  it is in a class, or would be
  3  it is in none")]
pub(crate) struct Options {
    /// The process, or any thread of it.
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pid: i32,
    /// Policy files or directories to ask in the place of the daemon.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = ResultFormat::Table)]
    format: ResultFormat,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let roots = options.place.roots();
    let (procfs, accounts) = (Procfs::new(&roots.proc), Accounts::default());
    let gone =
        || Failure::new(format!("there is no process {}", options.pid)).help("`pgrep -a NAME` lists those of a name");
    let pid = procfs.status(Pid(options.pid)).map_err(|_| gone())?.process;
    let stat = procfs.stat(pid).map_err(|_| gone())?;
    if stat.is_kernel_thread() {
        return Err(Failure::new(format!("process {pid} is a thread of the kernel")).help("no policy touches those"));
    }
    let Some(plan) = plan(options)? else { return Ok(Outcome::Refused) };
    let enforced = match options.paths.is_empty() {
        true => story(options, pid)?,
        false => None,
    };
    let process = Subject::new(&procfs, &accounts, &roots.group, pid, &stat);
    let question = Question { plan: &plan, process: &process, pid, parent: stat.parent, enforced };
    let verdict = question.verdict();
    let answer = question.answer();
    let text = match options.format {
        ResultFormat::Json => render::why_json(&answer),
        ResultFormat::Table => {
            let verdict = verdict.map(|verdict| shown(&verdict, &answer));
            render::why(&answer, verdict.as_ref(), &plan.sources, Look::of_stdout())
        }
    };
    print(&text)?;
    Ok(if answer.matched.is_some() || answer.enforced.is_some() { Outcome::Done } else { Outcome::InPart })
}

/// The policy in force, or that of the paths; none where it is refused, which is said.
fn plan(options: &Options) -> Result<Option<Plan>, Failure> {
    let (sources, machine) = match &options.paths[..] {
        [] => {
            let enforced = enforced::Enforced::of_daemon(&options.place.roots().run)
                .map_err(|failure| failure.or_help("or name the policy's files: `cotenant why PID PATH`"))?;
            (enforced.sources, enforced.machine)
        }
        paths => (load::load(paths)?, Topology::load(&TopologySource::Live)?),
    };
    let compiled = compiled_of(sources, &machine, host::facilities());
    if compiled.plan.is_none() {
        tell(&render::human(&compiled.diagnostics.errors(), &compiled.sources, Look::of_stderr()));
        tell(&format!("{}\n", render::found(&compiled.diagnostics)));
    }
    Ok(compiled.plan)
}

/// What the daemon knows of the process.
fn story(options: &Options, pid: Pid) -> Result<Option<render::Enforced>, Failure> {
    let run = options.place.roots().run;
    let answer = ask(&run, Request::Why(pid))?.ok_or_else(|| nothing_enforced(&run))?;
    serde_json::from_slice(&answer).map_err(|cause| {
        Failure::new(format!("the answer of the daemon of `{}` cannot be read: {cause}", run.display()))
            .help("it may be of another version: restart it with this one, or name the policy's files")
    })
}
