//! Core-scheduling cookies: which there are, who keeps them, and what a thread is to be done about its own.
//!
//! A cookie lives as long as a thread has it, and is given by a thread that has it. So each group of classes with a common
//! one has a [`holder`]: a thread of this program that does nothing but keep the cookie and hand it on. The program itself
//! stays without, so that it never makes a core wait and can take cookies away. Holders end with the program, however it
//! ends; what they gave stays with the threads that have it, and the journal tells of it.

mod holder;
mod step;

use std::collections::BTreeMap;
use std::path::Path;

use cotenant_compiler::plan::CoreScheduling;
use nix::errno::Errno;

use crate::error::{KernelError, Object};
use crate::ids::Tid;
use crate::roots::Roots;
use crate::sys::core_sched::{self, Cookie};
use holder::Holder;
pub(crate) use step::{Step, Wish, step};

/// A cookie that a thread was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// One is being made for it, and what the kernel calls it is not known yet.
    Making,
    /// One was made for this thread alone.
    Own(Cookie),
    /// One that others have too, given or inherited.
    Common(Cookie),
}

impl Given {
    /// What a child has of it.
    #[must_use]
    pub fn inherited(self) -> Given {
        match self {
            Given::Own(cookie) | Given::Common(cookie) => Given::Common(cookie),
            Given::Making => Given::Making,
        }
    }

    /// Whether a thread that shows this cookie still has the one it was given.
    #[must_use]
    pub fn stands(self, now: Cookie) -> bool {
        now != Cookie::NONE
            && match self {
                Given::Making => true,
                Given::Own(cookie) | Given::Common(cookie) => cookie == now,
            }
    }
}

/// The common cookies in use, each by the names of the classes that have it.
#[derive(Default)]
pub(crate) struct Cookies {
    holders: BTreeMap<Vec<String>, Holder>,
}

impl Cookies {
    /// The cookie of these classes, made if need be.
    ///
    /// # Errors
    /// As [`core_sched::create`]; where no thread can be started.
    pub(crate) fn of(&mut self, classes: &[String]) -> Result<Cookie, KernelError> {
        if let Some(holder) = self.holders.get(classes) {
            return Ok(holder.cookie());
        }
        let holder = Holder::start()?;
        let cookie = holder.cookie();
        self.holders.insert(classes.to_owned(), holder);
        Ok(cookie)
    }

