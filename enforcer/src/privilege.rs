//! What the program may do beyond an ordinary process: what of it is kept, for what, and how the rest is given up.
//!
//! | capability | for | without it |
//! |---|---|---|
//! | `CAP_SYS_NICE` | scheduling and CPUs of other users' threads, the daemon's own priority | refused at the start |
//! | `CAP_SYS_PTRACE` | `/proc/PID/exe` and cookies of other users' processes | those match no `exe` and get no cookie |
//! | `CAP_NET_ADMIN` | process events before Linux 6.6, and a buffer that holds thousands of them | more scans of everything |
//! | `CAP_BPF`, `CAP_PERFMON` | the sensor | the tick loop watches instead |
//! | `CAP_DAC_OVERRIDE` | root's own groups on version 1, where even root may not write in the root group's directory | affinity instead |
//!
//! Found by taking one away at a time; `tests/live/privilege.rs` holds it.

use std::collections::HashSet;

use caps::{CapSet, Capability, CapsHashSet};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::geteuid;

use crate::cgroup::{Hierarchy, Magic, Version};
use crate::error::{KernelError, Object};
use crate::ids::Pid;
use crate::roots::Roots;

/// A capability that is not there, and what is weaker for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What is not done, and what is done instead.
    pub means: &'static str,
    /// The capability, and what to do about it.
    pub error: KernelError,
}

/// Gives up every capability that is not kept, for good and for all programs that could be executed, and says what is
/// missing of those that are. Capabilities belong to threads, so this comes before the first is started, and before
/// anything is read that somebody else wrote.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, without which nothing can be placed, and where the kernel does not let go of something.
pub fn shed(roots: &Roots) -> Result<Vec<Lack>, KernelError> {
    let wanted = kept(roots);
    prctl::set_no_new_privs().map_err(|errno| refused("PR_SET_NO_NEW_PRIVS", errno))?;
    // The bounding set first: that takes CAP_SETPCAP. Without it no program that is executed could use the set either,
    // since nobody here gets new privileges.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(|_| refused("capget", Errno::EINVAL))? {
        let bound = read(CapSet::Bounding)?;
        let rest = bound.difference(&wanted);
        rest.copied().try_for_each(|capability| {
            caps::drop(None, CapSet::Bounding, capability).map_err(|_| refused("PR_CAPBSET_DROP", Errno::EPERM))
        })?;
    }
    let held: CapsHashSet = read(CapSet::Permitted)?.intersection(&wanted).copied().collect();
    let nothing = CapsHashSet::new();
    // What is effective must be permitted at every moment (capset(2)), so that goes first.
    for (set, content) in [(CapSet::Inheritable, &nothing), (CapSet::Effective, &held), (CapSet::Permitted, &held)] {
        caps::set(None, set, content).map_err(|_| refused("capset", Errno::EPERM))?;
        if read(set)? != *content {
            return Err(refused("capset", Errno::EPERM));
        }
    }
    check()?;
    Ok(lacks()
        .into_iter()
        .filter(|(capability, _)| wanted.contains(capability) && !held.contains(capability))
        .map(lack)
        .collect())
}

/// Checks for `CAP_SYS_NICE`. Without it every single write would be refused, so it is better said once and at the start.
///
/// # Errors
/// `EPERM` without the capability.
pub fn check() -> Result<(), KernelError> {
    #[cfg(test)]
    if crate::fake::installed().is_some() {
        return Ok(());
    }
    match read(CapSet::Effective)?.contains(&Capability::CAP_SYS_NICE) {
        true => Ok(()),
        false => Err(missing(Capability::CAP_SYS_NICE)),
    }
}

/// How many files may be open at once, after asking for as many as the hard limit allows: one is kept for each thread
/// whose load is followed, and the usual 1,024 are soon taken.
#[must_use]
pub fn open_files() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 0 };
    match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => hard,
        Err(_) => soft,
    }
}

/// What there is a use for on this host.
fn kept(roots: &Roots) -> CapsHashSet {
    let mut kept = HashSet::from([
        Capability::CAP_SYS_NICE,
        Capability::CAP_SYS_PTRACE,
        Capability::CAP_NET_ADMIN,
        Capability::CAP_BPF,
        Capability::CAP_PERFMON,
    ]);
    // Nobody but user 0 moves other users' processes on version 1, whatever capabilities it has: see `Ground::hindrance`.
    let version = Hierarchy::detect(&roots.cgroup, Magic::Check).version();
    if version == Some(Version::V1) && geteuid().is_root() {
        kept.insert(Capability::CAP_DAC_OVERRIDE);
    }
    kept
}

/// Those that something can be done without and that nobody else speaks of: the sensor says itself what it needs, and
/// [`Ground::hindrance`](crate::ground::Ground::hindrance) why nobody is moved.
fn lacks() -> [(Capability, &'static str); 2] {
    [
        (Capability::CAP_SYS_PTRACE, "programs of other users match no `exe`, and their threads get no cookie"),
        (
            Capability::CAP_NET_ADMIN,
            "the buffer for process events is small, and when it overflows everything is looked at again",
        ),
    ]
}

fn lack((capability, means): (Capability, &'static str)) -> Lack {
    Lack { means, error: missing(capability) }
}

fn missing(capability: Capability) -> KernelError {
    KernelError::new(Object::Capability(capability), "use", Errno::EPERM)
}

fn read(set: CapSet) -> Result<CapsHashSet, KernelError> {
    caps::read(None, set).map_err(|_| refused("capget", Errno::EINVAL))
}

fn refused(operation: &'static str, errno: Errno) -> KernelError {
    KernelError::new(Object::Process(Pid::current()), operation, errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_placed_without_the_one_and_the_rest_is_said() {
        // In a thread of its own, which takes what it gave up with it.
        std::thread::spawn(|| {
            if check().is_err() {
                return assert!(!crate::testing::is_root());
            }
            let few = HashSet::from([Capability::CAP_SYS_NICE, Capability::CAP_NET_ADMIN]);
            caps::set(None, CapSet::Effective, &few).unwrap();
            caps::set(None, CapSet::Permitted, &few).unwrap();
            let lacks: Vec<String> = shed(&Roots::default()).unwrap().iter().map(|it| it.error.to_string()).collect();
            assert!(lacks[0].starts_with("CAP_SYS_PTRACE is missing"), "{lacks:?}");
            assert!(!lacks.iter().any(|lack| lack.starts_with("CAP_NET_ADMIN")), "{lacks:?}");
            assert!(prctl::get_no_new_privs().unwrap());
            caps::drop(None, CapSet::Effective, Capability::CAP_SYS_NICE).unwrap();
            assert!(check().unwrap_err().to_string().starts_with("CAP_SYS_NICE is missing"));
        })
        .join()
        .unwrap();
    }
}
