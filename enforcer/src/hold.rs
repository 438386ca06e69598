//! `hold equal prio`: which CPU each thread of a class stays on.
//!
//! The kernel never pushes a thread that may run on one CPU only. So every thread is given one, and keeps it until the class's
//! CPUs change or they are out of balance.
//!
//! # Terms
//! * *weight* of a thread: its share of a CPU since the last look, running or waiting, in thousandths, and [`PRESENCE`] for
//!   being there at all. So threads of which nothing is known, or that sleep, are spread by number.
//! * *out of balance* by some amount: a thread could be moved from one CPU to another and leave the fuller of the two less
//!   full by more than that.
//!
//! A thread that comes or goes is a reason to even out what is out of balance at all, by more than what presence weighs; time
//! passing is one only where it is out of balance by [`UNBALANCED`], because each move costs a cold cache, and the load of
//! the next second is not that of the last.

use std::collections::BTreeMap;

use cotenant_compiler::{CpuId, CpuSet};

/// What a thread weighs that does nothing, in thousandths of a CPU.
pub const PRESENCE: u64 = 10;

/// How much the fuller of two CPUs must gain by a move that only the load asks for, in thousandths of a CPU.
pub const UNBALANCED: u64 = 200;

/// A thread and its share of a CPU, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held<T> {
    /// Which thread.
    pub thread: T,
    /// Running or waiting, since the last look; 0 where nothing is known.
    pub load: u64,
}

/// Threads of one CPU.
struct Seat<T> {
    cpu: CpuId,
    weight: u64,
    threads: Vec<Held<T>>,
}

/// The CPU of each thread `T`: kept from `before` where that is possible, new threads on the emptiest CPU, and then as
/// few moves as are worth more than `margin` thousandths of a CPU each. Ties go to the lower CPU and the later thread.
/// `cpus` must not be empty.
#[must_use]
pub fn choose<T: Copy + Ord>(
    threads: &[Held<T>],
    before: &BTreeMap<T, CpuId>,
    cpus: &CpuSet,
    margin: u64,
) -> BTreeMap<T, CpuId> {
    let mut seats: Vec<Seat<T>> = cpus.iter().map(|cpu| Seat { cpu, weight: 0, threads: Vec::new() }).collect();
    let mut homeless = Vec::new();
    for held in threads {
        let kept = before.get(&held.thread).and_then(|cpu| seats.iter_mut().find(|seat| seat.cpu == *cpu));
        match kept {
            Some(seat) => seat.take(*held),
            None => homeless.push(*held),
        }
    }
    // The heaviest first, so that the light ones even out what these leave.
    homeless.sort_by_key(|held| std::cmp::Reverse(held.load));
    for held in homeless {
        if let Some(emptiest) = seats.iter_mut().min_by_key(|seat| (seat.weight, seat.cpu)) {
            emptiest.take(held);
        }
    }
    // Each move lowers the sum of squares of the weights, so it ends; the bound is for a reader's peace of mind.
    for _ in 0..threads.len() {
        if !even_out(&mut seats, margin) {
            break;
        }
    }
    seats.into_iter().flat_map(|seat| seat.threads.into_iter().map(move |held| (held.thread, seat.cpu))).collect()
}

/// Makes the one move from the fullest CPU to the emptiest that gains most, if any gains more than `margin`.
fn even_out<T: Copy>(seats: &mut [Seat<T>], margin: u64) -> bool {
    let fullest = (0..seats.len()).max_by_key(|at| seats.get(*at).map(|seat| (seat.weight, std::cmp::Reverse(*at))));
    let emptiest = (0..seats.len()).min_by_key(|at| seats.get(*at).map(|seat| (seat.weight, *at)));
    let (Some(from), Some(to)) = (fullest, emptiest) else { return false };
    let [Some(full), Some(empty)] = [from, to].map(|at| seats.get(at).map(|seat| seat.weight)) else { return false };
    let gain = |held: &Held<T>| full.saturating_sub((empty + weight(held)).max(full - weight(held)));
    let Some(seat) = seats.get_mut(from) else { return false };
    let best = seat.threads.iter().enumerate().max_by_key(|(_, held)| gain(held)).map(|(at, held)| (at, gain(held)));
    match best {
        Some((at, gain)) if gain > 0 && gain >= margin => {
            let held = seat.threads.remove(at);
            seat.weight -= weight(&held);
            if let Some(seat) = seats.get_mut(to) {
                seat.take(held);
            }
            true
        }
        _ => false,
    }
}

