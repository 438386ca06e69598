//! Keeps a plan true on a Linux host.
//!
//! The rooms of the kernel interface hold values and one-operation functions, no policy: [`sys`] makes system calls,
//! [`events`] listens to the process connector, [`procfs`] reads `/proc`, [`cgroup`] reads and writes control groups.
//! None knows a path by itself; they come from [`roots::Roots`]. What the kernel refuses is an [`error::KernelError`].

pub mod accounts;
mod aide;
pub mod cgroup;
mod contest;
pub mod control;
pub mod cookies;
pub mod daemon;
pub mod decide;
pub mod enforcer;
pub mod error;
pub mod events;
#[cfg(test)]
mod fake;
pub mod ground;
pub mod hold;
pub mod hotplug;
pub mod ids;
pub mod journal;
mod links;
pub mod load;
pub mod lock;
pub mod member;
pub mod moves;
pub mod privilege;
pub mod procfs;
pub mod roots;
pub mod sensor;
pub mod status;
pub mod stay;
pub mod story;
pub mod subject;
pub mod sys;
#[cfg(test)]
mod testing;
pub mod thread;
pub mod trust;
pub mod watch;
