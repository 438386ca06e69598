//! What `bpf/sensor.bpf.c` shares, field by field. Both sides write while the other reads, so every field is an atomic.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// CPUs that the program can tell apart.
pub(crate) const CPUS: usize = 1024;
/// 64-bit words of a mask of them.
pub(crate) const WORDS: usize = CPUS / 64;
/// Threads of a core.
pub(crate) const THREADS: usize = 8;
/// Groups of threads, of which 0 is for those in none.
pub(crate) const GROUPS: usize = 256;
/// The core of a CPU that is not watched.
pub(crate) const NOWHERE: u16 = 0xffff;
/// Children with a mask of a move that are remembered until they are seen to.
pub(crate) const HEIRS: usize = 64;
/// Entries of the roll in one value of its map.
pub(crate) const LINE: usize = 64;

/// What a CPU runs is told in bits; none for what does not count: nothing, the kernel's own threads, the daemon.
pub(crate) mod runs {
    /// Somebody for whom gated classes make room.
    pub(crate) const COUNTS: u8 = 1;
    /// And who wants a core alone.
    pub(crate) const SPREADS: u8 = 2;
    /// Somebody who makes room.
    pub(crate) const GATED: u8 = 4;
}

/// What is known of the mask that a thread set itself; 0 is nothing.
pub(crate) mod asked {
    /// It is told.
    pub(crate) const OWN: u32 = 1;
    /// It set none.
    pub(crate) const NOTHING: u32 = 2;
}

#[repr(C)]
pub(crate) struct Cpu {
    /// Set before the program is attached.
    pub(crate) core: AtomicU16,
    /// Which thread of its core, set before the program is attached.
    pub(crate) thread: AtomicU8,
    /// [`runs`].
    pub(crate) runs: AtomicU8,
    /// Odd while what follows is written: the last thread that spreads and ran here.
    pub(crate) turns: AtomicU32,
    pub(crate) tid: AtomicU32,
    /// [`asked`].
    pub(crate) asked_is: AtomicU32,
    /// When it began to run, in nanoseconds of its run queue's clock.
    pub(crate) since: AtomicU64,
    /// When it was started, in nanoseconds since boot.
    pub(crate) born: AtomicU64,
    /// How often the CPU switched.
    pub(crate) switches: AtomicU64,
    /// Its process.
    pub(crate) process: AtomicU32,
    pad: [u32; 5],
    /// Its effective mask.
    pub(crate) allowed: [AtomicU64; WORDS],
    /// The mask that it set itself.
    pub(crate) asked: [AtomicU64; WORDS],
    /// Its effective mask within its zone.
    pub(crate) fits: [AtomicU64; WORDS],
}

#[repr(C)]
pub(crate) struct Core {
    /// [`runs`] of each of its threads, a byte each, the first lowest.
    pub(crate) word: AtomicU64,
    /// 1 mutes the core for a millisecond from its next switch on.
    pub(crate) muted: AtomicU64,
    /// Whether anything that counts ran since this was cleared.
    pub(crate) used: AtomicU32,
    pub(crate) threads: AtomicU16,
    pub(crate) cpus: [AtomicU16; THREADS],
    pad: [u16; 13],
}

#[repr(C)]
pub(crate) struct Shared {
    /// Words in use of each mask.
    pub(crate) words: AtomicU32,
    /// The daemon's process.
    pub(crate) own: AtomicU32,
    /// Set when the bell rings, cleared by whoever has answered.
    pub(crate) pending: AtomicU32,
    pub(crate) gate_pending: AtomicU32,
    pub(crate) rings: AtomicU64,
    pub(crate) gate_rings: AtomicU64,
    /// Bells and children that found no room.
    pub(crate) lost: AtomicU64,
    /// Switches to threads whose id is beyond the roll.
    pub(crate) unknown: AtomicU64,
    /// The thread that was moved last.
    pub(crate) moved: AtomicU32,
    /// Whether its mask is not its own at this moment.
    pub(crate) moving: AtomicU32,
    /// Its masks meanwhile: the effective one, and what it is given back.
    pub(crate) kept_allowed: [AtomicU64; WORDS],
    pub(crate) kept_asked: [AtomicU64; WORDS],
    /// How many children may have got such a mask so far: as they are given a place, and when they are in it.
    pub(crate) heirs: AtomicU32,
    pub(crate) heirs_told: AtomicU32,
    /// Each with its maker in the upper half; taken out by whoever sees to it.
    pub(crate) heir: [AtomicU64; HEIRS],
    /// What the last question found: [`asked`].
    pub(crate) asked_is: AtomicU32,
    pub(crate) asked: [AtomicU64; WORDS],
    /// CPUs of free cores.
    pub(crate) free: [AtomicU64; WORDS],
    /// CPUs found offline; the program clears what runs again.
    pub(crate) offline: [AtomicU64; WORDS],
    /// Cores on which a thread that spreads is not alone.
    pub(crate) crowded: [AtomicU64; WORDS],
    /// [`runs`] of the threads of each group.
    pub(crate) kinds: [AtomicU8; GROUPS],
    pub(crate) zones: [[AtomicU64; WORDS]; GROUPS],
    pub(crate) cores: [Core; CPUS],
    pub(crate) cpus: [Cpu; CPUS],
}
