//! A machine as a document for programs.

use cotenant_compiler::topology::{Core, CoreKind, Topology, summary};
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::cpus::Cpus;

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    #[serde(flatten)]
    machine: Machine,
}

/// A machine; a part's logical number is its position in its list.
#[derive(Serialize)]
pub(super) struct Machine {
    summary: String,
    smt: bool,
    online: Cpus,
    offline: Cpus,
    cores: Vec<CoreEntry>,
    llcs: Vec<Cpus>,
    nodes: Vec<Cpus>,
    packages: Vec<Cpus>,
}

#[derive(Serialize)]
struct CoreEntry {
    core: usize,
    /// The first online thread.
    front: Option<u32>,
    /// The other online threads.
    siblings: Vec<u32>,
    kind: &'static str,
    /// Null where the machine reports no caches.
    llc: Option<usize>,
    node: usize,
    package: usize,
}

/// The machine as one JSON document.
pub(crate) fn topology_json(topology: &Topology) -> String {
    let document = Document { schema_version: SCHEMA_VERSION, machine: topology.into() };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

impl From<&Topology> for Machine {
    fn from(topology: &Topology) -> Machine {
        let sets = |list: &[cotenant_compiler::CpuSet]| list.iter().map(Cpus::from).collect();
        Machine {
            summary: summary(topology),
            smt: topology.has_smt(),
            online: topology.online().into(),
            offline: topology.offline().into(),
            cores: topology.cores().iter().enumerate().map(entry).collect(),
            llcs: sets(topology.llcs()),
            nodes: sets(topology.nodes()),
            packages: sets(topology.packages()),
        }
    }
}

fn entry((number, core): (usize, &Core)) -> CoreEntry {
    let mut threads = core.threads.iter().map(|cpu| cpu.0);
    CoreEntry {
        core: number,
        front: threads.next(),
        siblings: threads.collect(),
        kind: kind(core.kind),
        llc: core.llc,
        node: core.node,
        package: core.package,
    }
}

/// The word a policy uses for a kind of core.
pub(super) fn kind(kind: CoreKind) -> &'static str {
    match kind {
        CoreKind::Performance => "performance",
        CoreKind::Efficiency => "efficiency",
    }
}
