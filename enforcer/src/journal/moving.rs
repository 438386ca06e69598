//! The one thread whose mask is not its own at this moment, on disk, so that a daemon that is killed while it moves a thread
//! leaves it narrowed no longer than until the next start; and the last moves before, of which somebody made in the middle of
//! one may still have the mask ([`crate::moves`]).
//!
//! A move takes some tens of microseconds and there may be thousands a second, so it is no record of the journal's but a file
//! of its own that is mapped, and saying it costs no system call. What was stored before a kill is in the file.

use std::fs::OpenOptions;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use cotenant_compiler::CpuSet;

use crate::error::{KernelError, errno_of};
use crate::ids::{Pid, Tid};
use crate::moves::{Child, Moving};
use crate::procfs::{CLOCK_TICK, Procfs};
use crate::sys::affinity;
use crate::sys::mapping::{Mapping, store};

/// 64-bit words of a mask of CPUs, as many as a sensor can tell apart.
const WORDS: usize = 16;

/// Moves in the file. A child that was made in the middle of an older one has long been seen to.
const CELLS: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// What a cell's other fields say.
mod state {
    /// Of a move that is over.
    pub(super) const DONE: u32 = 1;
    /// Of the one under way.
    pub(super) const UNDER_WAY: u32 = 2;
}

/// The file is an array of these.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Cell {
    /// [`state`]; 0 where the rest says nothing.
    state: AtomicU32,
    tid: AtomicU32,
    process: AtomicU32,
    pad: AtomicU32,
    born: AtomicU64,
    since: AtomicU64,
    /// Ids mean nothing after a reboot.
    boot: [AtomicU64; 2],
    asked: [AtomicU64; WORDS],
    to: [AtomicU64; WORDS],
}

/// The file, mapped.
pub struct MovingFile {
    cells: Mapping<Cell>,
    /// The cell of the last move.
    at: AtomicUsize,
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
        file.set_len((size_of::<Cell>() * CELLS.get()) as u64).map_err(fail)?;
    }
    let length = usize::try_from(file.metadata().map_err(fail)?.len()).unwrap_or(0);
    Mapping::new(&file, CELLS, length).map_err(|errno| KernelError::file(path, "mmap", errno))
}

impl MovingFile {
    /// Makes the file in the run directory anew, where it stays until [`mend`]. What an earlier run left must be mended before.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn create(run: &Path, procfs: &Procfs) -> Result<MovingFile, KernelError> {
        Ok(MovingFile { cells: map(&path_in(run), true)?, at: AtomicUsize::new(0), boot: boot_id(procfs)? })
    }

    fn cell(&self) -> &Cell {
        let at = self.at.load(Relaxed) % CELLS;
        self.cells.all().get(at).unwrap_or(self.cells.first())
    }

    /// Says what is about to be done.
    pub fn begin(&self, moving: &Moving) {
        self.at.fetch_add(1, Relaxed);
        let cell = self.cell();
        cell.state.store(0, SeqCst);
        cell.tid.store(moving.tid.0.unsigned_abs(), Relaxed);
        cell.process.store(moving.process.0.unsigned_abs(), Relaxed);
        cell.born.store(moving.born, Relaxed);
        cell.since.store(moving.since, Relaxed);
        cell.boot.iter().zip(halves(self.boot)).for_each(|(word, half)| word.store(half, Relaxed));
        store(&cell.asked, &moving.asked);
        store(&cell.to, &moving.to);
        cell.state.store(state::UNDER_WAY, SeqCst);
    }

    /// Says that it is done.
    pub fn end(&self) {
        self.cell().state.store(state::DONE, SeqCst);
    }
}

/// Gives a thread its mask back that an earlier run of this boot was moving when it was killed, and those that were made in
/// the middle of its last moves the mask that they should have had; then removes the file. Returns who was given one.
///
/// # Errors
/// As [`affinity::set`].
pub fn mend(run: &Path, procfs: &Procfs) -> Result<Vec<Tid>, KernelError> {
    let path = path_in(run);
    // One that is not there or is too short was never used.
    let Ok(cells) = map(&path, false) else { return Ok(Vec::new()) };
    let boot = boot_id(procfs)?;
    let moves: Vec<(u32, Moving)> = cells.all().iter().filter_map(|cell| read(cell, boot)).collect();
    let mut mended = Vec::new();
    for (_, moving) in moves.iter().filter(|(state, _)| *state == state::UNDER_WAY) {
        if give_back(procfs, moving)? {
            mended.push(moving.tid);
        }
    }
    if !moves.is_empty() {
        for child in procfs.processes().unwrap_or_default().into_iter().flat_map(|pid| children(procfs, pid, &moves)) {
            let Some((_, moving)) = moves.iter().rev().find(|(_, moving)| moving.made(&child)) else { continue };
            if write(child.tid, &moving.asked)? {
                mended.push(child.tid);
            }
        }
    }
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(KernelError::file(&path, "unlink", errno_of(&error)))
        }
        _ => Ok(mended),
    }
}

/// The move and its state, where there is one of this boot.
fn read(cell: &Cell, boot: u128) -> Option<(u32, Moving)> {
    let words = |words: &[AtomicU64]| words.iter().map(|word| word.load(Relaxed)).collect::<Vec<u64>>();
    let state = cell.state.load(SeqCst);
    let holds = matches!(state, state::DONE | state::UNDER_WAY) && words(&cell.boot) == halves(boot);
    let moving = Moving {
        process: Pid(i32::try_from(cell.process.load(Relaxed)).ok()?),
        tid: Tid(i32::try_from(cell.tid.load(Relaxed)).ok()?),
        born: cell.born.load(Relaxed),
        since: cell.since.load(Relaxed),
        asked: CpuSet::from_words(words(&cell.asked)),
        to: CpuSet::from_words(words(&cell.to)),
    };
    holds.then_some((state, moving))
}

