//! Whether the program may place other users' processes at all.

use std::path::Path;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::error::{KernelError, errno_of};

/// `CAP_SYS_NICE`: scheduling attributes and affinity of any process (capabilities(7)); its bit in `CapEff`.
const SYS_NICE: u32 = 23;

/// Checks for `CAP_SYS_NICE`. Without it every single write would be refused, so it is better said once and at the start.
///
/// # Errors
/// `EPERM` without the capability.
pub fn check(proc: &Path) -> Result<(), KernelError> {
    let path = proc.join("self/status");
    let text = std::fs::read_to_string(&path).map_err(|error| KernelError::file(&path, "read", errno_of(&error)))?;
    match effective(&text) {
        Some(capabilities) if capabilities >> SYS_NICE & 1 == 1 => Ok(()),
        Some(_) => Err(KernelError::file("capability CAP_SYS_NICE", "use", Errno::EPERM)),
        None => Err(KernelError::unreadable(&path, text.as_bytes())),
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

fn effective(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bit_decides() {
        assert_eq!(effective("Name:\tx\nCapEff:\t0000000000800000\n").unwrap() >> SYS_NICE, 1);
        assert_eq!(check(Path::new("/proc")).is_ok(), crate::testing::is_root());
    }
}
