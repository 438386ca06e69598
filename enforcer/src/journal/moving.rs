//! The one thread whose mask is not its own at this moment, on disk, so that a daemon that is killed while it moves a thread
//! leaves it narrowed no longer than until the next start.
//!
//! A move takes some tens of microseconds and there may be thousands a second, so it is no record of the journal's but a file
//! of its own that is mapped, and saying it costs no system call. What was stored before a kill is in the file.

use std::fs::OpenOptions;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

use cotenant_compiler::CpuSet;

use crate::error::{KernelError, errno_of};
use crate::ids::{Pid, Tid};
use crate::procfs::Procfs;
use crate::sys::affinity;
use crate::sys::mapping::{Mapping, store};

/// 64-bit words of a mask of CPUs, as many as a sensor can tell apart.
const WORDS: usize = 16;

/// Nanoseconds of a clock tick, in which `/proc` tells when a thread was started.
const CLOCK_TICK: u64 = 10_000_000;

/// The file's content.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Cell {
    /// Whether the rest holds.
    holds: AtomicU32,
    tid: AtomicU32,
    born: AtomicU64,
    /// Ids mean nothing after a reboot.
    boot: [AtomicU64; 2],
    asked: [AtomicU64; WORDS],
    to: [AtomicU64; WORDS],
}

/// A thread about to be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// The thread.
    pub tid: Tid,
    /// When it was started, in nanoseconds since boot.
    pub born: u64,
    /// The mask that it is to have again.
    pub asked: CpuSet,
    /// The mask that moves it.
    pub to: CpuSet,
}

/// The file, mapped.
pub struct MovingFile {
    path: PathBuf,
    cell: Mapping<Cell>,
    boot: u128,
}

fn path_in(run: &Path) -> PathBuf {
    run.join("moving")
}

/// The 128 bits of `/proc/sys/kernel/random/boot_id` (random(4)).
fn boot_id(procfs: &Procfs) -> Result<u128, KernelError> {
    let path = procfs.root().join("sys/kernel/random/boot_id");
    let text = std::fs::read_to_string(&path).map_err(|error| KernelError::file(&path, "read", errno_of(&error)))?;
    let digits = text.trim().replace('-', "");
    u128::from_str_radix(&digits, 16).map_err(|_| KernelError::unreadable(&path, text.as_bytes()))
}

fn halves(boot: u128) -> [u64; 2] {
    [(boot >> 64) as u64, boot as u64]
}

fn map(path: &Path, new: bool) -> Result<Mapping<Cell>, KernelError> {
    let fail = |error: std::io::Error| KernelError::file(path, "open", errno_of(&error));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(new).truncate(new).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path).map_err(fail)?;
    if new {
        file.set_len(size_of::<Cell>() as u64).map_err(fail)?;
    }
    let length = usize::try_from(file.metadata().map_err(fail)?.len()).unwrap_or(0);
    Mapping::new(&file, NonZeroUsize::MIN, length).map_err(|errno| KernelError::file(path, "mmap", errno))
}

impl MovingFile {
    /// Makes the file in the run directory anew. What an earlier run left must be mended before.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn create(run: &Path, procfs: &Procfs) -> Result<MovingFile, KernelError> {
        let path = path_in(run);
        Ok(MovingFile { cell: map(&path, true)?, boot: boot_id(procfs)?, path })
    }

    /// Says what is about to be done.
    pub fn begin(&self, moving: &Moving) {
        let cell = self.cell.first();
        cell.tid.store(moving.tid.0.unsigned_abs(), Relaxed);
        cell.born.store(moving.born, Relaxed);
        cell.boot.iter().zip(halves(self.boot)).for_each(|(word, half)| word.store(half, Relaxed));
        store(&cell.asked, &moving.asked);
        store(&cell.to, &moving.to);
        cell.holds.store(1, SeqCst);
    }

    /// Says that it is done.
    pub fn end(&self) {
        self.cell.first().holds.store(0, SeqCst);
    }
}

impl Drop for MovingFile {
    fn drop(&mut self) {
        // Where a move is under way after all, the next start needs it.
        if self.cell.first().holds.load(SeqCst) == 0 {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// Gives a thread its mask back that an earlier run of this boot was moving when it was killed, and removes the file.
///
/// # Errors
/// As [`affinity::set`].
pub fn mend(run: &Path, procfs: &Procfs) -> Result<Option<Tid>, KernelError> {
    let path = path_in(run);
    // One that is not there or is too short was never used.
    let Ok(cell) = map(&path, false) else { return Ok(None) };
    let mended = match read(cell.first(), boot_id(procfs)?) {
        Some(moving) => give_back(procfs, &moving)?.then_some(moving.tid),
        None => None,
    };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(KernelError::file(&path, "unlink", errno_of(&error)))
        }
        _ => Ok(mended),
    }
}

/// The move, where there is one of this boot.
fn read(cell: &Cell, boot: u128) -> Option<Moving> {
    let words = |words: &[AtomicU64]| words.iter().map(|word| word.load(Relaxed)).collect::<Vec<u64>>();
    let holds = cell.holds.load(SeqCst) == 1 && words(&cell.boot) == halves(boot);
    holds.then_some(Moving {
        tid: Tid(i32::try_from(cell.tid.load(Relaxed)).ok()?),
        born: cell.born.load(Relaxed),
        asked: CpuSet::from_words(words(&cell.asked)),
        to: CpuSet::from_words(words(&cell.to)),
    })
}

/// Whether there was something to give back.
fn give_back(procfs: &Procfs, moving: &Moving) -> Result<bool, KernelError> {
    let Ok(stat) = procfs.thread_stat(Pid(moving.tid.0), moving.tid) else { return Ok(false) };
    // A mask that is not the one which moved it is the thread's or somebody else's, set since.
    let narrowed = affinity::get(moving.tid).is_ok_and(|now| now.is_subset(&moving.to));
    if stat.start != moving.born / CLOCK_TICK || !narrowed {
        return Ok(false);
    }
    match affinity::set(moving.tid, &moving.asked) {
        Err(error) if !error.is_gone() => Err(error),
        done => Ok(done.is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving() -> Moving {
        let tid = Tid::current();
        let procfs = Procfs::new(Path::new("/proc"));
        let start = procfs.thread_stat(Pid(tid.0), tid).unwrap().start;
        let own = affinity::get(tid).unwrap();
        let to = own.first().into_iter().collect();
        Moving { tid, born: start * CLOCK_TICK + 5, asked: own, to }
    }

    #[test]
    fn a_thread_caught_in_a_move_gets_its_mask_back_and_one_that_was_not_keeps_its_own() {
        let (run, procfs) = (tempfile::tempdir().unwrap(), Procfs::new(Path::new("/proc")));
        let it = moving();
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&it);
        affinity::set(it.tid, &it.to).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), Some(it.tid));
        assert_eq!(affinity::get(it.tid).unwrap(), it.asked);
        assert_eq!(mend(run.path(), &procfs).unwrap(), None, "once");
        // Not what moved it, another thread of the same id, a move that ended, another boot.
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&Moving { to: "1000".parse().unwrap(), ..it.clone() });
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        affinity::set(it.tid, &it.to).unwrap();
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&Moving { born: it.born + CLOCK_TICK, ..it.clone() });
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&it);
        file.end();
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        let mut file = MovingFile::create(run.path(), &procfs).unwrap();
        file.boot += 1;
        file.begin(&it);
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        assert_eq!(affinity::get(it.tid).unwrap(), it.to);
        affinity::set(it.tid, &it.asked).unwrap();
    }
}
