//! A kernel that is played, for tests that need more processes, more orders of events or other groups than this host has.
//!
//! It stores state and follows the kernel's rules; nothing in it knows what will be asked. A thread of a test that has one
//! [installed](install) gets its answers in place of the kernel's: the rooms of the kernel interface ask here first, in
//! tests only. Directories of control groups are ordinary ones in a temporary tree, with the content of their files here.
//!
//! Its rules are those of Linux 6.2 and later, where a thread's own mask survives its cpuset. `tests` runs the same script on
//! it and on the kernel of this host.

mod files;
mod groups;
mod kernel;
mod scheduling;
mod task;
mod tests;

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use crate::ids::Tid;
use crate::sys::core_sched::Cookie;
use crate::sys::sched::SchedState;
pub(crate) use kernel::{FIRST, INIT, Kernel};
pub(crate) use task::Task;

/// A kernel that several threads of one test may ask.
pub(crate) type Shared = Arc<Mutex<Kernel>>;

thread_local! {
    static INSTALLED: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// Lets this thread ask that kernel, or the true one again.
pub(crate) fn install(kernel: Option<Shared>) {
    INSTALLED.with_borrow_mut(|installed| *installed = kernel);
}

/// The kernel that this thread asks, to hand it on to another thread.
pub(crate) fn installed() -> Option<Shared> {
    INSTALLED.with_borrow(Clone::clone)
}

/// The kernel itself, also after a failed assertion.
pub(crate) fn lock(kernel: &Shared) -> MutexGuard<'_, Kernel> {
    kernel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the installed kernel; none where there is none.
fn ask<T>(question: impl FnOnce(&mut Kernel) -> T) -> Option<T> {
    let kernel = installed()?;
    let mut kernel = lock(&kernel);
    kernel.interrupt();
    Some(question(&mut kernel))
}

/// As [`ask`], about a thread that is of the played kernel and not of this program.
fn ask_of<T>(tid: Tid, question: impl FnOnce(&mut Kernel) -> T) -> Option<T> {
    if tid.0 < FIRST { None } else { ask(question) }
}

pub(crate) fn affinity(tid: Tid) -> Option<Result<CpuSet, Errno>> {
    ask_of(tid, |kernel| kernel.affinity(tid))
}

pub(crate) fn set_affinity(tid: Tid, cpus: &CpuSet) -> Option<Result<(), Errno>> {
    ask_of(tid, |kernel| kernel.set_affinity(tid, cpus))
}

pub(crate) fn sched(tid: Tid) -> Option<Result<SchedState, Errno>> {
    ask_of(tid, |kernel| kernel.sched(tid))
}

pub(crate) fn set_sched(tid: Tid, state: &SchedState) -> Option<Result<(), Errno>> {
    ask_of(tid, |kernel| kernel.set_sched(tid, state))
}

pub(crate) fn set_nice(tid: Tid, nice: i32) -> Option<Result<(), Errno>> {
    ask_of(tid, |kernel| kernel.set_nice(tid, nice))
}

/// Cookies are asked of the played kernel for threads of this program too, which hold and hand them on.
pub(crate) fn cookie(tid: Tid) -> Option<Result<Cookie, Errno>> {
    ask(|kernel| kernel.cookie(tid))
}

pub(crate) fn create_cookie(tid: Tid) -> Option<Result<(), Errno>> {
    ask(|kernel| kernel.create_cookie(tid))
}

pub(crate) fn share_cookie(from: Tid, to: Tid) -> Option<Result<(), Errno>> {
    ask(|kernel| kernel.share_cookie(from, to))
}

/// The content of a file below the played `/proc`.
pub(crate) fn read_proc(path: &Path) -> Option<Result<Vec<u8>, Errno>> {
    ask(|kernel| kernel.read_proc(path))?
}

/// The numbers that are the entries of a directory of the played `/proc`.
pub(crate) fn list_proc(path: &Path) -> Option<Result<Vec<i32>, Errno>> {
    ask(|kernel| kernel.list_proc(path))?
}

/// Whether a group has a file; none where the directory is not one of the played trees.
pub(crate) fn has_group_file(directory: &Path, file: &str) -> Option<bool> {
    ask(|kernel| kernel.has_group_file(directory, file))?
}

pub(crate) fn read_group(directory: &Path, file: &str) -> Option<Result<String, Errno>> {
    ask(|kernel| kernel.read_group(directory, file))?
}

pub(crate) fn write_group(directory: &Path, file: &str, value: &str) -> Option<Result<(), Errno>> {
    ask(|kernel| kernel.write_group(directory, file, value))?
}

/// Whether a group may be removed; the directory itself is the caller's to remove.
pub(crate) fn remove_group(directory: &Path) -> Option<Result<(), Errno>> {
    ask(|kernel| kernel.remove_group(directory))?
}

/// Whether a directory is a played hierarchy.
pub(crate) fn is_hierarchy(path: &Path) -> bool {
    ask(|kernel| kernel.is_hierarchy(path)).unwrap_or(false)
}
