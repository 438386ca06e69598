//! Lends libhwloc an environment of our own.
//!
//! The environment is the only way to tell the hwloc crate what to load (its handle is private), and the caller's own
//! `HWLOC_*` variables would change what is loaded. So for the length of one load they are all taken out, ours are put
//! in, and afterwards, even after a panic, everything is as it was.

use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One load at a time: the environment belongs to the whole process.
static ENVIRONMENT: Mutex<()> = Mutex::new(());

/// Runs `action` while exactly `variables` are the process's `HWLOC_*` variables.
pub(super) fn lend<T>(variables: &[(&str, &OsStr)], action: impl FnOnce() -> T) -> T {
    // A panic in an earlier action left nothing half done: its guard put the variables back.
    let lock = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = variables.iter().map(|(name, value)| (OsString::from(name), value.to_os_string())).collect();
    let _guard = Guard { before: replace(ours, &lock), lock };
    action()
}

/// Puts the caller's variables back when it goes.
struct Guard {
    before: Vec<(OsString, OsString)>,
    lock: MutexGuard<'static, ()>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        replace(std::mem::take(&mut self.before), &self.lock);
    }
}

/// Makes `variables` the only `HWLOC_*` variables, and returns those that were there.
#[expect(unsafe_code, reason = "hwloc takes its orders from the environment and from nowhere else")]
fn replace(variables: Vec<(OsString, OsString)>, _lock: &MutexGuard<'static, ()>) -> Vec<(OsString, OsString)> {
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"HWLOC_");
    let before: Vec<_> = std::env::vars_os().filter(|(name, _)| ours(name)).collect();
    for (name, _) in &before {
        // SAFETY: Nobody may write or read the environment at this instant but through `std::env`, which has its own
        // lock. Our own writes and libhwloc's getenv(3) both happen under `ENVIRONMENT`, since libhwloc only runs
        // inside `lend`; that no other thread is in C code that reads it is `Topology::load`'s condition.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in variables {
        // SAFETY: As above.
        unsafe { std::env::set_var(name, value) };
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "HWLOC_COTENANT_TEST";

    fn value() -> Option<OsString> {
        std::env::var_os(NAME)
    }

    #[test]
    fn a_panic_gives_the_environment_back() {
        let outcome = std::panic::catch_unwind(|| lend(&[(NAME, OsStr::new("1"))], || panic!("{:?}", value())));
        let message = *outcome.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(message, r#"Some("1")"#);
        assert_eq!(lend(&[], value), None, "and the lock still works");
    }

    #[test]
    fn what_the_caller_had_is_hidden_and_put_back() {
        let lock = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
        let before = replace(vec![(NAME.into(), "caller".into())], &lock);
        let guard = Guard { before: replace(vec![], &lock), lock };
        assert_eq!(value(), None);
        drop(guard);
        assert_eq!(value().unwrap(), "caller");
        lend(&[], || assert_eq!(value(), None));
        let lock = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
        let after = replace(before, &lock);
        assert_eq!(after, [(NAME.into(), OsString::from("caller"))]);
    }
}
