//! Core-scheduling cookies: `PR_SCHED_CORE` of prctl(2), Documentation/admin-guide/hw-vuln/core-scheduling.rst.
//!
//! Two threads run on one core at the same instant only where their cookies are equal; those of threads that never got
//! one are. A fork and a new thread have their maker's, an exec keeps it. A cookie lives as long as a thread has it: it can be
//! made for a thread and copied from one to another, and nobody can name it.

use std::fmt;

use nix::errno::Errno;

use crate::error::{KernelError, Object};
use crate::ids::Tid;

/// What the kernel tells of a cookie: a number good for comparison with that of another thread at the same time. Of a
/// cookie that nobody has any more the number may come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cookie(pub u64);

impl Cookie {
    /// Of threads that never got one, or had it taken away.
    pub const NONE: Cookie = Cookie(0);
}

impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// Whether this kernel is built with it (`CONFIG_SCHED_CORE`), whether or not two threads share a core now. Asked of the kernel
/// itself, because its list of symbols is hidden from a confined service.
#[must_use]
pub fn is_built() -> bool {
    // One that is not answers EINVAL to every PR_SCHED_CORE, and one that is ENODEV before it looks at the rest
    // (sched_core_share_pid in kernel/sched/core_sched.c).
    get(Tid::current()).map_or_else(|error| error.errno() == Errno::ENODEV, |_| true)
}

/// The cookie of a thread.
///
/// # Errors
/// `EINVAL` where the kernel is built without `CONFIG_SCHED_CORE` and `ENODEV` where no core has two threads online;
/// `EPERM` without `CAP_SYS_PTRACE` on another user's thread; `ESRCH` where it has ended.
pub fn get(tid: Tid) -> Result<Cookie, KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::cookie(tid) {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), "PR_SCHED_CORE_GET", errno));
    }
    let mut cookie = 0_u64;
    let at: *mut u64 = &raw mut cookie;
    call(libc::PR_SCHED_CORE_GET, tid, at as libc::c_ulong, "PR_SCHED_CORE_GET")?;
    Ok(Cookie(cookie))
}

/// Gives a thread a cookie that no other thread has.
///
/// # Errors
/// As [`get`]; `ENOMEM`.
pub fn create(tid: Tid) -> Result<(), KernelError> {
    call(libc::PR_SCHED_CORE_CREATE, tid, 0, "PR_SCHED_CORE_CREATE")
}

/// Gives a thread the cookie of the calling one; of a caller without a cookie, takes it away.
///
/// # Errors
/// As [`get`].
pub fn share_to(tid: Tid) -> Result<(), KernelError> {
    call(libc::PR_SCHED_CORE_SHARE_TO, tid, 0, "PR_SCHED_CORE_SHARE_TO")
}

/// Gives the calling thread the cookie of another.
///
/// # Errors
/// As [`get`].
pub fn share_from(tid: Tid) -> Result<(), KernelError> {
    call(libc::PR_SCHED_CORE_SHARE_FROM, tid, 0, "PR_SCHED_CORE_SHARE_FROM")
}

/// One operation on one thread. The scopes of whole processes and process groups are left out: they overwrite what single
/// threads of it were given by others.
fn call(operation: libc::c_int, tid: Tid, address: libc::c_ulong, name: &'static str) -> Result<(), KernelError> {
    #[cfg(test)]
    if let Some(played) = match operation {
        libc::PR_SCHED_CORE_CREATE => crate::fake::create_cookie(tid),
        libc::PR_SCHED_CORE_SHARE_TO => crate::fake::share_cookie(Tid::current(), tid),
        _ => crate::fake::share_cookie(tid, Tid::current()),
    } {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), name, errno));
    }
    let scope = libc::PR_SCHED_CORE_SCOPE_THREAD as libc::c_ulong;
    let (operation, thread) = (operation as libc::c_ulong, tid.0 as libc::c_ulong);
    // SAFETY: the kernel writes to the address with GET only, eight bytes, and `get` passes that of a u64 which outlives
    // the call; all else is numbers.
    let done = unsafe { libc::prctl(libc::PR_SCHED_CORE, operation, thread, scope, address) };
    Errno::result(done).map(drop).map_err(|errno| KernelError::new(Object::Thread(tid), name, errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_with_it_makes_cookies_and_another_says_which_of_two_reasons_it_has() {
        // In a thread of its own, which takes the cookie with it.
        let tried = std::thread::spawn(|| create(Tid::current()).and_then(|()| get(Tid::current()))).join().unwrap();
        match tried {
            Ok(cookie) => assert!(cookie != Cookie::NONE && is_built()),
            Err(error) => {
                assert_eq!(is_built(), error.errno() == Errno::ENODEV);
                assert!([Errno::EINVAL, Errno::ENODEV].contains(&error.errno()), "{error}");
                assert!(error.to_string().contains("PR_SCHED_CORE_CREATE on thread"), "{error}");
                assert!(
                    error.remedy().is_some_and(|remedy| remedy.contains("SMT") || remedy.contains("CONFIG_SCHED_CORE"))
                );
            }
        }
    }
}
