//! Eyes in the kernel: a BPF program that knows who runs where, and rings when a clause is being broken.
//!
//! The seam for the rest of the crate is [`Sensor`]. Behind it: `live` loads the program, tells it the machine, the zones
//! and who belongs where, and listens; `view` reads what the program shares; `spread` decides which thread goes where;
//! `mover` is the thread that does it. In a build without the cargo feature `sensor` there is nothing behind it, and nobody
//! ever holds one.
//!
//! # What is promised
//! * For a class with `prefer idle core`: a thread that shares a core while another core of its zone is free is moved there,
//!   some tens of microseconds after the kernel switched to that state.
//! * For a class with `only when core idle`: a core that it shares with anybody for whom it makes room is named by
//!   [`Sensor::invaded`] that fast.
//!
//! What the program does not see is counted and shown in [`Sight`]: nothing goes missing without a word.

#[cfg(feature = "sensor")]
mod live;
#[cfg(feature = "sensor")]
mod mover;
#[cfg(feature = "sensor")]
mod spread;
#[cfg(feature = "sensor")]
mod view;
#[cfg(not(feature = "sensor"))]
mod without;

#[cfg(feature = "sensor")]
pub use live::Sensor;
#[cfg(feature = "sensor")]
pub(crate) use spread::Asked;
#[cfg(not(feature = "sensor"))]
pub use without::Sensor;

/// What a sensor saw and did since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sight {
    /// Switches seen, on all CPUs together.
    pub switches: u64,
    /// Times the bell rang for threads that want a core alone.
    pub rings: u64,
    /// Times it rang for gated classes.
    pub gate_rings: u64,
    /// Threads moved to a free core.
    pub moves: u64,
    /// Moves that were not made, because the kernel refused them or the thread set another mask meanwhile.
    pub unmade: u64,
    /// Bells that were not heard: answered by the next one.
    pub lost: u64,
    /// Switches to threads with ids above what `kernel.pid_max` was at the start: they count as in no class.
    pub unknown: u64,
}
