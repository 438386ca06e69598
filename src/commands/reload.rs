//! `cotenant reload`.

use clap::Args;
use cotenant_enforcer::control::{Request, ask};

use crate::enforced::nothing_enforced;
use crate::enforcing::Place;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::render::{ReloadOutcome, reloaded};
use crate::terminal::{print, tell};

/// Have the daemon read its policy again, and wait for what comes of it
///
/// A change of the files is seen without this. It is for when the answer matters, as in a deployment, and for what the files
/// do not show: users and groups that were added, a scheduler that was loaded. A policy that is wrong is refused with its
/// mistakes, exit code 1, and the one before stays in force.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant reload && echo in force
  systemctl reload cotenant             the same where systemd runs the daemon")]
pub(crate) struct Options {
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let run = options.place.roots().run;
    let answer = ask(&run, Request::Reload)?.ok_or_else(|| nothing_enforced(&run))?;
    let reload = reloaded(&String::from_utf8_lossy(&answer))?;
    let detail = reload.detail;
    match reload.outcome {
        ReloadOutcome::Unchanged => print("the policy was read again and says what is in force\n")?,
        ReloadOutcome::Applied => print(&format!("the changed policy is in force: {detail}\n"))?,
        ReloadOutcome::Refused => {
            tell(&format!("{detail}\n\nthe policy is refused, and the one before stays in force\n"));
            return Ok(Outcome::Refused);
        }
        ReloadOutcome::Failed => {
            return Err(Failure::new(format!("the policy could not be applied, and the one before is back: {detail}"))
                .help("`cotenant status` shows what is in force"));
        }
    }
    Ok(Outcome::Done)
}
