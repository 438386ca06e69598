//! Copies libhwloc's objects into our own records.
//!
//! Objects of one type never overlap, so the lowest CPU of an object's complete set is its name among them. That also
//! holds for last-level caches of different levels: a level 2 cache is only the last where no level 3 is above it.

use hwloc2::{Bitmap, ObjectType, TopologyObject};

use super::CpuPlace;
use super::kinds::Kinds;
use crate::CpuId;

/// Key of the package that CPUs outside any package share; above every CPU number.
const NO_PACKAGE: u32 = u32::MAX;

/// Where each CPU of the machine sits: those online in hwloc's logical order, then those offline.
pub(super) fn places(machine: &hwloc2::Topology, kinds: &Kinds) -> Vec<CpuPlace> {
    let mut nodes = Nodes::default();
    let pus = machine.objects_with_type(&ObjectType::PU).unwrap_or_default();
    let online = pus.into_iter().map(|pu| place(CpuId(pu.os_index()), true, pu, kinds, &mut nodes));
    let mut places: Vec<CpuPlace> = online.collect();
    let root = machine.object_at_root();
    for number in offline(root) {
        places.push(place(CpuId(number), false, innermost(root, number), kinds, &mut nodes));
    }
    places
}

/// The place of a CPU, told from the innermost object it belongs to.
fn place(cpu: CpuId, online: bool, inside: &TopologyObject, kinds: &Kinds, nodes: &mut Nodes) -> CpuPlace {
    let around = || std::iter::successors(Some(inside), |object| object.parent());
    let name_of = |wanted: fn(&TopologyObject) -> bool| around().find(|object| wanted(object)).and_then(name);
    let last = around().filter_map(|object| Some((cache_level(object)?, object))).max_by_key(|(level, _)| *level);
    CpuPlace {
        cpu,
        online,
        // A CPU that hwloc knows no core of is one by itself.
        core: name_of(|object| matches!(object.object_type(), ObjectType::Core)).unwrap_or(cpu.0),
        llc: last.and_then(|(_, cache)| name(cache)),
        node: nodes.number(inside.nodeset()),
        package: name_of(|object| matches!(object.object_type(), ObjectType::Package)).unwrap_or(NO_PACKAGE),
        kind: kinds.of(cpu),
    }
}

/// The lowest CPU of an object, switched on or off.
fn name(object: &TopologyObject) -> Option<u32> {
    object.complete_cpuset()?.first().try_into().ok()
}

/// The level of a data or unified cache.
fn cache_level(object: &TopologyObject) -> Option<u32> {
    match object.object_type() {
        ObjectType::L1Cache => Some(1),
        ObjectType::L2Cache => Some(2),
        ObjectType::L3Cache => Some(3),
        ObjectType::L4Cache => Some(4),
        ObjectType::L5Cache => Some(5),
        _ => None,
    }
}

/// CPUs that the machine has and that are no object of it, lowest first.
fn offline(root: &TopologyObject) -> Vec<u32> {
    let online = root.cpuset();
    let missing = |cpu: &u32| online.as_ref().is_none_or(|online| !online.is_set(*cpu));
    numbers(root.complete_cpuset()).into_iter().filter(missing).collect()
}

/// The smallest object around a CPU that has no object itself.
fn innermost(root: &TopologyObject, cpu: u32) -> &TopologyObject {
    let holds = |object: &&TopologyObject| object.complete_cpuset().is_some_and(|all| all.is_set(cpu));
    let inward = std::iter::successors(Some(root), |object| object.children().into_iter().find(holds));
    inward.last().unwrap_or(root)
}

/// Members of a set. hwloc says "all there may ever be" with an infinite set, which names nobody.
fn numbers(set: Option<Bitmap>) -> Vec<u32> {
    set.filter(|set| set.weight() >= 0).map(|set| set.into_iter().collect()).unwrap_or_default()
}

/// NUMA nodes. A CPU may be local to several memories (fast and large ones side by side); the CPUs with the same
/// memories are what a policy calls a node.
#[derive(Default)]
struct Nodes {
    seen: Vec<Vec<u32>>,
}

impl Nodes {
    fn number(&mut self, memories: Option<Bitmap>) -> u32 {
        let memories = numbers(memories);
        let at = self.seen.iter().position(|seen| *seen == memories).unwrap_or_else(|| {
            self.seen.push(memories);
            self.seen.len() - 1
        });
        at as u32
    }
}
