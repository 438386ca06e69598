//! The one thread whose mask is not its own at this moment, on disk, so that a daemon that is killed while it moves a thread
//! leaves it narrowed no longer than until the next start.
//!
//! A move takes some tens of microseconds and there may be thousands a second, so it is no record of the journal's: a line of
//! a file of its own, written over the one before and made void by its first byte. A line is far shorter than a page, so a
//! kill leaves all of it or the one before.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;

use crate::error::{KernelError, errno_of};
use crate::ids::Tid;
use crate::procfs::Procfs;
use crate::sys::affinity;

/// A line begins with this while it holds.
const HOLDS: &str = "moving";

/// Nanoseconds of a clock tick, in which `/proc` tells when a thread was started.
const CLOCK_TICK: u64 = 10_000_000;

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

/// The file.
pub struct MovingFile {
    path: PathBuf,
    file: File,
    boot: String,
}

fn path_in(run: &Path) -> PathBuf {
    run.join("moving")
}

fn boot_id(procfs: &Procfs) -> Result<String, KernelError> {
    let path = procfs.root().join("sys/kernel/random/boot_id");
    let text = std::fs::read_to_string(&path).map_err(|error| KernelError::file(&path, "read", errno_of(&error)))?;
    Ok(text.trim().to_owned())
}

impl MovingFile {
    /// Opens the file in the run directory, made if need be. What an earlier run left must be mended before.
    ///
    /// # Errors
    /// Where it cannot be made or written.
    pub fn open(run: &Path, procfs: &Procfs) -> Result<MovingFile, KernelError> {
        let path = path_in(run);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(&path);
        let file = file.map_err(|error| KernelError::file(&path, "open", errno_of(&error)))?;
        Ok(MovingFile { file, boot: boot_id(procfs)?, path })
    }

    /// Says what is about to be done.
    ///
    /// # Errors
    /// Where it cannot be written; then nothing may be done.
    pub fn begin(&self, moving: &Moving) -> Result<(), KernelError> {
        let Moving { tid, born, asked, to } = moving;
        let line = format!("{HOLDS} tid={tid} born={born} asked={asked} to={to} boot={}\n", self.boot);
        self.write(line.as_bytes())
    }

    /// Says that it is done.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn end(&self) -> Result<(), KernelError> {
        self.write(b"-")
    }

    fn write(&self, bytes: &[u8]) -> Result<(), KernelError> {
        self.file.write_all_at(bytes, 0).map_err(|error| KernelError::file(&self.path, "write", errno_of(&error)))
    }
}

/// Gives a thread its mask back that an earlier run of this boot was moving when it was killed, and removes the file.
///
/// # Errors
/// As [`affinity::set`].
pub fn mend(run: &Path, procfs: &Procfs) -> Result<Option<Tid>, KernelError> {
    let path = path_in(run);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let mended = match parse(&text, &boot_id(procfs)?) {
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

/// Whether there was something to give back.
fn give_back(procfs: &Procfs, moving: &Moving) -> Result<bool, KernelError> {
    let Ok(stat) = procfs.thread_stat(crate::ids::Pid(moving.tid.0), moving.tid) else { return Ok(false) };
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

/// The line, where it holds and is of this boot. What is behind its end is of an earlier, longer one.
fn parse(text: &str, boot: &str) -> Option<Moving> {
    let (line, _) = text.split_once('\n')?;
    let mut words = line.split(' ');
    if words.next() != Some(HOLDS) {
        return None;
    }
    let mut value = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
    let tid = Tid(value("tid")?.parse().ok()?);
    let (born, asked, to) = (value("born")?.parse().ok()?, value("asked")?.parse().ok()?, value("to")?.parse().ok()?);
    (value("boot")? == boot).then_some(Moving { tid, born, asked, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving() -> Moving {
        let tid = Tid::current();
        let procfs = Procfs::new(Path::new("/proc"));
        let start = procfs.thread_stat(crate::ids::Pid(tid.0), tid).unwrap().start;
        let own = affinity::get(tid).unwrap();
        let to = own.first().into_iter().collect();
        Moving { tid, born: start * CLOCK_TICK + 5, asked: own, to }
    }

    #[test]
    fn a_thread_caught_in_a_move_gets_its_mask_back_and_one_that_was_not_keeps_its_own() {
        let (run, procfs) = (tempfile::tempdir().unwrap(), Procfs::new(Path::new("/proc")));
        let it = moving();
        let file = MovingFile::open(run.path(), &procfs).unwrap();
        file.begin(&it).unwrap();
        affinity::set(it.tid, &it.to).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), Some(it.tid));
        assert_eq!(affinity::get(it.tid).unwrap(), it.asked);
        assert_eq!(mend(run.path(), &procfs).unwrap(), None, "once");
        // Not what moved it, another thread of the same id, a move that ended, another boot.
        let file = MovingFile::open(run.path(), &procfs).unwrap();
        file.begin(&Moving { to: "60000".parse().unwrap(), ..it.clone() }).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        affinity::set(it.tid, &it.to).unwrap();
        let file = MovingFile::open(run.path(), &procfs).unwrap();
        file.begin(&Moving { born: it.born + CLOCK_TICK, ..it.clone() }).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        let file = MovingFile::open(run.path(), &procfs).unwrap();
        file.begin(&it).unwrap();
        file.end().unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        let mut file = MovingFile::open(run.path(), &procfs).unwrap();
        file.boot = "another".to_owned();
        file.begin(&it).unwrap();
        assert_eq!(mend(run.path(), &procfs).unwrap(), None);
        assert_eq!(affinity::get(it.tid).unwrap(), it.to);
        affinity::set(it.tid, &it.asked).unwrap();
    }

    #[test]
    fn half_a_line_says_nothing() {
        let it = moving();
        let line = format!("moving tid={} born={} asked=0-7 to=2-3 boot=b", it.tid, it.born);
        for end in 0..line.len() {
            assert_eq!(parse(&line[..end], "b"), None);
        }
        assert!(parse(&format!("{line}\nrest of a longer one\n"), "b").is_some());
    }
}
