//! `cotenant`: compiles CPU-placement policies and keeps them true.
//!
//! A library only for what is made of the command line beside the program: its manual pages and completions.

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
mod probe;
mod render;
mod terminal;
mod why;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// Does what the command line asks for.
#[must_use]
pub fn main() -> ExitCode {
    match cli::Cli::parse().command.run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(),
    }
}

/// The command line with all its commands and options, as clap has it.
#[must_use]
pub fn command() -> clap::Command {
    cli::Cli::command()
}
