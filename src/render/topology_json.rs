//! A machine as a document for programs, and back again: a daemon hands out the one it enforces for.

use cotenant_compiler::topology::{Core, CoreKind, CpuPlace, Topology, summary};
use cotenant_compiler::{CpuId, CpuSet};
use serde::{Deserialize, Serialize};

use super::SCHEMA_VERSION;
use super::cpus::Cpus;

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    #[serde(flatten)]
    machine: Machine,
}

/// A machine; a part's logical number is its position in its list.
#[derive(Serialize, Deserialize)]
pub(crate) struct Machine {
    summary: String,
    smt: bool,
    online: Cpus,
    offline: Cpus,
    cores: Vec<CoreEntry>,
    llcs: Vec<Cpus>,
    nodes: Vec<Cpus>,
    packages: Vec<Cpus>,
}

#[derive(Serialize, Deserialize)]
struct CoreEntry {
    core: usize,
    /// The first online thread.
    front: Option<u32>,
    /// The other online threads.
    siblings: Vec<u32>,
    kind: String,
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
        let sets = |list: &[CpuSet]| list.iter().map(Cpus::from).collect();
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

impl TryFrom<&Machine> for Topology {
    type Error = String;

    /// The machine that the document describes, or what in it makes no sense.
    fn try_from(machine: &Machine) -> Result<Topology, String> {
        let (online, offline) = (machine.online.set()?, machine.offline.set()?);
        let mut places = Vec::new();
        for core in &machine.cores {
            for cpu in core.threads() {
                if !online.contains(cpu) {
                    return Err(format!("CPU {cpu} of core {} is not online", core.core));
                }
                places.push(core.place(cpu)?);
            }
        }
        if places.is_empty() || places.len() != online.len() {
            return Err(format!("the cores have {} CPUs, and {} are online", places.len(), online.len()));
        }
        // What is offline takes part in no group.
        let nowhere = CpuPlace {
            cpu: CpuId(0),
            online: false,
            core: 0,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        };
        places.extend(offline.iter().map(|cpu| CpuPlace { cpu, ..nowhere }));
        Ok(Topology::new(&places))
    }
}

impl CoreEntry {
    fn threads(&self) -> impl Iterator<Item = CpuId> {
        self.front.iter().chain(&self.siblings).map(|cpu| CpuId(*cpu))
    }

    fn place(&self, cpu: CpuId) -> Result<CpuPlace, String> {
        let number = |of: usize| u32::try_from(of).map_err(|_| format!("{of} is too large a number"));
        let kinds = [CoreKind::Performance, CoreKind::Efficiency];
        let known = kinds.into_iter().find(|it| kind(*it) == self.kind);
        Ok(CpuPlace {
            cpu,
            online: true,
            core: number(self.core)?,
            llc: self.llc.map(number).transpose()?,
            node: number(self.node)?,
            package: number(self.package)?,
            kind: known.ok_or_else(|| format!("`{}` is no kind of core", self.kind))?,
        })
    }
}

fn entry((number, core): (usize, &Core)) -> CoreEntry {
    let mut threads = core.threads.iter().map(|cpu| cpu.0);
    CoreEntry {
        core: number,
        front: threads.next(),
        siblings: threads.collect(),
        kind: kind(core.kind).to_owned(),
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

#[cfg(test)]
mod tests {
    use cotenant_compiler::topology::TopologySource;

    use super::*;

    #[test]
    fn a_machine_comes_back_as_it_was() {
        let machines = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
        let files = std::fs::read_dir(machines).unwrap().map(|entry| TopologySource::Xml(entry.unwrap().path()));
        let synthetic = TopologySource::Synthetic("pack:2 core:3 pu:2(indexes=0,6,1,7,2,8,3,9,4,10,5,11)".to_owned());
        for source in files.chain([TopologySource::Live, synthetic]) {
            let machine = Topology::load(&source).unwrap();
            let document = serde_json::to_string(&Machine::from(&machine)).unwrap();
            let back: Machine = serde_json::from_str(&document).unwrap();
            assert_eq!(Topology::try_from(&back), Ok(machine), "{source}");
        }
    }

    #[test]
    fn what_is_no_machine_is_refused() {
        let refused = |change: fn(&mut Machine)| {
            let live = Topology::load(&TopologySource::Synthetic("core:2 pu:2".to_owned())).unwrap();
            let mut machine = Machine::from(&live);
            change(&mut machine);
            Topology::try_from(&machine).unwrap_err()
        };
        assert_eq!(refused(|it| it.cores[1].siblings = vec![70_000]), "CPU 70000 of core 1 is not online");
        assert_eq!(refused(|it| it.cores[1].siblings.clear()), "the cores have 3 CPUs, and 4 are online");
        assert_eq!(refused(|it| it.cores[0].kind = "slow".to_owned()), "`slow` is no kind of core");
        let none = refused(|it| (it.cores, it.online) = (Vec::new(), (&CpuSet::new()).into()));
        assert_eq!(none, "the cores have 0 CPUs, and 0 are online");
    }
}
