//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use cotenant_compiler::topology::TopologySource;

use crate::commands::{
    apply, convert, enforce, exec, explain, fmt, lint, plan, probe, release, reload, status, topology, why,
};
use crate::failure::Failure;
use crate::outcome::Outcome;

/// Says which processes get which CPUs, and keeps it so.
///
/// A policy is a text that says which processes get which CPUs, in words an operator would use aloud. cotenant checks it,
/// shows what it comes to on a machine, by which means each clause is kept there and how strongly.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = HINT, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const HINT: &str = "See `cotenant --help` for examples, and `cotenant help COMMAND` for one command.";

const EXAMPLES: &str = "\
A policy, whole:
  rt class web: prefer idle core, push equal prio; batch: only when core idle

  Threads of `web` are real-time and get a core of their own while one is free; `batch` runs on
  cores that nobody else uses.

Examples:
  cotenant topology                     the machine, with the words policies use for its parts
  cotenant lint web.policy              check a policy against this machine
  cotenant plan web.policy              who would run where, how, and how strongly that holds
  cotenant plan --topology \"pack:1 core:16 pu:2\" web.policy
                                        the same on a machine you do not have
  cotenant fmt /etc/cotenant            lay out every policy of a directory
  cotenant enforce web.policy           keep it true, until ^C puts everything back
  cotenant exec batch -- make           start a command in a class
  cotenant status                       what is enforced now, and what the kernel says of it
  cotenant why 4242                     the clause that placed a process, and what became of it
  cotenant reload                       read the policy again, and wait for what comes of it
  cotenant explain unknown-word         what a finding means, and what to do about it
  cotenant convert /etc/cgrules.conf    a policy made of the rules you have
  cotenant probe                        what a busy neighbour costs on this machine

Exit codes:
  0  done
  1  the policy was refused: it has errors, or what --deny or --check asks about
  2  wrong usage, a file that cannot be read or written, or a host where nothing can be enforced
  3  done in part; what was not done is said";

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Lint(lint::Options),
    Fmt(fmt::Options),
    Plan(plan::Options),
    Apply(apply::Options),
    Enforce(enforce::Options),
    Exec(exec::Options),
    Reload(reload::Options),
    Release(release::Options),
    Status(status::Options),
    Why(why::Options),
    Explain(explain::Options),
    Convert(convert::Options),
    Topology(topology::Options),
    Probe(probe::Options),
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self {
            Command::Lint(options) => lint::run(&options),
            Command::Fmt(options) => fmt::run(&options),
            Command::Plan(options) => plan::run(&options),
            Command::Apply(options) => apply::run(&options),
            Command::Enforce(options) => enforce::run(&options),
            Command::Exec(options) => exec::run(&options),
            Command::Reload(options) => reload::run(&options),
            Command::Release(options) => release::run(&options),
            Command::Status(options) => status::run(&options),
            Command::Why(options) => why::run(&options),
            Command::Explain(options) => explain::run(&options),
            Command::Convert(options) => convert::run(&options),
            Command::Topology(options) => topology::run(&options),
            Command::Probe(options) => probe::run(&options),
        }
    }
}

/// The policy a command is about.
#[derive(Debug, Args)]
pub(crate) struct PolicyPaths {
    /// Policy files, or directories whose `*.policy` files are read in order of their names; `-` is standard input.
    ///
    /// Several paths make one policy, in the order given: the first class that matches a process wins.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// The machine a command is about.
#[derive(Debug, Args)]
pub(crate) struct Machine {
    /// The machine: `live`, a file that `lstopo --of xml` wrote, or levels such as "pack:2 core:8 pu:2" [default: live]
    ///
    /// Levels are hwloc's synthetic notation, from the outside in: "pack:2 core:8 pu:2" is two packages of eight cores of
    /// two threads.
    #[arg(long = "topology", value_name = "T")]
    pub(crate) named: Option<TopologySource>,
}

impl Machine {
    /// The one that is named, or else this one.
    pub(crate) fn source(&self) -> &TopologySource {
        self.named.as_ref().unwrap_or(&TopologySource::Live)
    }
}

/// The two ways a result can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// For people.
    Table,
    /// For programs: one document, with `schema_version`.
    Json,
}
