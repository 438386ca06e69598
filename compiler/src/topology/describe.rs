//! A machine in one line.

use super::{CoreKind, Topology};

/// The machine in one line, `1 package, 1 node, 1 llc, 16 cores, 32 CPUs (2 threads a core)`, in the words that policies
/// use for its parts. Caches are left out where the machine reports none; what is offline comes last.
#[must_use]
pub fn summary(topology: &Topology) -> String {
    let mut parts = vec![counted(topology.packages().len(), "package"), counted(topology.nodes().len(), "node")];
    if !topology.llcs().is_empty() {
        parts.push(counted(topology.llcs().len(), "llc"));
    }
    let cores = topology.cores();
    let slow = cores.iter().filter(|core| core.kind == CoreKind::Efficiency).count();
    parts.push(match slow {
        0 => counted(cores.len(), "core"),
        _ => format!("{} ({} performance, {slow} efficiency)", counted(cores.len(), "core"), cores.len() - slow),
    });
    parts.push(format!("{} ({})", counted(topology.online().len(), "CPU"), threads_a_core(topology)));
    if !topology.offline().is_empty() {
        parts.push(format!("{} offline", topology.offline().len()));
    }
    parts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Every number of online threads that some core has: `1, 2 or 4 threads a core`.
fn threads_a_core(topology: &Topology) -> String {
    let mut counts: Vec<usize> = topology.cores().iter().map(|core| core.threads.len()).collect();
    counts.sort_unstable();
    counts.dedup();
    let most = counts.pop().unwrap_or(0);
    let fewer: Vec<String> = counts.iter().map(usize::to_string).collect();
    match fewer.is_empty() {
        true => format!("{} a core", counted(most, "thread")),
        false => format!("{} or {most} threads a core", fewer.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuId;
    use crate::topology::CpuPlace;

    /// Cores with these numbers of threads, on one package and without caches.
    fn machine(threads: &[u32]) -> Topology {
        let cores = (0..).zip(threads).flat_map(|(core, count)| std::iter::repeat_n(core, *count as usize));
        let place = |(cpu, core): (u32, u32)| CpuPlace {
            cpu: CpuId(cpu),
            online: true,
            core,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        };
        Topology::new(&(0..).zip(cores).map(place).collect::<Vec<_>>())
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(summary(&machine(&[1])), "1 package, 1 node, 1 core, 1 CPU (1 thread a core)");
        assert_eq!(summary(&machine(&[2, 2])), "1 package, 1 node, 2 cores, 4 CPUs (2 threads a core)");
        assert_eq!(summary(&machine(&[4, 1, 2])), "1 package, 1 node, 3 cores, 7 CPUs (1, 2 or 4 threads a core)");
    }
}
