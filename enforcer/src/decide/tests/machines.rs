//! Machines to decide for.

use cotenant_compiler::topology::{CoreKind, CpuPlace};

use super::*;

/// One core: which kind, how many threads, and below which cache of which node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Core {
    pub(super) kind: CoreKind,
    pub(super) threads: u32,
    pub(super) llc: Option<u32>,
    pub(super) node: u32,
}

/// The cores side by side, siblings numbered one after another. `offline` are switched off.
pub(super) fn machine(cores: &[Core], offline: &CpuSet) -> Topology {
    let mut places = Vec::new();
    for (key, core) in (0..).zip(cores) {
        for _ in 0..core.threads {
            let cpu = CpuId(places.len() as u32);
            let Core { kind, llc, node, .. } = *core;
            places.push(CpuPlace { cpu, online: !offline.contains(cpu), core: key, llc, node, package: 0, kind });
        }
    }
    Topology::new(&places)
}

/// `count` cores of `threads` threads; `apart` cores to a cache and to a node.
pub(super) fn even(count: u32, threads: u32, apart: u32) -> Vec<Core> {
    let core = |at: u32| Core { kind: CoreKind::Performance, threads, llc: Some(at / apart), node: at / apart };
    (0..count).map(core).collect()
}

pub(super) fn plain(cores: u32, threads: u32) -> Topology {
    machine(&even(cores, threads, cores), &CpuSet::new())
}

/// The four on which every situation is tried.
pub(super) fn small() -> [(&'static str, Topology); 4] {
    let efficient = Core { kind: CoreKind::Efficiency, threads: 1, llc: Some(1), node: 1 };
    let hybrid = [even(2, 2, 2), vec![efficient; 2]].concat();
    [
        ("2 cores of 2", machine(&even(2, 2, 1), &CpuSet::new())),
        ("1 core of 4", plain(1, 4)),
        ("4 cores of 2, CPU 3 offline", machine(&even(4, 2, 2), &set("3"))),
        ("2 performance cores of 2, 2 efficiency cores of 1", machine(&hybrid, &CpuSet::new())),
    ]
}
