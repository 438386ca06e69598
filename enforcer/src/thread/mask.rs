//! A thread's own mask: what it asked for, what it was given, and the way back.

use cotenant_compiler::CpuSet;
use cotenant_grammar::tree::LinuxVersion;
use nix::errno::Errno;

use crate::error::{KernelError, Object};
use crate::ids::{Pid, Tid};
use crate::moves::Child;
use crate::procfs::Procfs;
use crate::sys::affinity::{self, Alone};
use crate::thread::Touched;

/// The CPUs a thread asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mask {
    /// All that its cpuset gives, now and later.
    Any,
    /// These. The kernel tells only the effective mask, so CPUs that its cpuset withheld at that moment are missing; in the
    /// root cpuset those that were offline are not.
    Only(CpuSet),
}

impl Mask {
    /// Reads what a thread asked for that has a mask of nobody else's making. `cpuset` is what its cpuset gives it. One that
    /// has the mask of a move, in the middle of which it was made, is given its maker's first.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub(super) fn read(procfs: &Procfs, tid: Tid, cpuset: &CpuSet) -> Result<Mask, KernelError> {
        let alone = Alone::wait();
        let now = alone.get(tid)?;
        if cpuset.is_subset(&now) || is_mended(procfs, tid, &alone, now)? && cpuset.is_subset(&alone.get(tid)?) {
            return Ok(Mask::Any);
        }
        // sched_getaffinity(2) leaves out what is offline, and a thread that got such a mask back would be kept off those CPUs
        // for good. The status does not; that of every thread is found by its id.
        Ok(Mask::Only(procfs.status(Pid(tid.0))?.cpus))
    }
}

impl Touched {
    /// Notes the mask that the thread shall have of its own, and gives what must be written for it.
    pub(super) fn intend_mask(
        &mut self,
        tid: Tid,
        cpus: Option<&CpuSet>,
        cpuset: &CpuSet,
    ) -> Result<Option<CpuSet>, KernelError> {
        let Some(cpus) = cpus else { return Ok(None) };
        let now = affinity::get(tid)?;
        if self.is_theirs(&now, cpuset) {
            return Ok(None);
        }
        // A mask beyond the cpuset stands as the part inside it. One that differs from what was written only in CPUs that are
        // offline would differ in fact when they are back.
        let holds = match &self.wrote.cpus {
            Some(wrote) => wrote == cpus && (now == *cpus || now == cpus.intersection(cpuset)),
            None => now == *cpus,
        };
        // A mask that was right by itself is not ours to put back. The kernel tells it without CPUs that are offline, so a
        // mask read and written again would be narrower than it was.
        if !holds || self.wrote.cpus.is_some() {
            self.wrote.cpus = Some(cpus.clone());
        }
        Ok((!holds).then(|| cpus.clone()))
    }

    /// Whether a mask is of somebody else's making. Where none was written and it is all of the cpuset, it may be that the
    /// kernel forgot the thread's own, as those before 6.2 do.
    fn is_theirs(&self, now: &CpuSet, cpuset: &CpuSet) -> bool {
        match &self.wrote.cpus {
            Some(wrote) => !stands(now, wrote, cpuset),
            None => self.shows(now, cpuset).is_none() && now != cpuset,
        }
    }

    /// Whether somebody else has set another mask than was written.
    pub(super) fn has_another_mask(&self, tid: Tid, cpuset: &CpuSet) -> Result<bool, KernelError> {
        let Some(wrote) = &self.wrote.cpus else { return Ok(false) };
        Ok(!stands(&affinity::get(tid)?, wrote, cpuset))
    }

