//! Process events from the kernel: the process connector, a netlink socket that says who forked, executed, changed
//! name or user, and ended.
//!
//! Events are hints, not a record: they tell where to look, and what is there is read from `/proc`. When the socket's
//! buffer overflows, events are lost without a trace of which; [`Drained::lost`] says so and the caller rescans.

mod connector;
mod decode;
#[cfg(test)]
mod tests;

pub use connector::{Connector, Drained};
pub use decode::{Malformed, Message, decode};

use crate::ids::{Pid, Tid};

/// One thing that happened. Ids are of the initial process namespace, where the kernel allows listening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcEvent {
    /// A new process. With `CLONE_PARENT` the parent named here is the forking process's own parent.
    Fork {
        /// The process whose child it is.
        parent: Pid,
        /// The thread of it that forked.
        parent_thread: Tid,
        /// The new process.
        child: Pid,
    },
    /// A new thread in a standing process. Which thread made it the kernel does not say.
    Thread {
        /// The process.
        process: Pid,
        /// The new thread.
        thread: Tid,
    },
    /// The process runs another program now. Its other threads are gone; where one of those called execve(2), it has
    /// taken over the leader's id, and no exit is reported for the id it had.
    Exec {
        /// The process.
        process: Pid,
    },
    /// A thread changed its user ids.
    Uid {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Tid,
        /// The real user id now.
        real: u32,
        /// The effective user id now.
        effective: u32,
    },
    /// A thread changed its group ids.
    Gid {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Tid,
        /// The real group id now.
        real: u32,
        /// The effective group id now.
        effective: u32,
    },
    /// A thread changed its name. It is the name of the process where `thread` leads `process`.
    Comm {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Tid,
        /// The name, at most 15 bytes, any but NUL.
        comm: Vec<u8>,
    },
    /// A thread ended. The process has ended with its last thread, which need not be the leader.
    Exit {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Tid,
        /// The status as wait(2) has it.
        status: u32,
    },
}
