//! How one thread is scheduled: sched_getattr(2), sched_setattr(2), getpriority(2), setpriority(2); see sched(7).

mod policy;
mod state;
#[cfg(test)]
mod tests;

use std::mem::size_of;

use nix::errno::Errno;

pub use policy::SchedPolicy;
pub use state::{Clamps, Deadline, SchedState};

use crate::error::{KernelError, Object};
use crate::ids::Tid;

/// `struct sched_attr` at its second published size, 56 bytes, from `include/uapi/linux/sched/types.h`. Kernels before
/// 5.3 know the first 48 and accept the rest while it is zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

const SIZE: u32 = size_of::<Attributes>() as u32;

/// The flag bits, as the 64-bit field has them; the C library's are plain integers.
mod flag {
    pub(super) const RESET_ON_FORK: u64 = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    pub(super) const RECLAIM: u64 = libc::SCHED_FLAG_RECLAIM as u64;
    pub(super) const OVERRUN: u64 = libc::SCHED_FLAG_DL_OVERRUN as u64;
    pub(super) const KEEP_ALL: u64 = libc::SCHED_FLAG_KEEP_ALL as u64;
    pub(super) const CLAMP: u64 = libc::SCHED_FLAG_UTIL_CLAMP as u64;
}

/// Reads how the thread is scheduled.
///
/// # Errors
/// `ESRCH` where the thread has ended.
pub fn get(tid: Tid) -> Result<SchedState, KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::sched(tid) {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), "sched_getattr", errno));
    }
    let mut raw = Attributes::default();
    // SAFETY: the kernel writes at most SIZE bytes, the size of `raw`, every bit pattern of which is a valid value.
    let done = unsafe { libc::syscall(libc::SYS_sched_getattr, tid.0, &raw mut raw, SIZE, 0) };
    Errno::result(done).map_err(|errno| KernelError::new(Object::Thread(tid), "sched_getattr", errno))?;
    let mut state = SchedState::from_raw(&raw);
    if !state.policy.reports_nice() {
        // The call leaves the field at 0 for these, but the thread has a nice value to come back to.
        state.nice = nice(tid)?;
    }
    Ok(state)
}

/// Sets policy, parameters and reset-on-fork, and nothing else. Utilization clamps that somebody set are kept, because
/// no clamp flag is passed. Of the parameters the kernel takes those of the policy: nice and slice for `SCHED_OTHER` and
/// `SCHED_BATCH`, priority for the real-time ones; under the other policies a thread keeps its nice value and slice.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, for a real-time policy in a version 1 `cpu` group without real-time budget, and for a
/// deadline policy on a part of a root domain; `EINVAL` for a value out of range; `EBUSY` where deadline admission fails;
/// `ESRCH` where the thread has ended.
pub fn set(tid: Tid, state: &SchedState) -> Result<(), KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::set_sched(tid, state) {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), "sched_setattr", errno).with_value(state));
    }
    write(tid, &state.to_raw()).map_err(|error| error.with_value(state))
}

/// Sets the nice value, −20 to 19, whatever the policy: under a real-time one it waits for the return to a fair one.
///
/// # Errors
/// `EACCES` or `EPERM` without `CAP_SYS_NICE`; `ESRCH` where the thread has ended.
pub fn set_nice(tid: Tid, nice: i32) -> Result<(), KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::set_nice(tid, nice) {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), "setpriority", errno).with_value(nice));
    }
    // SAFETY: takes numbers only. PRIO_PROCESS with a thread's id means that thread on Linux (setpriority(2), Bugs).
    let done = unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, tid.0, nice) };
    Errno::result(done)
        .map(drop)
        .map_err(|errno| KernelError::new(Object::Thread(tid), "setpriority", errno).with_value(nice))
}

/// Sets the utilization clamps and keeps policy and parameters.
///
/// # Errors
/// `EOPNOTSUPP` on a kernel without `CONFIG_UCLAMP_TASK`, `EINVAL` where min exceeds max or 1,024; otherwise as [`set`].
pub fn set_clamps(tid: Tid, clamps: Clamps) -> Result<(), KernelError> {
    let raw = Attributes {
        flags: flag::KEEP_ALL | flag::CLAMP,
        util_min: clamps.min,
        util_max: clamps.max,
        ..Attributes::default()
    };
    write(tid, &raw).map_err(|error| error.with_value(clamps))
}

fn write(tid: Tid, raw: &Attributes) -> Result<(), KernelError> {
    let raw = Attributes { size: SIZE, ..*raw };
    // SAFETY: the kernel reads `size` bytes, the size of `raw`, which outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, tid.0, &raw const raw, 0) };
    Errno::result(done).map(drop).map_err(|errno| KernelError::new(Object::Thread(tid), "sched_setattr", errno))
}

fn nice(tid: Tid) -> Result<i32, KernelError> {
    // SAFETY: takes numbers only.
    let answer = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, tid.0) };
    let answer = Errno::result(answer).map_err(|errno| KernelError::new(Object::Thread(tid), "getpriority", errno))?;
    // The system call itself answers 1 to 40 so that no answer looks like an error (getpriority(2), C library notes).
    Ok(20 - i32::try_from(answer).unwrap_or(20))
}