impl<T> Seat<T> {
    fn take(&mut self, held: Held<T>) {
        self.weight += weight(&held);
        self.threads.push(held);
    }
}

fn weight<T>(held: &Held<T>) -> u64 {
    held.load + PRESENCE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    fn idle(threads: &[u32]) -> Vec<Held<u32>> {
        threads.iter().map(|thread| Held { thread: *thread, load: 0 }).collect()
    }

    fn loaded(loads: &[u64]) -> Vec<Held<u32>> {
        loads.iter().zip(0..).map(|(load, thread)| Held { thread, load: *load }).collect()
    }

    fn on(pins: &BTreeMap<u32, CpuId>, cpu: u32) -> usize {
        pins.values().filter(|at| at.0 == cpu).count()
    }

    #[test]
    fn threads_are_spread_and_stay() {
        let first = choose(&idle(&[1, 2, 3, 4, 5]), &BTreeMap::new(), &set("0-3"), PRESENCE);
        assert_eq!([on(&first, 0), on(&first, 1), on(&first, 2), on(&first, 3)], [2, 1, 1, 1]);
        assert_eq!(choose(&idle(&[1, 2, 3, 4, 5]), &first, &set("0-3"), PRESENCE), first);
        let more = choose(&idle(&[1, 2, 3, 4, 5, 6]), &first, &set("0-3"), PRESENCE);
        assert!(first.iter().all(|(thread, cpu)| more[thread] == *cpu));
    }

    #[test]
    fn only_what_must_move_moves() {
        let before: BTreeMap<u32, CpuId> = [(1, CpuId(0)), (2, CpuId(0)), (3, CpuId(0)), (4, CpuId(9))].into();
        let now = choose(&idle(&[1, 2, 3, 4]), &before, &set("0-1"), PRESENCE);
        assert_eq!(now[&4], CpuId(1), "its CPU is gone");
        assert_eq!([1, 2, 3].iter().filter(|thread| now[thread] == CpuId(0)).count(), 2, "one of three evens it out");
    }

    #[test]
    fn a_busy_thread_is_not_given_company_because_it_is_alone() {
        let before: BTreeMap<u32, CpuId> = [(0, CpuId(0)), (1, CpuId(1)), (2, CpuId(1)), (3, CpuId(1))].into();
        let threads = loaded(&[900, 20, 20, 20]);
        assert_eq!(choose(&threads, &before, &set("0-1"), PRESENCE), before);
    }

    #[test]
    fn two_busy_threads_part_and_small_differences_do_not_count() {
        let before: BTreeMap<u32, CpuId> = [(0, CpuId(0)), (1, CpuId(0)), (2, CpuId(1))].into();
        let now = choose(&loaded(&[500, 450, 30]), &before, &set("0-1"), UNBALANCED);
        assert_eq!((now[&0] == now[&1], now[&2]), (false, CpuId(1)));
        let close = loaded(&[300, 150, 250]);
        assert_eq!(choose(&close, &before, &set("0-1"), UNBALANCED), before, "150 of a thousand are not worth a move");
    }

    proptest! {
        #[test]
        fn a_choice_is_final_and_nothing_is_left_to_gain(
            loads in proptest::collection::vec(0_u64..=1000, 1..40),
            seats in 1_u32..16,
            before in proptest::collection::btree_map(0_u32..40, (0_u32..16).prop_map(CpuId), 0..40),
            margin in prop_oneof![Just(PRESENCE), Just(UNBALANCED)],
        ) {
            let (threads, cpus) = (loaded(&loads), (0..seats).map(CpuId).collect::<CpuSet>());
            let pins = choose(&threads, &before, &cpus, margin);
            prop_assert_eq!(pins.len(), threads.len());
            prop_assert!(pins.values().all(|cpu| cpus.contains(*cpu)));
            prop_assert_eq!(&choose(&threads, &pins, &cpus, margin), &pins, "the same question has the same answer");
            let weigh = |cpu: u32| -> u64 {
                threads.iter().filter(|held| pins[&held.thread].0 == cpu).map(weight).sum()
            };
            let (full, empty) = ((0..seats).map(weigh).max().unwrap(), (0..seats).map(weigh).min().unwrap());
            for held in threads.iter().filter(|held| weigh(pins[&held.thread].0) == full && seats > 1) {
                let after = (empty + weight(held)).max(full - weight(held));
                // Of several that are equally full, the first was looked at.
                let first = (0..seats).find(|cpu| weigh(*cpu) == full).unwrap();
                prop_assert!(pins[&held.thread].0 != first || after + margin > full || after >= full);
            }
        }
    }
}
