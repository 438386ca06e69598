//! Keeps a plan true on a Linux host.

pub mod error;
pub mod events;
pub mod ids;
pub mod roots;
pub mod sys;
#[cfg(test)]
mod testing;
