//! Datagrams of the process connector: a netlink header, a connector header, and one `struct proc_event`.
//!
//! Layouts: netlink(7), `include/uapi/linux/connector.h`, `include/uapi/linux/cn_proc.h`. All in the machine's byte order.

use super::ProcEvent;
use crate::ids::{Pid, Tid};

/// What a datagram of the connector says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Something happened.
    Event(ProcEvent),
    /// The answer to a listener's request; every listener gets it.
    Answer {
        /// The request's `ack` number plus one.
        to: u32,
        /// 0 or an errno(3).
        errno: i32,
    },
    /// Well formed, and nothing that placement depends on: sessions, tracing, core dumps, what later kernels add.
    Other,
}

/// A datagram that is too short for what it says it is, or is not of the process connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a message of the process connector")]
pub struct Malformed;

/// Reads one datagram. The kernel puts exactly one message into each.
///
/// # Errors
/// [`Malformed`] for anything else; nothing of it is used.
pub fn decode(datagram: &[u8]) -> Result<Message, Malformed> {
    parse(datagram).ok_or(Malformed)
}

fn parse(datagram: &[u8]) -> Option<Message> {
    let length = Fields(datagram).u32()?;
    let mut netlink = Fields(datagram.get(..usize::try_from(length).ok()?)?);
    netlink.skip(4)?;
    let kind = netlink.u16()?;
    netlink.skip(2 + 4 + 4)?; // flags, sequence, port
    let (index, value) = (netlink.u32()?, netlink.u32()?);
    netlink.skip(4)?; // sequence: a counter of each CPU
    let ack = netlink.u32()?;
    let payload = usize::from(netlink.u16()?);
    netlink.skip(2)?; // flags
    let is_ours = i32::from(kind) == libc::NLMSG_DONE && index == libc::CN_IDX_PROC && value == libc::CN_VAL_PROC;
    event(Fields(netlink.0.get(..payload)?), ack).filter(|_| is_ours)
}

fn event(mut fields: Fields<'_>, ack: u32) -> Option<Message> {
    let what = fields.u32()?;
    fields.skip(4 + 8)?; // CPU, time since boot in nanoseconds
    Some(Message::Event(match what {
        libc::PROC_EVENT_NONE => return Some(Message::Answer { to: ack, errno: fields.i32()? }),
        libc::PROC_EVENT_FORK => {
            let (parent_thread, parent) = fields.thread()?;
            let (thread, process) = fields.thread()?;
            match thread.leads(process) {
                true => ProcEvent::Fork { parent, parent_thread, child: process },
                false => ProcEvent::Thread { process, thread },
            }
        }
        libc::PROC_EVENT_EXEC => ProcEvent::Exec { process: fields.thread()?.1 },
        libc::PROC_EVENT_UID => {
            let (thread, process) = fields.thread()?;
            ProcEvent::Uid { process, thread, real: fields.u32()?, effective: fields.u32()? }
        }
        libc::PROC_EVENT_GID => {
            let (thread, process) = fields.thread()?;
            ProcEvent::Gid { process, thread, real: fields.u32()?, effective: fields.u32()? }
        }
        libc::PROC_EVENT_COMM => {
            let (thread, process) = fields.thread()?;
            let name: [u8; 16] = fields.take()?;
            let comm = name.into_iter().take_while(|byte| *byte != 0).collect();
            ProcEvent::Comm { process, thread, comm }
        }
        libc::PROC_EVENT_EXIT => {
            let (thread, process) = fields.thread()?;
            ProcEvent::Exit { process, thread, status: fields.u32()? }
        }
        _ => return Some(Message::Other),
    }))
}

/// What is left of a message; every method takes from its front, or is `None` where too little is left.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn i32(&mut self) -> Option<i32> {
        self.take().map(i32::from_ne_bytes)
    }

    /// The kernel's pid and tgid, in the order in which it writes them: our thread and process.
    fn thread(&mut self) -> Option<(Tid, Pid)> {
        Some((Tid(self.i32()?), Pid(self.i32()?)))
    }
}
