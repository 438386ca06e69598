//! `cotenant topology`.

use clap::Args;
use cotenant_compiler::topology::Topology;

use crate::cli::{Machine, ResultFormat};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::render;
use crate::terminal::{Look, print};

/// Show the machine as policies name it
///
/// One line a core, with its logical number, its front (the first thread that is online) and its siblings (the others);
/// then the sets of CPUs that a policy may name on this machine.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant topology                                  this machine
  cotenant topology --topology rack7.xml             one that `lstopo --of xml` described
  cotenant topology --topology \"pack:2 core:8 pu:2\"  one that does not exist
  cotenant topology --format json | jq '.cores[] | select(.node == 0) | .front'")]
pub(crate) struct Options {
    #[command(flatten)]
    machine: Machine,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = ResultFormat::Table)]
    format: ResultFormat,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let machine = Topology::load(options.machine.source())?;
    print(&match options.format {
        ResultFormat::Table => render::topology(&machine, Look::of_stdout()),
        ResultFormat::Json => render::topology_json(&machine),
    })?;
    Ok(Outcome::Done)
}
