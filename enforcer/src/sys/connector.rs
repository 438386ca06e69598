//! The socket of the process connector: `Documentation/driver-api/connector.rst`, `include/uapi/linux/cn_proc.h`,
//! netlink(7).

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{self, MsgFlags, NetlinkAddr, sockopt};

use crate::error::{KernelError, Object};

/// The receive buffer asked for, in bytes; the kernel grants twice that for its overhead (socket(7)). A message counts
/// for somewhat under 1 KiB there and a short-lived process is three, so there is room for about ten thousand such
/// processes between two reads.
pub(crate) const RECEIVE_BUFFER: usize = 16 << 20;

/// What a receive gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A datagram of this length, from this netlink port; only port 0 is the kernel.
    Datagram { length: usize, port: u32 },
    /// The buffer overflowed since the last receive: events are lost, and what is still queued can be read.
    Overflow,
    /// Nothing is queued.
    Empty,
}

/// Opens a non-blocking socket that is in the group of process events, with a receive buffer of [`RECEIVE_BUFFER`], or
/// the most that `net.core.rmem_max` allows where `CAP_NET_ADMIN` is missing. The kernel sends nothing before [`send`]
/// has subscribed.
///
/// # Errors
/// `EPROTONOSUPPORT` without `CONFIG_PROC_EVENTS` or outside the host's network namespace, `EPERM` without privilege.
pub(crate) fn open() -> Result<OwnedFd, KernelError> {
    let fail = |operation| move |errno| KernelError::new(Object::Connector, operation, errno);
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes numbers only.
    let raw = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_CONNECTOR) };
    let raw = Errno::result(raw).map_err(fail("socket"))?;
    // SAFETY: the call above has just made this descriptor, and nothing else knows of it.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    if socket::setsockopt(&fd, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
        socket::setsockopt(&fd, sockopt::RcvBuf, &RECEIVE_BUFFER).map_err(fail("setsockopt SO_RCVBUF"))?;
    }
    // Port 0 lets the kernel choose one; the group's mask has one bit for each number, and this one's is 1.
    socket::bind(fd.as_raw_fd(), &NetlinkAddr::new(0, libc::CN_IDX_PROC)).map_err(fail("bind"))?;
    Ok(fd)
}

/// Sends one message to the kernel.
///
/// # Errors
/// `EPERM` without `CAP_NET_ADMIN`.
pub(crate) fn send(fd: BorrowedFd<'_>, operation: &'static str, message: &[u8]) -> Result<(), KernelError> {
    let fail = |errno| KernelError::new(Object::Connector, operation, errno);
    match socket::send(fd.as_raw_fd(), message, MsgFlags::empty()).map_err(fail)? {
        sent if sent == message.len() => Ok(()),
        _ => Err(fail(Errno::EMSGSIZE)),
    }
}

/// Receives one datagram without waiting. One longer than the buffer is cut to it.
pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Received, KernelError> {
    loop {
        return match socket::recvfrom::<NetlinkAddr>(fd.as_raw_fd(), buffer) {
            // Without a sender's address nothing says that the kernel sent it.
            Ok((length, from)) => {
                Ok(Received::Datagram { length, port: from.map_or(u32::MAX, |address| address.pid()) })
            }
            Err(Errno::ENOBUFS) => Ok(Received::Overflow),
            Err(Errno::EAGAIN) => Ok(Received::Empty),
            Err(Errno::EINTR) => continue,
            Err(errno) => Err(KernelError::new(Object::Connector, "recvfrom", errno)),
        };
    }
}

/// The size of the receive buffer in bytes as the kernel counts it, twice what was asked for (socket(7)).
///
/// # Errors
/// `EBADF`, `ENOTSOCK` for something else than a socket.
pub(crate) fn receive_buffer(fd: &OwnedFd) -> Result<usize, KernelError> {
    socket::getsockopt(fd, sockopt::RcvBuf)
        .map_err(|errno| KernelError::new(Object::Connector, "getsockopt SO_RCVBUF", errno))
}
