//! The machine as a tree of named parts.

use cotenant_compiler::topology::{Core, Topology};

/// A package, a NUMA node, a last-level cache, or several of these where they hold the same cores.
pub(super) struct Part {
    pub(super) label: String,
    pub(super) inside: Inside,
}

pub(super) enum Inside {
    Parts(Vec<Part>),
    /// Logical numbers.
    Cores(Vec<usize>),
}

type Level = (&'static str, fn(&Core) -> Option<usize>);

/// From the outside in.
const LEVELS: &[Level] =
    &[("package", |core| Some(core.package)), ("node", |core| Some(core.node)), ("llc", |core| core.llc)];

/// Everything the machine has, as policies name it.
pub(super) fn machine(topology: &Topology) -> Inside {
    divide((0..topology.cores().len()).collect(), LEVELS, topology)
}

fn divide(cores: Vec<usize>, levels: &[Level], topology: &Topology) -> Inside {
    let Some(((name, number), deeper)) = levels.split_first() else { return Inside::Cores(cores) };
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for core in &cores {
        let key = topology.cores().get(*core).and_then(number);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(*core),
            None => groups.push((key, vec![*core])),
        }
    }
    // A cache of each core's own says nothing about who is whose neighbour.
    if groups.len() > 1 && groups.iter().all(|(_, group)| group.len() == 1) {
        return divide(cores, deeper, topology);
    }
    let part = |(key, group): (Option<usize>, Vec<usize>)| {
        let label = key.map_or_else(String::new, |key| format!("{name} {key}"));
        merged(label, divide(group, deeper, topology))
    };
    Inside::Parts(groups.into_iter().map(part).collect())
}

/// A part that holds a single one is drawn as one box with both names.
fn merged(label: String, inside: Inside) -> Part {
    match inside {
        Inside::Parts(mut parts) if parts.len() == 1 => match parts.pop() {
            Some(only) => {
                let names = [label, only.label];
                let names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
                Part { label: names.join(" · "), inside: only.inside }
            }
            None => Part { label, inside: Inside::Parts(parts) },
        },
        inside => Part { label, inside },
    }
}