    /// Takes what somebody else set meanwhile for what the thread was, before another class places it.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn yield_mask(&mut self, procfs: &Procfs, tid: Tid, cpuset: &CpuSet) -> Result<(), KernelError> {
        if self.is_theirs(&affinity::get(tid)?, cpuset) {
            let former = self.clone();
            self.wrote.cpus = None;
            self.before.mask = Mask::read(procfs, tid, cpuset)?;
            self.keep(&former);
        }
        Ok(())
    }

    /// Takes note of what the kernel did when CPUs went offline: a thread with none left has lost its mask and got all of
    /// its cpuset or more, and before Linux 6.2 each whose cpuset changed has. It is nobody's wish, so the mask is written again.
    /// Returns whether there is one to write.
    ///
    /// # Errors
    /// `ESRCH` where the thread has ended.
    pub fn renew_mask(&mut self, tid: Tid, cpuset: &CpuSet) -> Result<bool, KernelError> {
        let Some(wrote) = &self.wrote.cpus else { return Ok(false) };
        let forgot = cpuset.is_subset(&affinity::get(tid)?) && !cpuset.is_subset(wrote);
        if forgot {
            self.wrote.cpus = None;
        }
        Ok(forgot)
    }

    /// Undoes the mask, where it still stands as written; the thread must be back in the cpuset it came from. What it cannot
    /// have while CPUs are offline is noted as written, so that it is undone once more when they are not.
    ///
    /// # Errors
    /// As [`affinity::set`].
    pub fn restore_mask(&mut self, procfs: &Procfs, tid: Tid, room: &Room<'_>) -> Result<(), KernelError> {
        let wrote = self.wrote.cpus.take();
        let now = affinity::get(tid)?;
        let before = match &self.before.mask {
            Mask::Any => room.possible,
            Mask::Only(cpus) => cpus,
        };
        let ours = match &wrote {
            Some(wrote) => stands(&now, wrote, room.cpuset),
            None => room.forgets && now == *room.cpuset && now != before.intersection(room.cpuset),
        };
        if !ours {
            return Ok(());
        }
        match affinity::set(tid, before) {
            // The kernel lets a thread run anywhere none of whose CPUs is online.
            Err(error) if error.errno() == Errno::EINVAL && before.is_subset(room.offline) => {
                affinity::set(tid, room.possible).inspect_err(|_| self.wrote.cpus = wrote)?;
                self.wrote.cpus = Some(room.possible.clone());
                return Ok(());
            }
            done => done.inspect_err(|_| self.wrote.cpus = wrote)?,
        }
        // Before Linux 6.3 the kernel forgets those of a new mask that are offline.
        let lacking = before.intersection(room.offline);
        if !lacking.is_empty() && !lacking.is_subset(&procfs.status(Pid(tid.0))?.cpus) {
            self.wrote.cpus = Some(affinity::get(tid)?);
        }
        Ok(())
    }
}

/// Whether the thread's mask was of a move, and is not any more.
fn is_mended(procfs: &Procfs, tid: Tid, alone: &Alone, mask: CpuSet) -> Result<bool, KernelError> {
    if !alone.may_have_left(&mask) {
        return Ok(false);
    }
    // Of every thread, found by its id, both tell of its process.
    let (process, stat) = (procfs.status(Pid(tid.0))?.process, procfs.thread_stat(Pid(tid.0), tid)?);
    alone.mend(&Child { tid, process, parent: stat.parent, start: stat.start, mask })
}

/// The CPUs that a thread can have at this moment.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// Every CPU there can be.
    pub possible: &'a CpuSet,
    /// What its cpuset gives it.
    pub cpuset: &'a CpuSet,
    /// What its cpuset would give it as well if it was online, and does not by itself when it is.
    pub offline: &'a CpuSet,
    /// Whether the kernel forgets a thread's own mask when its cpuset changes, and leaves it with all of the cpuset
    /// ([`forgets_masks`]).
    pub forgets: bool,
}

/// Whether the running kernel forgets a thread's own mask when its cpuset changes, as all did before Linux 6.2
/// (kernel/sched/core.c, `user_cpus_ptr`). One that cannot be told is taken to remember.
#[must_use]
pub fn forgets_masks(procfs: &Procfs) -> bool {
    let linux = procfs.linux_version();
    linux.major > 0 && linux < LinuxVersion { major: 6, minor: 2 }
}

/// Whether a thread with this mask still has the one that was written: all of it, the part inside its cpuset, or what the
/// kernel gives where no part is inside.
pub(super) fn stands(now: &CpuSet, wrote: &CpuSet, cpuset: &CpuSet) -> bool {
    now == wrote || *now == wrote.intersection(cpuset) || !wrote.intersects(cpuset) && cpuset.is_subset(now)
}

/// Writes a mask and reads it back.
pub(super) fn write_mask(tid: Tid, cpus: &CpuSet) -> Result<(), KernelError> {
    affinity::set(tid, cpus)?;
    let stands = affinity::get(tid)?;
    // The cpuset may be narrower than what was asked for; nothing outside may be left.
    match stands.is_subset(cpus) {
        true => Ok(()),
        false => {
            let error = KernelError::new(Object::Thread(tid), "sched_setaffinity", Errno::EIO);
            Err(error.with_value(format!("{cpus} (stands at {stands})")))
        }
    }
}
