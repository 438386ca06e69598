//! What the commands that touch the host share: where the daemon's things are, and a policy that may be enforced.

use std::path::PathBuf;

use clap::Args;
use cotenant_compiler::plan::{Facilities, Placement, Strength};
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_compiler::{Plan, compile_on};
use cotenant_enforcer::error::KernelError;
use cotenant_enforcer::privilege::{self, Lack};
use cotenant_enforcer::roots::Roots;
use cotenant_enforcer::sys::secure::is_lent;
use cotenant_enforcer::trust;
use cotenant_grammar::{Diagnostics, SourceSet};

use crate::failure::Failure;
use crate::terminal::{Look, tell};
use crate::{host, load, render};

/// Where a daemon is found.
#[derive(Debug, Args)]
pub(crate) struct RunDirectory {
    /// Directory of the journal, the lock and the control socket.
    #[arg(long = "run-dir", value_name = "DIR", default_value = "/run/cotenant", help_heading = "Places")]
    pub(crate) path: PathBuf,
}

/// Where cotenant keeps what it must know to put everything back.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[command(flatten)]
    run: RunDirectory,
    /// Name of the control group below which processes are moved.
    #[arg(long, value_name = "NAME", default_value = "cotenant", help_heading = "Places")]
    group: String,
}

impl Place {
    /// The kernel's file systems where they always are, and the enforcer's own things here.
    pub(crate) fn roots(&self) -> Roots {
        Roots { run: self.run.path.clone(), group: self.group.clone(), ..Roots::default() }
    }
}

/// Gives up all privilege but what placing takes, and says what is missing of that. Comes before anything is read that
/// somebody else could have written.
pub(crate) fn shed(place: &Place) -> Result<Vec<Lack>, Failure> {
    not_lent()?;
    Ok(privilege::shed(&place.roots())?)
}

/// Refuses privileges that anybody has who runs this file: arguments and environment are then not to be trusted.
pub(crate) fn not_lent() -> Result<(), Failure> {
    let failure =
        Failure::new("this file gives its privileges to whoever runs it, who could then place every process here");
    let remedy = "take its set-user-ID bit and capabilities away (`chmod u-s`, `setcap -r`), and give a service what it needs \
                  by its unit";
    if is_lent() { Err(failure.help(remedy)) } else { Ok(()) }
}

/// The machine to enforce on: this one, or this one played as another.
///
/// A played machine lets a policy be tried where it does not belong, as siblings on a machine that has none. Its CPUs
/// must be online here, because threads are going to be put on them.
pub(crate) fn machine(source: &TopologySource) -> Result<Topology, Failure> {
    let machine = Topology::load(source)?;
    if *source == TopologySource::Live {
        return Ok(machine);
    }
    let live = Topology::load(&TopologySource::Live)?;
    let missing = machine.online().difference(live.online());
    if missing.is_empty() {
        return Ok(machine);
    }
    Err(Failure::new(format!("`{source}` has CPUs that are not online here: {missing}"))
        .help("to enforce, leave `--topology` out; to see what a policy comes to elsewhere, use `cotenant plan`"))
}

/// A policy's texts, what there is to say about them, and the plan where there is one.
pub(crate) struct Compiled {
    pub(crate) sources: SourceSet,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) plan: Option<Plan>,
}

/// Reads and compiles a policy that is going to be enforced: nobody else may have been able to write it.
pub(crate) fn compiled(paths: &[PathBuf], machine: &Topology, facilities: Facilities) -> Result<Compiled, Failure> {
    if paths.iter().any(|path| load::is_stdin(path)) {
        return Err(Failure::new("a policy from standard input cannot be enforced")
            .help("put it into a file, so that changes to it can be seen and its owner be checked"));
    }
    let sources = load::load_allowed(paths, &|path| {
        trust::check(path).map_err(|distrust| Failure::new(distrust.to_string()).help(distrust.remedy()))?;
        // To open a pipe waits for its other end, and the daemon with it.
        match path.is_file() {
            true => Ok(()),
            false => Err(Failure::new(format!("`{}` is not a regular file", path.display()))
                .help("put the policy into a file, or give the other thing another ending")),
        }
    })?;
    Ok(compiled_of(sources, machine, facilities))
}

/// [`compiled`], of texts that were read before.
pub(crate) fn compiled_of(sources: SourceSet, machine: &Topology, facilities: Facilities) -> Compiled {
    let (plan, mut diagnostics) = compile_on(sources.clone(), machine, facilities);
    // Asking is not for free, and few policies require anything.
    let requiring = plan.as_ref().filter(|plan| !plan.requirements.is_empty());
    let unmet = requiring.map(|plan| plan.unmet(&host::facts())).unwrap_or_default();
    let plan = plan.filter(|_| unmet.is_empty());
    unmet.into_iter().for_each(|unmet| diagnostics.push(unmet.into()));
    Compiled { sources, diagnostics, plan }
}

/// A policy that may be put in force, and the texts it was read from.
pub(crate) struct Ready {
    pub(crate) plan: Plan,
    pub(crate) sources: SourceSet,
}

/// [`compiled`], with everything there is to say said; none where the policy is refused.
pub(crate) fn ready(paths: &[PathBuf], machine: &Topology, facilities: Facilities) -> Result<Option<Ready>, Failure> {
    let Compiled { sources, diagnostics, plan } = compiled(paths, machine, facilities)?;
    tell(&render::human(&diagnostics, &sources, Look::of_stderr()));
    if plan.is_none() {
        tell(&format!("{}\n", render::found(&diagnostics)));
    }
    Ok(plan.map(|plan| Ready { plan, sources }))
}

/// Clauses that hold only while somebody watches, or not at all, one line each, for where nobody will.
pub(crate) fn unkept(placement: &Placement) -> impl Iterator<Item = String> {
    placement.clauses.iter().filter_map(|clause| {
        let why = match clause.strength {
            Strength::Reactive => "follows the load, which nobody watches now: run `cotenant enforce` to keep it",
            Strength::Refused => clause.effect.as_str(),
            Strength::Strict | Strength::Bounded => return None,
        };
        Some(format!("`{}` {why}", clause.text))
    })
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Failure {
        let text = error.to_string();
        // The remedy is the last part of the text, and has a line of its own here.
        match error.remedy() {
            Some(remedy) => {
                let message = text.strip_suffix(remedy).map_or(text.as_str(), |text| text.trim_end_matches(": "));
                Failure::new(message).help(remedy)
            }
            None => Failure::new(text),
        }
    }
}
