//! Work of four kinds, in portions that take some tens of microseconds.

use std::hint::black_box;

/// What a thread is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Integers in registers.
    Compute,
    /// Floating point in registers.
    Float,
    /// One address after the other, each read from the last: nothing to do while memory answers.
    Chase,
    /// Memory from end to end, as fast as it comes.
    Walk,
}

impl Work {
    pub(crate) const ALL: [Work; 4] = [Work::Compute, Work::Float, Work::Chase, Work::Walk];

    /// As tables say it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Work::Compute => "compute",
            Work::Float => "float",
            Work::Chase => "chase",
            Work::Walk => "walk",
        }
    }
}

/// Steps of a portion in registers.
const STEPS: u32 = 20_000;

/// Elements that a chase goes through: 8 MB, beyond what a core has to itself.
const RING: usize = 1 << 21;

/// Steps of a portion of it.
const HOPS: u32 = 2_000;

/// Elements walked over: 32 MB, beyond most caches that cores share.
const FIELD: usize = 1 << 22;

/// Elements of a portion of it.
const STRETCH: usize = 1 << 14;

/// The means to do work, made once for a thread.
pub(super) enum Worker {
    Compute(u64),
    Float(f64),
    Chase { ring: Vec<u32>, at: u32 },
    Walk { field: Vec<u64>, at: usize },
}

impl Worker {
    pub(super) fn new(work: Work) -> Worker {
        match work {
            Work::Compute => Worker::Compute(1),
            Work::Float => Worker::Float(1.0),
            Work::Chase => Worker::Chase { ring: ring(RING), at: 0 },
            Work::Walk => Worker::Walk { field: vec![1; FIELD], at: 0 },
        }
    }

    /// Does one portion.
    pub(super) fn portion(&mut self) {
        match self {
            Worker::Compute(seed) => {
                // Four chains beside each other keep the core's units busy, as real programs do.
                let mut chains = [*seed, !*seed, *seed ^ 0x55, *seed ^ 0xaa];
                for _ in 0..STEPS {
                    for chain in &mut chains {
                        *chain = chain.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    }
                }
                *seed = black_box(chains).iter().fold(0, |sum, chain| sum ^ chain);
            }
            Worker::Float(seed) => {
                let mut chains = [*seed, *seed + 0.25, *seed + 0.5, *seed + 0.75];
                for _ in 0..STEPS {
                    for chain in &mut chains {
                        *chain = *chain * 0.999_999 + 1e-6;
                    }
                }
                *seed = black_box(chains).iter().sum::<f64>() / 4.0;
            }
            Worker::Chase { ring, at } => {
                for _ in 0..HOPS {
                    *at = ring.get(*at as usize).copied().unwrap_or(0);
                }
                black_box(at);
            }
            Worker::Walk { field, at } => {
                let end = (*at + STRETCH).min(field.len());
                field.get_mut(*at..end).into_iter().flatten().for_each(|element| *element = element.wrapping_add(3));
                *at = if end == field.len() { 0 } else { end };
                black_box(field.first());
            }
        }
    }
}

/// One cycle through all elements in no order that a prefetcher could guess: Sattolo's shuffle.
fn ring(length: usize) -> Vec<u32> {
    let mut ring: Vec<u32> = (0..u32::try_from(length).unwrap_or(u32::MAX)).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for at in (1..ring.len()).rev() {
        // xorshift64: any walk of that length will do.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        ring.swap(at, (random % at as u64) as usize);
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chase_goes_through_all_of_its_ring() {
        let ring = ring(1000);
        let hops = std::iter::successors(Some(0_u32), |at| Some(ring[*at as usize])).skip(1);
        assert_eq!(hops.take_while(|at| *at != 0).count(), 999);
    }

    #[test]
    fn portions_leave_every_worker_able_to_do_more() {
        for work in Work::ALL {
            let mut worker = Worker::new(work);
            (0..600).for_each(|_| worker.portion());
            match worker {
                Worker::Float(value) => assert!(value.is_finite() && value > 0.0),
                Worker::Walk { at, field } => assert!(at < field.len() && field[0] > 4, "it went round"),
                _ => {}
            }
        }
    }
}
