//! Listening to the process connector.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Message, ProcEvent, decode};
use crate::error::{KernelError, Object};
use crate::sys::connector::{self, Received};

/// The longest message is 76 bytes; a longer datagram is not one of ours, and the cut shows in its length.
const LONGEST: usize = 256;

/// How many datagrams one [`Connector::drain`] takes, so that a fork storm cannot keep the caller from everything else:
/// to follow one costs up to 0.1 ms. What is left keeps the descriptor readable.
const AT_ONCE: usize = 256;

/// A subscription to process events. The descriptor (`AsFd`) becomes readable when there is something to drain.
#[derive(Debug)]
pub struct Connector {
    fd: OwnedFd,
    /// What came in while the kernel's answer to the subscription was awaited.
    early: Vec<ProcEvent>,
    early_outcome: Drained,
}

/// How a drain went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// How many events were added.
    pub events: usize,
    /// How many times the buffer had overflowed. Above 0, an unknown number of events is missing: rescan.
    pub lost: usize,
    /// Datagrams that were not from the kernel or not understood, and were ignored.
    pub rejected: usize,
}

impl Connector {
    /// Opens the socket, subscribes, and waits for the kernel's answer for at most `patience`. From the return on, no
    /// event is missed without [`Drained::lost`] saying so; a scan of `/proc` belongs after it.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_ADMIN`, `EPROTONOSUPPORT` without kernel support or outside the host's network
    /// namespace, `ETIMEDOUT` where no answer comes, as in a process or user namespace.
    pub fn open(patience: Duration) -> Result<Connector, KernelError> {
        let fd = connector::open()?;
        // Any number that tells this request from those of other listeners, all of whom get every answer.
        let number = std::process::id();
        connector::send(fd.as_fd(), "subscribe", &request(libc::PROC_CN_MCAST_LISTEN, number))?;
        let mut opened = Connector { fd, early: Vec::new(), early_outcome: Drained::default() };
        opened.await_answer(number.wrapping_add(1), patience)?;
        Ok(opened)
    }

    /// Takes what is queued and adds it to `out`, oldest first, without waiting.
    ///
    /// # Errors
    /// What recvfrom(2) gives other than an overflow; what was read before the error is in `out`.
    pub fn drain(&mut self, out: &mut Vec<ProcEvent>) -> Result<Drained, KernelError> {
        let mut outcome = std::mem::take(&mut self.early_outcome);
        out.append(&mut self.early);
        for _ in 0..AT_ONCE {
            match self.receive(&mut outcome)? {
                Step::Event(event) => {
                    outcome.events += 1;
                    out.push(event);
                }
                Step::Answer { .. } | Step::Nothing => {}
                Step::Empty => break,
            }
        }
        Ok(outcome)
    }

    /// The size of the receive buffer in bytes as the kernel counts it: 32 MiB, or with less privilege what the host's
    /// `net.core.rmem_max` allowed, and then overflows come sooner.
    ///
    /// # Errors
    /// None that getsockopt(2) gives for an open socket.
    pub fn receive_buffer(&self) -> Result<usize, KernelError> {
        connector::receive_buffer(&self.fd)
    }

    fn await_answer(&mut self, number: u32, patience: Duration) -> Result<(), KernelError> {
        let fail = |errno| Err(KernelError::new(Object::Connector, "subscribe", errno));
        let end = Instant::now() + patience;
        let mut outcome = Drained::default();
        loop {
            match self.receive(&mut outcome)? {
                Step::Answer { to, errno } if to == number => {
                    self.early_outcome = Drained { events: self.early.len(), ..outcome };
                    return if errno == 0 { Ok(()) } else { fail(Errno::from_raw(errno)) };
                }
                Step::Event(event) => self.early.push(event),
                Step::Answer { .. } | Step::Nothing => {}
                Step::Empty => {
                    let left = end.saturating_duration_since(Instant::now());
                    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
                    match poll(&mut [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)], left) {
                        Ok(0) => return fail(Errno::ETIMEDOUT),
                        Ok(_) | Err(Errno::EINTR) => {}
                        Err(errno) => return fail(errno),
                    }
                }
            }
        }
    }

    fn receive(&self, outcome: &mut Drained) -> Result<Step, KernelError> {
        let mut buffer = [0_u8; LONGEST];
        let decoded = match connector::receive(self.fd.as_fd(), &mut buffer)? {
            Received::Empty => return Ok(Step::Empty),
            Received::Overflow => {
                outcome.lost += 1;
                return Ok(Step::Nothing);
            }
            // Any local process can send to a netlink socket; only the kernel has port 0.
            Received::Datagram { length, port: 0 } => buffer.get(..length).map(decode),
            Received::Datagram { .. } => None,
        };
        Ok(match decoded {
            Some(Ok(Message::Event(event))) => Step::Event(event),
            Some(Ok(Message::Answer { to, errno })) => Step::Answer { to, errno },
            Some(Ok(Message::Other)) => Step::Nothing,
            Some(Err(_)) | None => {
                outcome.rejected += 1;
                Step::Nothing
            }
        })
    }
}

enum Step {
    Event(ProcEvent),
    Answer { to: u32, errno: i32 },
    Nothing,
    Empty,
}

impl AsFd for Connector {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Connector {
    /// Unsubscribes. Kernels before 6.6 count listeners by these requests, not by sockets, and go on building every
    /// message for one that left without a word.
    fn drop(&mut self) {
        // Nobody is left to tell of a failure, and closing the socket, which follows, cannot be hindered by it.
        drop(connector::send(self.fd.as_fd(), "unsubscribe", &request(libc::PROC_CN_MCAST_IGNORE, 0)));
    }
}

/// A request to the connector: netlink header, connector header, one word.
fn request(operation: libc::proc_cn_mcast_op, ack: u32) -> Vec<u8> {
    const LENGTH: u32 = 16 + 20 + 4;
    let mut message = Vec::with_capacity(LENGTH as usize);
    let mut word = |word: u32| message.extend_from_slice(&word.to_ne_bytes());
    word(LENGTH);
    // Type and flags, two half-words of which only the type is not 0; its place depends on the byte order.
    word(u32::from_ne_bytes(half_words(libc::NLMSG_DONE as u16, 0)));
    word(0); // sequence
    word(0); // port: the kernel fills in the sender's
    word(libc::CN_IDX_PROC);
    word(libc::CN_VAL_PROC);
    word(0); // sequence
    word(ack);
    word(u32::from_ne_bytes(half_words(4, 0))); // length of what follows, flags
    word(operation);
    message
}

fn half_words(first: u16, second: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (first.to_ne_bytes(), second.to_ne_bytes());
    [a, b, c, d]
}
