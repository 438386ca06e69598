//! What the tests of several rooms share.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use cotenant_compiler::CpuSet;
use nix::sys::signal::{Signal, killpg};

use crate::ids::{Pid, Tid};

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

/// A shell with a given mask and its child, which has it too; ended when the test is over.
pub(crate) struct Family {
    shell: Child,
    child: Tid,
}

impl Family {
    pub(crate) fn start(mask: &CpuSet) -> Family {
        let mut command = Command::new("taskset");
        command.args(["-c", &mask.to_string(), "sh", "-c", "sleep 100 & echo $!; wait"]).process_group(0);
        let mut shell = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Family { shell, child: Tid(line.trim().parse().unwrap()) }
    }

    pub(crate) fn shell(&self) -> Tid {
        Tid(self.shell.id() as i32)
    }

    pub(crate) fn child(&self) -> Tid {
        self.child
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        let _ = killpg(nix::unistd::Pid::from_raw(self.shell().0), Signal::SIGKILL);
        drop(self.shell.wait());
    }
}

/// Whether what needs privilege can be tried.
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
