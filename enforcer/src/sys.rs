//! System calls that no safe wrapper covers. The only module of this crate with unsafe code.
#![expect(unsafe_code, reason = "raw system calls; each block says why it is sound")]

pub mod affinity;
pub(crate) mod connector;
pub mod core_sched;
pub(crate) mod mapping;
pub mod sched;
pub mod secure;
#[cfg(feature = "sensor")]
pub(crate) mod sensor;