    /// The cookie of these classes, where there is one.
    pub(crate) fn known(&self, classes: &[String]) -> Option<Cookie> {
        self.holders.get(classes).map(Holder::cookie)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Whether a cookie is one of these.
    pub(crate) fn holds(&self, cookie: Cookie) -> bool {
        self.holders.values().any(|holder| holder.cookie() == cookie)
    }

    /// Gives a thread the cookie of these classes and reads it back.
    ///
    /// # Errors
    /// As [`core_sched::share_to`]; `EIO` where the thread shows another.
    pub(crate) fn give(&self, classes: &[String], tid: Tid) -> Result<(), KernelError> {
        let Some(holder) = self.holders.get(classes) else {
            return Err(KernelError::new(Object::Thread(tid), SHARE_TO, Errno::EIO));
        };
        holder.give(tid)?;
        expect(tid, holder.cookie(), SHARE_TO)
    }

    /// Lets go of cookies that no class has any more.
    pub(crate) fn keep(&mut self, in_use: impl Fn(&[String]) -> bool) {
        self.holders.retain(|classes, _| in_use(classes));
    }
}

const SHARE_TO: &str = "PR_SCHED_CORE_SHARE_TO";

/// Makes a cookie for one thread alone.
///
/// # Errors
/// As [`core_sched::create`]; `EIO` where it shows none afterwards.
pub(crate) fn make(tid: Tid) -> Result<Cookie, KernelError> {
    core_sched::create(tid)?;
    match core_sched::get(tid)? {
        Cookie::NONE => Err(KernelError::new(Object::Thread(tid), "PR_SCHED_CORE_CREATE", Errno::EIO)),
        made => Ok(made),
    }
}

/// Takes a thread's cookie away. The calling thread has none; see [`go_without`].
///
/// # Errors
/// As [`core_sched::share_to`]; `EIO` where it shows one afterwards.
pub(crate) fn clear(tid: Tid) -> Result<(), KernelError> {
    core_sched::share_to(tid)?;
    expect(tid, Cookie::NONE, SHARE_TO)
}

fn expect(tid: Tid, cookie: Cookie, operation: &'static str) -> Result<(), KernelError> {
    match core_sched::get(tid)? {
        now if now == cookie => Ok(()),
        now => {
            let error = KernelError::new(Object::Thread(tid), operation, Errno::EIO);
            Err(error.with_value(format!("{cookie} (stands at {now})")))
        }
    }
}

/// The refusal to touch a cookie that somebody else gave.
pub(crate) fn foreign(tid: Tid) -> KernelError {
    KernelError::new(Object::Thread(tid), SHARE_TO, Errno::EBUSY)
}

/// Rids the calling thread of a cookie that it inherited, as from a shell that is in a class: whoever takes cookies away
/// must have none.
///
/// # Errors
/// `EBUSY` where no thread without a cookie is found to take that from.
pub(crate) fn go_without() -> Result<(), KernelError> {
    let own = Tid::current();
    // Where there are no cookies at all, nobody has one.
    let Ok(now) = core_sched::get(own) else { return Ok(()) };
    if now == Cookie::NONE {
        return Ok(());
    }
    // The first process and the kernel's own first thread, which nobody gives cookies to.
    for tid in [Tid(1), Tid(2)] {
        if core_sched::get(tid).is_ok_and(|cookie| cookie == Cookie::NONE) && core_sched::share_from(tid).is_ok() {
            return expect(own, Cookie::NONE, "PR_SCHED_CORE_SHARE_FROM");
        }
    }
    Err(KernelError::new(Object::Thread(own), "PR_SCHED_CORE_SHARE_FROM", Errno::EBUSY))
}

/// What this host has of core scheduling. Needs no privilege.
#[must_use]
pub fn offered(roots: &Roots) -> CoreScheduling {
    match core_sched::get(Tid::current()) {
        Err(_) => CoreScheduling::Missing,
        Ok(_) if is_overruled(&roots.sys) => CoreScheduling::Overruled,
        Ok(_) => CoreScheduling::Present,
    }
}

/// Whether a sched_ext scheduler is loaded: Documentation/scheduler/sched-ext.rst.
fn is_overruled(sys: &Path) -> bool {
    let state = std::fs::read_to_string(sys.join("kernel/sched_ext/state")).unwrap_or_default();
    // Also while it is being enabled or disabled.
    !matches!(state.trim(), "" | "disabled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_scheduler_overrules_and_an_absent_one_does_not() {
        let sys = tempfile::tempdir().unwrap();
        assert!(!is_overruled(sys.path()), "no sched_ext at all");
        std::fs::create_dir_all(sys.path().join("kernel/sched_ext/root")).unwrap();
        for (state, overrules) in [("disabled\n", false), ("enabled\n", true), ("enabling\n", true)] {
            std::fs::write(sys.path().join("kernel/sched_ext/state"), state).unwrap();
            assert_eq!(is_overruled(sys.path()), overrules, "{state}");
        }
    }

    #[test]
    fn what_was_given_stands_while_it_is_shown() {
        let (one, other) = (Cookie(1), Cookie(2));
        assert!(Given::Common(one).stands(one) && Given::Own(one).stands(one) && Given::Making.stands(other));
        assert!(!Given::Common(one).stands(other) && !Given::Own(one).stands(Cookie::NONE));
        assert!(!Given::Making.stands(Cookie::NONE));
    }
}