/// Threads of a process that one of these moves may concern: the process was moved, or its parent was.
fn children(procfs: &Procfs, pid: Pid, moves: &[(u32, Moving)]) -> Vec<Child> {
    let Ok(stat) = procfs.stat(pid) else { return Vec::new() };
    if !moves.iter().any(|(_, moving)| moving.process == pid || moving.process == stat.parent) {
        return Vec::new();
    }
    let child = |tid: Tid| {
        let start = procfs.thread_stat(pid, tid).ok()?.start;
        Some(Child { tid, process: pid, parent: stat.parent, start, mask: affinity::get(tid).ok()? })
    };
    procfs.threads(pid).unwrap_or_default().into_iter().filter_map(child).collect()
}

/// Whether there was something to give back.
fn give_back(procfs: &Procfs, moving: &Moving) -> Result<bool, KernelError> {
    let Ok(stat) = procfs.thread_stat(Pid(moving.tid.0), moving.tid) else { return Ok(false) };
    // A mask that is not the one which moved it is the thread's or somebody else's, set since.
    let narrowed = affinity::get(moving.tid).is_ok_and(|now| now.is_subset(&moving.to));
    if stat.start != moving.born / CLOCK_TICK || !narrowed {
        return Ok(false);
    }
    write(moving.tid, &moving.asked)
}

/// Whether there was anybody to write to.
fn write(tid: Tid, mask: &CpuSet) -> Result<bool, KernelError> {
    match affinity::set(tid, mask) {
        Err(error) if !error.is_gone() => Err(error),
        done => Ok(done.is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Family;

    fn moving() -> Moving {
        let tid = Tid::current();
        let procfs = Procfs::new(Path::new("/proc"));
        let start = procfs.thread_stat(Pid(tid.0), tid).unwrap().start;
        let own = affinity::get(tid).unwrap();
        let to = own.first().into_iter().collect();
        Moving { process: Pid::current(), tid, born: start * CLOCK_TICK + 5, since: u64::MAX, asked: own, to }
    }

    #[test]
    fn a_thread_caught_in_a_move_gets_its_mask_back_and_one_that_was_not_keeps_its_own() {
        let (run, procfs) = (tempfile::tempdir().unwrap(), Procfs::new(Path::new("/proc")));
        let it = moving();
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&it);
        affinity::set(it.tid, &it.to).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), [it.tid]);
        assert_eq!(affinity::get(it.tid).unwrap(), it.asked);
        assert_eq!(mend(run.path(), &procfs).unwrap(), [], "once");
        // Not what moved it, another thread of the same id, a move that ended, another boot.
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&Moving { to: "1000".parse().unwrap(), ..it.clone() });
        assert_eq!(mend(run.path(), &procfs).unwrap(), []);
        affinity::set(it.tid, &it.to).unwrap();
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&Moving { born: it.born + CLOCK_TICK, ..it.clone() });
        assert_eq!(mend(run.path(), &procfs).unwrap(), []);
        let file = MovingFile::create(run.path(), &procfs).unwrap();
        file.begin(&it);
        file.end();
        assert_eq!(mend(run.path(), &procfs).unwrap(), []);
        let mut file = MovingFile::create(run.path(), &procfs).unwrap();
        file.boot += 1;
        file.begin(&it);
        assert_eq!(mend(run.path(), &procfs).unwrap(), []);
        assert_eq!(affinity::get(it.tid).unwrap(), it.to);
        affinity::set(it.tid, &it.asked).unwrap();
    }

    #[test]
    fn who_was_made_in_the_middle_of_a_move_gets_what_its_maker_asked_for() {
        let (run, procfs) = (tempfile::tempdir().unwrap(), Procfs::new(Path::new("/proc")));
        let all = affinity::get(Tid::current()).unwrap();
        let to: CpuSet = all.first().into_iter().collect();
        let family = Family::start(&to);
        let (shell, child) = (family.shell(), family.child());
        let start = |tid: Tid| procfs.thread_stat(Pid(tid.0), tid).unwrap().start;
        let it = Moving {
            process: Pid(shell.0),
            tid: shell,
            born: start(shell) * CLOCK_TICK,
            since: start(child) * CLOCK_TICK,
            asked: all.clone(),
            to: to.clone(),
        };
        let mend_after = |moves: &[Moving]| {
            let file = MovingFile::create(run.path(), &procfs).unwrap();
            for moving in moves {
                file.begin(moving);
                file.end();
            }
            mend(run.path(), &procfs).unwrap()
        };
        // Not of a move that began when it was there; not of one that was forgotten after many others.
        let later = Moving { since: (start(child) + 1) * CLOCK_TICK, ..it.clone() };
        let mut many = vec![later; CELLS.get()];
        assert_eq!(mend_after(&many), []);
        many.insert(0, it.clone());
        assert_eq!(mend_after(&many), []);
        assert_eq!(affinity::get(child).unwrap(), to);
        many.pop();
        assert_eq!(mend_after(&many), [child]);
        assert_eq!((affinity::get(child).unwrap(), affinity::get(shell).unwrap()), (all, to));
    }
}
