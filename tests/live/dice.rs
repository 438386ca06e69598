//! Chance that can be had again: the seed is printed, and `SEED` sets it.

use std::ops::Range;
use std::time::{Duration, SystemTime};

/// A source of numbers, xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled".
pub(crate) struct Dice(u64);

impl Dice {
    /// Seeded by `SEED`, else by the clock; said where a test that fails shows it.
    pub(crate) fn new() -> Dice {
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = std::env::var("SEED").map_or_else(|_| clock(), |seed| seed.parse().unwrap());
        println!("SEED={seed}");
        Dice(seed | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) % end
    }

    /// One of these.
    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    pub(crate) fn pause(&mut self, within: Range<Duration>) -> Duration {
        let micros = (within.end - within.start).as_micros() as u64;
        within.start + Duration::from_micros(self.below(micros))
    }
}
