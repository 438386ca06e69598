//! Keeps a plan true on a Linux host.

pub mod decide;
