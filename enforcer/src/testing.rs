//! What the tests of several rooms share.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Child, Command, Stdio};

use crate::ids::Pid;

/// A process to try things on; ended when the test is over, however the test ends.
pub(crate) struct Sleeper(Child);

impl Sleeper {
    pub(crate) fn start() -> Sleeper {
        Sleeper::of("sleep")
    }

    /// Another program that takes a number of seconds.
    pub(crate) fn of(program: impl AsRef<OsStr>) -> Sleeper {
        let mut command = Command::new(program);
        command.arg("60").stdin(Stdio::null());
        loop {
            match command.spawn() {
                Ok(child) => return Sleeper(child),
                // A program just written stays open for an instant in what another test is forking.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
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
