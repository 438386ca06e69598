//! The emulated machine of the measurements: 4 cores of 2 threads, its time counted in instructions.

use std::path::Path;

use super::machine::{Kernel, Run, Time, boot_in, emulator};
use super::report::{host, version};

/// A machine to be booted.
pub(crate) struct Guest {
    kernel: Kernel,
    /// Its kernel, for a table.
    pub(crate) name: &'static str,
}

impl Guest {
    /// With Debian's kernel.
    pub(crate) fn stock() -> Guest {
        Guest { kernel: Kernel::Newer, name: "Debian's 6.12" }
    }

    /// With the kernel that `kernel.sh` builds.
    pub(crate) fn with_core_scheduling() -> Guest {
        Guest { kernel: Kernel::CoreSched, name: "6.12 with core scheduling" }
    }

    /// Boots it and runs a script to its end.
    pub(crate) fn boot(&self, script: &str) -> Run {
        self.boot_with(script, &[])
    }

    /// The same with more files of this machine.
    pub(crate) fn boot_with(&self, script: &str, others: &[&str]) -> Run {
        let others: Vec<&Path> = others.iter().map(Path::new).collect();
        boot_in(Time::Instructions, self.kernel, "8,sockets=1,cores=4,threads=2", script, &others)
    }

    /// What it is, for a page.
    pub(crate) fn described(&self) -> String {
        format!(
            "Measured in an emulated machine ({}, no KVM, `-icount shift=0,sleep=off`, virtual CPUs taking turns of some \
             20 µs), on {}. One instruction is one nanosecond there, whichever CPU executes it, so that n busy CPUs are \
             each n times slower: requests, the kernel and the daemon alike. Shares of time and counts are sound, lengths \
             of time are an upper bound.",
            version(&mut emulator()),
            host()
        )
    }
}

/// A setting from the environment, for a shorter or narrower run.
pub(crate) fn setting(key: &str, default: &str) -> String {
    std::env::var(key).unwrap_or_else(|_| default.to_owned())
}
