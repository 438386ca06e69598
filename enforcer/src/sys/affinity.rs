//! The CPUs one thread may run on: sched_getaffinity(2) and sched_setaffinity(2).
//!
//! The C library's `cpu_set_t` ends at 1,024 CPUs; the system calls do not, so they are made directly.

use std::mem::size_of_val;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cotenant_compiler::CpuSet;
use nix::errno::Errno;
use smallvec::{SmallVec, smallvec};

use crate::error::{KernelError, Object};
use crate::ids::Tid;
use crate::moves::{Child, Moving, Recent};

// The kernel's mask is an array of unsigned long, ours of u64: the same bytes, except with short words and big ends.
#[cfg(not(any(target_pointer_width = "64", target_endian = "little")))]
compile_error!("CPU masks are not laid out as 64-bit words on this machine");

/// Words to begin with: 1,024 CPUs.
const FIRST_WORDS: usize = 16;

/// Words to give up at: 65,536 CPUs, eight times what any kernel can be built for.
const LAST_WORDS: usize = 1024;

/// Taken by whoever reads or writes a mask, so that nobody sees the one that a thread has only for the time of a move, or
/// writes between. It holds what the last moves were.
static MASKS: Mutex<Recent> = Mutex::new(Recent::new());

/// The masks for one thread of this process alone, until it is dropped.
pub(crate) struct Alone {
    recent: MutexGuard<'static, Recent>,
}

impl Alone {
    /// Waits until nobody else of this process is at a mask.
    pub(crate) fn wait() -> Alone {
        // Nothing is left half done by whoever panicked with it.
        Alone { recent: MASKS.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// [`get`].
    pub(crate) fn get(&self, tid: Tid) -> Result<CpuSet, KernelError> {
        read(tid)
    }

    /// [`set`].
    pub(crate) fn set(&self, tid: Tid, cpus: &CpuSet) -> Result<(), KernelError> {
        write(tid, cpus)
    }

    /// Notes a move that is about to be made.
    #[cfg_attr(not(feature = "sensor"), expect(dead_code, reason = "only the sensor moves"))]
    pub(crate) fn note(&mut self, moving: Moving) {
        self.recent.note(moving);
    }

    /// Whether a move may have left a mask to somebody: see [`Recent::may_have_left`].
    pub(crate) fn may_have_left(&self, mask: &CpuSet) -> bool {
        self.recent.may_have_left(mask)
    }

    /// Gives a child what its maker asked for, where its mask is of a move that its maker was in. Returns whether it was.
    ///
    /// # Errors
    /// As [`set`].
    pub(crate) fn mend(&self, child: &Child) -> Result<bool, KernelError> {
        self.recent.owed(child).map_or(Ok(false), |asked| write(child.tid, asked).map(|()| true))
    }

    /// The same for a child that the sensor's program names. One that has ended needs nothing.
    #[cfg_attr(not(feature = "sensor"), expect(dead_code, reason = "only the sensor moves"))]
    pub(crate) fn mend_heir(&self, maker: Tid, heir: Tid) {
        if let Ok(now) = read(heir)
            && let Some(asked) = self.recent.owed_by(maker, &now)
        {
            drop(write(heir, asked));
        }
    }
}

/// The CPUs on which the thread may run now: its own mask within its cpuset, online CPUs only. What it asked for
/// before a cpuset narrowed it cannot be read (the kernel remembers it since Linux 6.2).
///
/// # Errors
/// `ESRCH` where the thread has ended.
pub fn get(tid: Tid) -> Result<CpuSet, KernelError> {
    Alone::wait().get(tid)
}

fn read(tid: Tid) -> Result<CpuSet, KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::affinity(tid) {
        return played.map_err(|errno| KernelError::new(Object::Thread(tid), "sched_getaffinity", errno));
    }
    let mut words: SmallVec<[u64; FIRST_WORDS]> = smallvec![0; FIRST_WORDS];
    loop {
        // SAFETY: the kernel writes at most the given number of bytes, all of them inside `words`, which lives on.
        let written = unsafe {
            libc::syscall(libc::SYS_sched_getaffinity, tid.0, size_of_val(words.as_slice()), words.as_mut_ptr())
        };
        match Errno::result(written) {
            // It writes its own mask's length and no more; the rest are the zeros from above.
            Ok(_) => return Ok(CpuSet::from_words(words)),
            // The one cause of EINVAL: the buffer is shorter than the kernel's mask.
            Err(Errno::EINVAL) if words.len() < LAST_WORDS => words = smallvec![0; words.len() * 2],
            Err(errno) => return Err(KernelError::new(Object::Thread(tid), "sched_getaffinity", errno)),
        }
    }
}

/// Sets the CPUs on which the thread may run. The kernel takes the part inside the thread's cpuset and drops the rest
/// without a word, so a caller that cares reads back.
///
/// # Errors
/// `EINVAL` where nothing of the set is online and in the thread's cpuset, or for a kernel thread bound to its CPU;
/// `EPERM` without `CAP_SYS_NICE` on another user's thread; `EBUSY` for a deadline thread; `ESRCH` where it has ended.
pub fn set(tid: Tid, cpus: &CpuSet) -> Result<(), KernelError> {
    Alone::wait().set(tid, cpus)
}

fn write(tid: Tid, cpus: &CpuSet) -> Result<(), KernelError> {
    #[cfg(test)]
    if let Some(played) = crate::fake::set_affinity(tid, cpus) {
        let fail = |errno| KernelError::new(Object::Thread(tid), "sched_setaffinity", errno).with_value(cpus);
        return played.map_err(fail);
    }
    let words = cpus.words();
    // SAFETY: the kernel reads exactly the given number of bytes, all of them inside `words`; a short mask means zeros.
    let done = unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid.0, size_of_val(words), words.as_ptr()) };
    Errno::result(done)
        .map(drop)
        .map_err(|errno| KernelError::new(Object::Thread(tid), "sched_setaffinity", errno).with_value(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotenant_compiler::CpuId;

    #[test]
    fn a_mask_is_narrowed_and_put_back() {
        let tid = Tid::current();
        let before = get(tid).unwrap();
        let one: CpuSet = before.first().into_iter().collect();
        set(tid, &one).unwrap();
        assert_eq!(get(tid).unwrap(), one);
        set(tid, &before).unwrap();
        assert_eq!(get(tid).unwrap(), before);
    }

    #[test]
    fn cpus_past_the_c_librarys_limit_are_dropped_by_the_kernel_not_by_us() {
        let tid = Tid::current();
        let before = get(tid).unwrap();
        let mut more = before.clone();
        more.insert(CpuId(5_000));
        set(tid, &more).unwrap();
        assert_eq!(get(tid).unwrap(), before);
        let error = set(tid, &[CpuId(5_000)].into_iter().collect()).unwrap_err();
        assert_eq!(error.errno(), Errno::EINVAL);
        assert!(error.to_string().contains("`5000` on thread"), "{error}");
    }

    #[test]
    fn a_thread_that_is_not_there_is_gone() {
        assert!(get(Tid(i32::MAX)).unwrap_err().is_gone());
    }
}
