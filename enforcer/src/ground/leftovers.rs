//! Groups that an earlier run left behind, and the end of all of them.

use nix::errno::Errno;

use super::{ClassGroup, Ground};
use crate::cgroup::Group;
use crate::error::KernelError;

impl Ground {
    /// Opens groups that an earlier run left behind, so that they can be emptied and removed.
    ///
    /// # Errors
    /// As [`Group::children`].
    pub fn adopt_leftovers(&mut self) -> Result<(), KernelError> {
        if !self.takes_moves() {
            return Ok(());
        }
        let own = |root: &Option<Group>| root.as_ref().and_then(|root| root.child(&self.own).ok());
        let (cpuset, freezer) = (own(&self.cpuset), own(&self.freezer));
        for name in cpuset.iter().map(Group::children).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
            let class = name.to_string_lossy().into_owned();
            if self.classes.contains_key(&class) {
                continue;
            }
            let Some(Ok(cpuset)) = cpuset.as_ref().map(|own| own.child(&name)) else { continue };
            let freezer = freezer.as_ref().and_then(|freezer| freezer.child(&name).ok());
            let (cpus, frozen) = (cpuset.cpus()?, freezer.is_some());
            self.classes.insert(class, ClassGroup { cpuset, freezer, cpus, frozen });
        }
        // Of two groups one may be gone already, if the run ended between their removals.
        for name in freezer.iter().map(Group::children).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
            if self.classes.contains_key(&*name.to_string_lossy()) {
                continue;
            }
            if let (Some(Ok(lone)), Some(root)) = (freezer.as_ref().map(|own| own.child(&name)), &self.freezer) {
                lone.thaw()?;
                lone.procs()?.into_iter().try_for_each(|pid| root.add_process(pid))?;
                lone.remove()?;
            }
        }
        Ok(())
    }

    /// Removes cotenant's own groups, where nothing is left in them.
    ///
    /// # Errors
    /// As [`Group::remove`].
    pub fn clear(&mut self) -> Result<(), KernelError> {
        if !self.takes_moves() {
            return Ok(());
        }
        for root in [&self.cpuset, &self.freezer].into_iter().flatten() {
            match root.child(&self.own) {
                Ok(own) => own.remove()?,
                Err(error) if error.errno() == Errno::ENOENT => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
