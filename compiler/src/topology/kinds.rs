//! Which cores are the fast ones. The hwloc crate does not say, so its XML and the kernel are asked.

use std::path::Path;

use roxmltree::{Document, Node};

use super::CoreKind;
use crate::{CpuId, CpuSet};

/// Which CPUs belong to the fastest kind of core; by default all, as on most machines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// `None` where the machine has one kind.
    fastest: Option<CpuSet>,
}

impl Kinds {
    /// The kind of a CPU.
    pub(super) fn of(&self, cpu: CpuId) -> CoreKind {
        match &self.fastest {
            Some(fastest) if !fastest.contains(cpu) => CoreKind::Efficiency,
            _ => CoreKind::Performance,
        }
    }

    /// Reads the `<cpukind>` elements of a file that hwloc wrote.
    pub(super) fn from_xml(file: &Document<'_>) -> Kinds {
        let elements = file.root_element().children().filter(|node| node.has_tag_name("cpukind"));
        Kinds::ranked(elements.filter_map(kind_of_element).collect())
    }

    /// Asks the kernel, through a sysfs mounted at `root`. What cannot be read is taken as not there, as it is on older
    /// kernels and on machines with one kind.
    pub(super) fn from_sysfs(root: &Path) -> Kinds {
        let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
        let list = |path: &str| read(path)?.parse::<CpuSet>().ok();
        // Intel's hybrids have one performance monitor a kind: cpu_core, cpu_atom, and lately cpu_lowpower.
        let slower = ["devices/cpu_atom/cpus", "devices/cpu_lowpower/cpus"].map(list).into_iter().flatten();
        if let (Some(fastest), true) = (list("devices/cpu_core/cpus"), slower.into_iter().any(|set| !set.is_empty())) {
            return Kinds { fastest: Some(fastest) };
        }
        // Arm, and others by device tree, tell what a CPU can do as a share of the best one's 1024.
        let online = list("devices/system/cpu/online").unwrap_or_default();
        let capacity = |cpu: CpuId| read(&format!("devices/system/cpu/cpu{cpu}/cpu_capacity"))?.trim().parse().ok();
        let known = online.iter().filter_map(|cpu| Some((cpu, capacity(cpu)?)));
        Kinds::ranked(known.map(|(cpu, capacity)| Kind { capacity: Some(capacity), ..Kind::of_one(cpu) }).collect())
    }

    /// Picks the fastest by the first measure that all kinds have.
    fn ranked(kinds: Vec<Kind>) -> Kinds {
        let measures: [(Measure, u64); 4] = [
            (|kind| kind.core_type, 0),
            (|kind| kind.forced, 0),
            (|kind| kind.capacity, TOLERANCE),
            (|kind| kind.frequency, TOLERANCE),
        ];
        let known = |(measure, _): &(Measure, u64)| kinds.iter().all(|kind| measure(kind).is_some());
        let Some((measure, tolerance)) = measures.into_iter().find(known) else {
            return Kinds::default();
        };
        let best = kinds.iter().filter_map(measure).max().unwrap_or(0);
        let is_fast = |kind: &Kind| measure(kind).is_some_and(|value| value >= best - best * tolerance / 100);
        let (fast, slow): (Vec<Kind>, Vec<Kind>) = kinds.into_iter().partition(is_fast);
        let fastest = fast.iter().fold(CpuSet::new(), |all, kind| all.union(&kind.cpus));
        Kinds { fastest: (!slow.is_empty()).then_some(fastest) }
    }
}

/// Something known of a kind that is greater where its cores are faster.
type Measure = fn(&Kind) -> Option<u64>;

/// Per cent by which cores of one kind may differ. Makers grade the cores of one chip and let the best run a little
/// faster; that makes no second kind. hwloc draws the line there too.
const TOLERANCE: u64 = 10;

/// CPUs of equal cores, and what is known of how fast they are: the more, the faster.
#[derive(Default)]
struct Kind {
    cpus: CpuSet,
    core_type: Option<u64>,
    forced: Option<u64>,
    capacity: Option<u64>,
    frequency: Option<u64>,
}

impl Kind {
    fn of_one(cpu: CpuId) -> Kind {
        Kind { cpus: [cpu].into_iter().collect(), ..Kind::default() }
    }
}

/// Reads `<cpukind cpuset="0x000f" forced_efficiency="1"><info name="CoreType" value="IntelCore"/>…`.
fn kind_of_element(element: Node<'_, '_>) -> Option<Kind> {
    let infos = || element.children().filter(|node| node.has_tag_name("info"));
    let info = |name: &str| infos().find(|node| node.attribute("name") == Some(name))?.attribute("value");
    let core_type = match info("CoreType") {
        Some("IntelCore") => Some(1),
        Some("IntelAtom") => Some(0),
        _ => None,
    };
    Some(Kind {
        cpus: cpus_of_mask(element.attribute("cpuset")?)?,
        core_type,
        forced: element.attribute("forced_efficiency").and_then(|value| value.parse().ok()),
        capacity: info("LinuxCapacity").and_then(|value| value.parse().ok()),
        frequency: info("FrequencyMaxMHz").and_then(|value| value.parse().ok()),
    })
}

/// Reads hwloc's mask format: 32-bit words, the highest first, `0x00000003,0xffff0000`; an empty word is zero.
fn cpus_of_mask(mask: &str) -> Option<CpuSet> {
    let word = |text: &str| match text {
        "" => Some(0),
        _ => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().filter(|word| *word <= u64::from(u32::MAX)),
    };
    let words: Vec<u64> = mask.rsplit(',').map(word).collect::<Option<_>>()?;
    let pairs = words.chunks(2).map(|pair| pair.iter().rev().fold(0, |all, word| all << 32 | word));
    Some(CpuSet::from_words(pairs))
}

#[cfg(test)]
mod tests;
