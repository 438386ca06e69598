//! The product on a real kernel with SMT and version 2 of control groups, in an emulated machine.
//!
//! `vm/README.md` says how it works. A machine takes some ten seconds or more, so each is booted once, runs a script that
//! says all it sees, and several tests look at what was said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "vm/core_sched.rs"]
mod core_sched;
#[path = "vm/cpio.rs"]
mod cpio;
#[path = "package/deb.rs"]
mod deb;
#[path = "vm/debian.rs"]
mod debian;
#[path = "vm/hotplug.rs"]
mod hotplug;
#[path = "vm/image.rs"]
mod image;
#[path = "vm/load_loop.rs"]
mod load_loop;
#[path = "vm/machine.rs"]
mod machine;
#[path = "vm/placement.rs"]
mod placement;
#[path = "vm/record.rs"]
mod record;
#[path = "vm/sensor.rs"]
mod sensor;
#[path = "vm/systemd.rs"]
mod systemd;
#[path = "vm/trace.rs"]
mod trace;
