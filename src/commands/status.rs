//! `cotenant status`.

mod watch;

use std::time::Duration;

use clap::Args;
use cotenant_enforcer::control::{Request, ask};

use crate::cli::ResultFormat;
use crate::enforced::nothing_enforced;
use crate::enforcing::Place;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::render;
use crate::terminal::{Look, print};

/// Show what is enforced here
///
/// Each class with the CPUs it may use at this moment, its processes, how these are placed, and how many of their threads
/// the kernel shows as the policy wants them; then how each clause is kept and how strongly, and what became of the last
/// change to the policy. Exit code 2 where no daemon runs: then nothing is kept.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How to show it.
    #[arg(long, value_enum, default_value_t = ResultFormat::Table)]
    format: ResultFormat,
    /// Show it again and again on this terminal, with the machine and its load; `?` shows the keys.
    #[arg(long, conflicts_with = "format")]
    watch: bool,
    /// Seconds between two looks of `--watch`: 0.1 to 60.
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "watch", value_parser = interval)]
    interval: Duration,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let roots = options.place.roots();
    if options.watch {
        watch::watch(&roots, options.interval)?;
        return Ok(Outcome::Done);
    }
    let answer = ask(&roots.run, Request::Status)?.ok_or_else(|| nothing_enforced(&roots.run))?;
    let text = String::from_utf8_lossy(&answer);
    print(&match options.format {
        ResultFormat::Json => text.into_owned(),
        ResultFormat::Table => render::status(&text, Look::of_stdout())?,
    })?;
    Ok(Outcome::Done)
}

fn interval(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=60.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("write a number of seconds from 0.1 to 60".to_owned()),
    }
}
