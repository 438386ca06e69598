//! `cotenant`: compiles CPU-placement policies and keeps them true.

mod cli;
mod commands;
mod comparison;
mod convert;
mod enforced;
mod enforcing;
mod failure;
mod findings;
mod fleet;
mod host;
mod load;
mod outcome;
mod pages;
mod render;
mod terminal;
mod why;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().command.run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(),
    }
}
