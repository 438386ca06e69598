//! CPUs that come and go: the kernel's uevents (Documentation/ABI/testing/sysfs-uevent; lib/kobject_uevent.c).
//!
//! A CPU that goes offline or comes online, by hand, by `smt/control` or because a hypervisor takes or gives it, makes one
//! event. All of them are told to every listener in the host's own network namespace, so most are about something else, and
//! the socket drops what is too much: then a CPU may have been among it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{self, AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType};

use crate::error::KernelError;

/// Longer than any event: the kernel's own buffer for one has 2,048 bytes.
const LONGEST: usize = 4096;

/// The multicast group of the kernel's events; 2 is udev's.
const KERNEL_GROUP: u32 = 1;

/// A listener.
pub struct Hotplug {
    socket: OwnedFd,
}

impl Hotplug {
    /// Listens, without waiting ever. Needs no privilege.
    ///
    /// # Errors
    /// As socket(2) and bind(2).
    pub fn open() -> Result<Hotplug, KernelError> {
        let fail = |operation| move |errno| KernelError::file("uevents", operation, errno);
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let protocol = SockProtocol::NetlinkKObjectUEvent;
        let socket =
            socket::socket(AddressFamily::Netlink, SockType::Datagram, flags, protocol).map_err(fail("socket"))?;
        socket::bind(socket.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_GROUP)).map_err(fail("bind"))?;
        Ok(Hotplug { socket })
    }

    /// Takes what is queued, and says whether a CPU came or went since the last call, as far as anybody can know.
    ///
    /// # Errors
    /// As recvmsg(2), other than what means that nothing is queued or something was dropped.
    pub fn drain(&self) -> Result<bool, KernelError> {
        let mut changed = false;
        let mut buffer = [0_u8; LONGEST];
        loop {
            match socket::recvfrom::<NetlinkAddr>(self.socket.as_raw_fd(), &mut buffer) {
                // Any process may send here, and only port 0 is the kernel.
                Ok((length, Some(from))) if from.pid() == 0 => {
                    changed |= is_about_cpus(buffer.get(..length).unwrap_or_default());
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::ENOBUFS) => changed = true,
                Err(Errno::EAGAIN) => return Ok(changed),
                Err(errno) => return Err(KernelError::file("uevents", "recvfrom", errno)),
            }
        }
    }
}

impl AsFd for Hotplug {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Of `ACTION@DEVPATH`, then `KEY=VALUE` strings, each with a zero byte behind it.
fn is_about_cpus(message: &[u8]) -> bool {
    let strings: Vec<&[u8]> = message.split(|byte| *byte == 0).collect();
    let has = |string: &[u8]| strings.contains(&string);
    has(b"SUBSYSTEM=cpu") && (has(b"ACTION=online") || has(b"ACTION=offline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_told_from_everything_else() {
        let event = |action: &str, subsystem: &str| {
            format!(
                "{action}@/devices/system/cpu/cpu5\0ACTION={action}\0DEVPATH=/devices/system/cpu/cpu5\0SUBSYSTEM={subsystem}\0SEQNUM=7\0"
            )
        };
        assert!(is_about_cpus(event("offline", "cpu").as_bytes()) && is_about_cpus(event("online", "cpu").as_bytes()));
        assert!(!is_about_cpus(event("change", "cpu").as_bytes()), "its frequency driver, say");
        assert!(!is_about_cpus(event("online", "memory").as_bytes()));
        assert!(!is_about_cpus(b"libudev\0\xfe\xed\xca\xfe"));
    }

    #[test]
    fn nothing_is_heard_where_nothing_happens_and_others_are_not_believed() {
        let hotplug = Hotplug::open().unwrap();
        // Whatever came meanwhile, on a host whose CPUs stay.
        assert!(!hotplug.drain().unwrap());
        let own: NetlinkAddr = socket::getsockname(hotplug.socket.as_raw_fd()).unwrap();
        let liar = Hotplug::open().unwrap();
        let message = b"offline@/devices/system/cpu/cpu5\0ACTION=offline\0SUBSYSTEM=cpu\0";
        // Only root may, elsewhere the kernel refuses it at once.
        let _ = socket::sendto(
            liar.socket.as_raw_fd(),
            message,
            &NetlinkAddr::new(own.pid(), 0),
            socket::MsgFlags::empty(),
        );
        assert!(!hotplug.drain().unwrap());
    }
}
