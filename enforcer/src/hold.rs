//! `hold equal prio`: which CPU each thread of a class stays on.
//!
//! The kernel never pushes a thread that may run on one CPU only. So every thread is given one, chosen so that no CPU of
//! the class has two threads more than another, and keeps it until that rule or the class's CPUs change.

use std::collections::HashMap;
use std::hash::Hash;

use cotenant_compiler::{CpuId, CpuSet};

/// The CPU of each thread `T`: kept from `before` where that is possible, new threads on the emptiest CPU, and then as
/// few moves as even out the rest. Ties go to the lower CPU and the earlier thread. `cpus` must not be empty.
#[must_use]
pub fn choose<T: Copy + Eq + Hash>(threads: &[T], before: &HashMap<T, CpuId>, cpus: &CpuSet) -> HashMap<T, CpuId> {
    let mut on: Vec<(CpuId, Vec<T>)> = cpus.iter().map(|cpu| (cpu, Vec::new())).collect();
    let mut homeless = Vec::new();
    for thread in threads {
        let kept = before.get(thread).and_then(|cpu| on.iter_mut().find(|(at, _)| at == cpu));
        match kept {
            Some((_, here)) => here.push(*thread),
            None => homeless.push(*thread),
        }
    }
    for thread in homeless {
        if let Some((_, emptiest)) = on.iter_mut().min_by_key(|(cpu, here)| (here.len(), *cpu)) {
            emptiest.push(thread);
        }
    }
    loop {
        let fewest = on.iter().map(|(_, here)| here.len()).min().unwrap_or(0);
        let Some((_, fullest)) = on.iter_mut().max_by_key(|(cpu, here)| (here.len(), std::cmp::Reverse(*cpu))) else {
            break;
        };
        if fullest.len() < fewest + 2 {
            break;
        }
        let Some(thread) = fullest.pop() else { break };
        if let Some((_, emptiest)) = on.iter_mut().min_by_key(|(cpu, here)| (here.len(), *cpu)) {
            emptiest.push(thread);
        }
    }
    on.into_iter().flat_map(|(cpu, here)| here.into_iter().map(move |thread| (thread, cpu))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[test]
    fn threads_are_spread_and_stay() {
        let first = choose(&[1, 2, 3, 4, 5], &HashMap::new(), &set("0-3"));
        let on = |cpu: u32| first.values().filter(|at| at.0 == cpu).count();
        assert_eq!([on(0), on(1), on(2), on(3)], [2, 1, 1, 1]);
        assert_eq!(choose(&[1, 2, 3, 4, 5], &first, &set("0-3")), first);
        let more = choose(&[1, 2, 3, 4, 5, 6], &first, &set("0-3"));
        assert!(first.iter().all(|(thread, cpu)| more[thread] == *cpu));
    }

    #[test]
    fn only_what_must_move_moves() {
        let before: HashMap<i32, CpuId> = [(1, CpuId(0)), (2, CpuId(0)), (3, CpuId(0)), (4, CpuId(9))].into();
        let now = choose(&[1, 2, 3, 4], &before, &set("0-1"));
        assert_eq!(now[&4], CpuId(1), "its CPU is gone");
        assert_eq!([1, 2, 3].iter().filter(|thread| now[thread] == CpuId(0)).count(), 2, "one of three evens it out");
    }
}
