//! What the daemon says, as log lines with fields. Every warning ends with what was done instead.

use std::io::IsTerminal;

use cotenant_enforcer::daemon::{Cause, Notice, Reload};
use cotenant_enforcer::enforcer::Pass;
use tracing::{error, info, warn};
use tracing_subscriber::EnvFilter;

use super::journal;

/// Starts logging to standard error: `COTENANT_LOG` chooses what, as `tracing_subscriber`'s filter reads it.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("COTENANT_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = lines.with_ansi(colour);
    // The journal has the time already, and the level is the priority there. A second start changes nothing.
    let _ = match journal::is_stderr() {
        true => lines.without_time().with_level(false).with_writer(journal::Journal).try_init(),
        false => lines.try_init(),
    };
}

/// One line for each thing the daemon says.
pub(super) fn notice(notice: &Notice<'_>) {
    match notice {
        Notice::Recovered(pass) => info!(processes = pass.released, "put back what an earlier run had left"),
        Notice::Ready(pass) => info!(placed = pass.placed, "the policy is in force"),
        Notice::Lost(pass) => warn!(placed = pass.placed, "process events were lost: everything was looked at again"),
        Notice::Refused(failure) => {
            warn!(pid = failure.pid.0, class = failure.class, "{}: left as it is", failure.error);
        }
        Notice::Contested(it) => warn!(
            pid = it.pid.0,
            class = it.class,
            "contested: something else changes again and again what the class insists on; it is set back less and less often. \
             Find out what (`auditctl -a always,exit -S sched_setaffinity,sched_setattr,setpriority`), or say `yield`"
        ),
        Notice::Weaker(what, error) => warn!("{what}: {error}"),
        // What comes of it is said when it is known.
        Notice::Reloading | Notice::Stopping => {}
        Notice::Released(pass) => info!(processes = pass.released, "everything is put back"),
        Notice::Reloaded(Cause::Machine, reload, pass) => machine(reload, pass),
        Notice::Astray(astray) => {
            let (class, due) = (&astray.class, &astray.due);
            warn!(class, "none of CPUs {due} is online: the class may run on every other until one is");
        }
        Notice::Reloaded(_, reload, pass) => match reload {
            Reload::Unchanged => info!("the policy was read again and says what is in force"),
            Reload::Applied(changes) => {
                let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
                let (placed, released) = (pass.placed, pass.released);
                info!(placed, released, "the changed policy is in force: {}", changes.join("; "));
            }
            Reload::Refused(why) => error!("the changed policy is wrong, keeping the one before\n{}", why.trim_end()),
            Reload::Failed(why) => error!("the changed policy could not be applied, the one before is back: {why}"),
        },
    }
}

/// CPUs came or went.
fn machine(reload: &Reload, pass: &Pass) {
    let (placed, released) = (pass.placed, pass.released);
    match reload {
        Reload::Unchanged => info!(placed, released, "CPUs came or went, and the plan is for those online already"),
        Reload::Applied(changes) => {
            let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
            info!(
                placed,
                released,
                "CPUs came or went, and the plan for those online is in force: {}",
                changes.join("; ")
            );
        }
        Reload::Refused(why) => error!(
            "CPUs came or went, and the policy is wrong on those online, keeping what they leave of the plan before\n{}",
            why.trim_end()
        ),
        Reload::Failed(why) => error!("CPUs came or went, and no plan for those online could be applied: {why}"),
    }
}
