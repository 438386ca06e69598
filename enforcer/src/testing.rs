//! What the tests of several rooms share.

use std::process::{Child, Command, Stdio};

use crate::ids::Pid;

/// A process to try things on; ended when the test is over, however the test ends.
pub(crate) struct Sleeper(Child);

impl Sleeper {
    pub(crate) fn start() -> Sleeper {
        Sleeper(Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid(self.0.id() as i32)
    }

    /// Ends it and waits until it is no more.
    pub(crate) fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether what needs privilege can be tried.
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
