//! What keeps this process from moving others.
//!
//! On version 1 nobody but user 0 moves other users' processes, whatever its capabilities (`__cgroup1_procs_write` in
//! kernel/cgroup/cgroup-v1.c), and the root group's directory has mode 0555, so that it takes `CAP_DAC_OVERRIDE` to make a
//! group there.

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat, geteuid};

use crate::cgroup::Group;
use crate::error::KernelError;

/// Asked of the kernel, because a tree may be mounted read-only as well.
pub(super) fn of(root: &Group) -> Option<KernelError> {
    let refused = match geteuid().is_root() {
        true => faccessat(AT_FDCWD, root.directory(), AccessFlags::W_OK, AtFlags::AT_EACCESS).err(),
        false => Some(Errno::EACCES),
    };
    refused.map(|errno| KernelError::file(root.directory(), "make a group in", errno))
}
