//! The groups that cotenant makes: one below its own, for each class that processes are moved into.
//!
//! On version 1 of control groups the cpuset tree belongs to nobody, so cotenant has `cotenant/CLASS` there, and the same
//! in the freezer's tree for classes that may have to stop. On version 2 nothing is made or moved: what the trees there
//! hold belongs to systemd or a container engine.

mod hindrance;
mod leftovers;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use crate::cgroup::{Group, Hierarchy, Magic, Version};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::member::Origin;
use crate::procfs::Cgroups;
use crate::roots::Roots;

/// The hierarchies of this host and cotenant's groups in them.
pub struct Ground {
    version: Option<Version>,
    cpuset: Option<Group>,
    freezer: Option<Group>,
    hindrance: Option<KernelError>,
    own: String,
    classes: BTreeMap<String, ClassGroup>,
}

/// The groups of one class.
struct ClassGroup {
    cpuset: Group,
    freezer: Option<Group>,
    /// As written last; what is written already is not written again.
    cpus: CpuSet,
    frozen: bool,
}

impl Ground {
    /// Looks at the hierarchies; makes nothing.
    ///
    /// # Errors
    /// Where a root group cannot be opened.
    pub fn open(roots: &Roots) -> Result<Ground, KernelError> {
        let hierarchy = Hierarchy::detect(&roots.cgroup, Magic::Check);
        let cpuset = hierarchy.cpuset_root()?;
        Ok(Ground {
            version: hierarchy.version(),
            hindrance: cpuset.as_ref().filter(|root| root.version() == Version::V1).and_then(hindrance::of),
            cpuset,
            freezer: hierarchy.freezer_root()?,
            own: roots.group.clone(),
            classes: BTreeMap::new(),
        })
    }

    /// The version of control groups that has CPU sets here.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether processes are moved into groups of cotenant's own on such a host.
    #[must_use]
    pub fn takes_moves(&self) -> bool {
        self.version == Some(Version::V1)
    }

    /// What keeps this process from doing so. What it moved when it still might is put back in any case.
    #[must_use]
    pub fn hindrance(&self) -> Option<&KernelError> {
        self.hindrance.as_ref()
    }

    /// Whether processes are moved here, by this process.
    #[must_use]
    pub fn may_move(&self) -> bool {
        self.takes_moves() && self.hindrance.is_none()
    }

    /// The process's group in the hierarchy with CPU sets, as a path from its root.
    #[must_use]
    pub fn path_of<'a>(&self, cgroups: &'a Cgroups) -> Option<&'a Path> {
        let path = match self.version? {
            Version::V1 => cgroups.controller("cpuset"),
            Version::V2 => cgroups.unified(),
        };
        path.map(|path| Path::new(std::ffi::OsStr::from_bytes(path)))
    }

    /// The process's group in the freezer's hierarchy.
    fn freezer_path_of(&self, cgroups: &Cgroups) -> Option<PathBuf> {
        let path = self.freezer.as_ref().and_then(|_| cgroups.controller("freezer"))?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
    }

    /// Whether a process is in one of cotenant's groups, in either tree.
    #[must_use]
    pub fn has_in_own(&self, cgroups: &Cgroups) -> bool {
        let freezer = self.freezer_path_of(cgroups).is_some_and(|path| self.is_own(&path));
        self.takes_moves() && (freezer || self.path_of(cgroups).is_some_and(|path| self.is_own(path)))
    }

    /// Whether a path from a hierarchy's root is one of cotenant's groups.
    #[must_use]
    pub fn is_own(&self, path: &Path) -> bool {
        path.strip_prefix("/").unwrap_or(path).starts_with(&self.own)
    }

    /// Opens the group at a path from the root of the hierarchy with CPU sets.
    ///
    /// # Errors
    /// `ENOENT` where it is gone or there is no such hierarchy.
    pub fn group_at(&self, path: &Path) -> Result<Group, KernelError> {
        open_below(self.cpuset.as_ref(), path)
    }

    fn cpus_at(&self, path: &Path, otherwise: &CpuSet) -> CpuSet {
        let group = self.group_at(path).and_then(|group| group.effective_cpus());
        group.ok().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| otherwise.clone())
    }

    /// The CPUs that the process's group gives it; all of `otherwise` where there are no CPU sets.
    #[must_use]
    pub fn cpus_of(&self, cgroups: &Cgroups, otherwise: &CpuSet) -> CpuSet {
        self.path_of(cgroups).map_or_else(|| otherwise.clone(), |path| self.cpus_at(path, otherwise))
    }

    /// Moves a process into the class's group, which is made if need be; `stops` says that the class may be frozen.
    ///
    /// # Errors
    /// As [`Group::add_process`] and [`Group::create_child`]; it may have been moved in one tree then.
    pub fn take_in(
        &mut self,
        pid: Pid,
        cgroups: &Cgroups,
        class: &str,
        cpus: &CpuSet,
        stops: bool,
    ) -> Result<(), KernelError> {
        self.class(class, cpus, stops)?;
        let Some(groups) = self.classes.get(class) else { return Ok(()) };
        groups.cpuset.add_process(pid)?;
        self.take_into_freezer(pid, cgroups, class, stops)
    }

    /// For a process that stays where it is: only the freezer's tree is concerned, where the class may be stopped.
    ///
    /// # Errors
    /// As [`Ground::take_in`].
    pub fn take_in_to_stop(
        &mut self,
        pid: Pid,
        cgroups: &Cgroups,
        class: &str,
        cpus: &CpuSet,
    ) -> Result<(), KernelError> {
        self.class(class, cpus, true)?;
        self.take_into_freezer(pid, cgroups, class, true)
    }

    fn take_into_freezer(&self, pid: Pid, cgroups: &Cgroups, class: &str, stops: bool) -> Result<(), KernelError> {
        let freezer = self.classes.get(class).and_then(|groups| groups.freezer.as_ref()).filter(|_| stops);
        // Out of the freezer group of another class in any case: it may be stopped, or stop later.
        match (freezer, self.freezer_path_of(cgroups)) {
            (Some(freezer), Some(path)) if path == Path::new("/") || self.is_own(&path) => freezer.add_process(pid),
            (None, Some(path)) if self.is_own(&path) => {
                self.freezer.as_ref().map_or(Ok(()), |root| root.add_process(pid))
            }
            _ => Ok(()),
        }
    }

    /// Whether a process is in the class's group and no other class's, and [`Ground::stops`] as it should.
    #[must_use]
    pub fn holds(&self, cgroups: &Cgroups, class: &str, stops: bool) -> bool {
        self.path_of(cgroups).is_some_and(|path| self.is_class(path, class)) && self.stops(cgroups, class, stops)
    }

    /// Whether a process is in the class's group of the freezer's tree where it `stops`, unless somebody else has it in a
    /// group there; and in no other of cotenant's.
    #[must_use]
    pub fn stops(&self, cgroups: &Cgroups, class: &str, stops: bool) -> bool {
        // Version 2 freezes in the one tree it has.
        if !self.may_move() {
            return true;
        }
        match self.freezer_path_of(cgroups).as_deref() {
            Some(path) if stops => path != Path::new("/") && (self.is_class(path, class) || !self.is_own(path)),
            Some(path) => !self.is_own(path),
            None => true,
        }
    }

    fn is_class(&self, path: &Path, class: &str) -> bool {
        self.is_own(path) && path.file_name() == Some(std::ffi::OsStr::new(class))
    }

    /// Where a process is now, as what [`Ground::take_in`] will have to undo.
    #[must_use]
    pub fn origin(&self, cgroups: &Cgroups, stops: bool) -> Origin {
        let freezer = self.freezer_path_of(cgroups).filter(|path| stops && path == Path::new("/"));
        let own = |path: PathBuf| if self.is_own(&path) { PathBuf::from("/") } else { path };
        let cpuset = self.path_of(cgroups).map_or_else(|| PathBuf::from("/"), Path::to_owned);
        Origin { cpuset: own(cpuset), freezer: freezer.map(own) }
    }

    /// Moves a process back where it came from, out of those of cotenant's groups that it is still in: where somebody else
    /// moved it on, it is theirs. To the root where that group is gone.
    ///
    /// # Errors
    /// As [`Group::add_process`].
    pub fn give_back(&self, pid: Pid, cgroups: &Cgroups, origin: &Origin) -> Result<(), KernelError> {
        let back = |root: Option<&Group>, path: &Path| match open_below(root, path) {
            Ok(group) => group.add_process(pid),
            Err(error) if error.errno() == Errno::ENOENT => open_below(root, Path::new("/"))?.add_process(pid),
            Err(error) => Err(error),
        };
        // Out of the freezer first: a frozen process could not be moved on by anybody else.
        if self.freezer_path_of(cgroups).is_some_and(|path| self.is_own(&path)) {
            back(self.freezer.as_ref(), origin.freezer.as_deref().unwrap_or(Path::new("/")))?;
        }
        if self.path_of(cgroups).is_some_and(|path| self.is_own(path)) {
            back(self.cpuset.as_ref(), &origin.cpuset)?;
        }
        Ok(())
    }

    /// Gives the class's group these CPUs, where it has a group and others.
    ///
    /// # Errors
    /// As [`Group::set_cpus`]; `EIO` where the kernel took the value and shows another.
    pub fn set_cpus(&mut self, class: &str, cpus: &CpuSet) -> Result<(), KernelError> {
        let Some(groups) = self.classes.get_mut(class).filter(|groups| groups.cpus != *cpus) else { return Ok(()) };
        groups.cpuset.set_cpus(cpus)?;
        let stands = groups.cpuset.cpus()?;
        if stands != *cpus {
            let path = groups.cpuset.directory().join("cpuset.cpus");
            return Err(KernelError::file(path, "write", Errno::EIO).with_value(format!("{cpus} (stands at {stands})")));
        }
        groups.cpus = cpus.clone();
        Ok(())
    }

    /// Looks again at what cotenant's own groups have, because CPUs came or went: version 1 takes those that go out of every
    /// group but the root's, for good.
    ///
    /// # Errors
    /// As [`Group::cpus`] and [`Group::set_cpus`].
    pub fn renew(&mut self) -> Result<(), KernelError> {
        let Some(root) = self.cpuset.as_ref().filter(|_| !self.classes.is_empty()) else { return Ok(()) };
        root.child(&self.own)?.copy_cpuset_from(root)?;
        for groups in self.classes.values_mut() {
            groups.cpus = groups.cpuset.cpus()?;
        }
        Ok(())
    }

    /// Stops the class's group or lets it run. Returns false where the class cannot be stopped here.
    ///
    /// # Errors
    /// As [`Group::freeze`].
    pub fn set_frozen(&mut self, class: &str, frozen: bool) -> Result<bool, KernelError> {
        let Some(groups) = self.classes.get_mut(class) else { return Ok(false) };
        let Some(freezer) = &groups.freezer else { return Ok(false) };
        if groups.frozen != frozen {
            if frozen {
                freezer.freeze()?
            } else {
                freezer.thaw()?
            };
            groups.frozen = frozen;
        }
        Ok(true)
    }

    /// Processes in the class's groups, in either tree.
    ///
    /// # Errors
    /// As [`Group::procs`].
    pub fn residents(&self, class: &str) -> Result<Vec<Pid>, KernelError> {
        let Some(groups) = self.classes.get(class) else { return Ok(Vec::new()) };
        let mut residents = groups.cpuset.procs()?;
        if let Some(freezer) = &groups.freezer {
            residents.extend(freezer.procs()?);
        }
        residents.sort_unstable();
        residents.dedup();
        Ok(residents)
    }

    /// Gives the groups of all classes what there is, before everybody in them goes: a child whose fork was under way when its
    /// parent was moved to the root would keep the CPUs of the group as its own mask (`cpuset_fork` in
    /// `kernel/cgroup/cpuset.c`). What is refused is no worse than before.
    pub fn widen(&mut self) {
        let all = self.cpuset.as_ref().and_then(|root| root.child(&self.own).and_then(|own| own.cpus()).ok());
        for class in self.classes() {
            drop(all.as_ref().map(|all| self.set_cpus(&class, all)));
        }
    }

    /// The CPUs of a class's group, where it has one.
    #[must_use]
    pub fn cpus_of_class(&self, class: &str) -> Option<&CpuSet> {
        self.classes.get(class).map(|groups| &groups.cpus)
    }

    /// The classes that have groups.
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        self.classes.keys().cloned().collect()
    }

    /// Removes the groups of a class, which must be empty.
    ///
    /// # Errors
    /// As [`Group::remove`]; the groups are kept then.
    pub fn drop_class(&mut self, class: &str) -> Result<(), KernelError> {
        self.set_frozen(class, false)?;
        let Some(groups) = self.classes.remove(class) else { return Ok(()) };
        if let Err(error) = groups.cpuset.remove() {
            self.classes.insert(class.to_owned(), groups);
            return Err(error);
        }
        groups.freezer.map_or(Ok(()), |freezer| freezer.remove())
    }

    fn class(&mut self, class: &str, cpus: &CpuSet, stops: bool) -> Result<(), KernelError> {
        let known = self.classes.get(class).is_some_and(|groups| groups.freezer.is_some() || !stops);
        if known {
            return self.set_cpus(class, cpus);
        }
        let Some(root) = &self.cpuset else { return Ok(()) };
        let own = child_or_new(root, &self.own)?;
        own.copy_cpuset_from(root)?;
        let cpuset = child_or_new(&own, class)?;
        cpuset.set_mems(&own.mems()?)?;
        cpuset.set_cpus(cpus)?;
        let freezer = match self.freezer.as_ref().filter(|_| stops) {
            Some(root) => Some(child_or_new(&child_or_new(root, &self.own)?, class)?),
            None => None,
        };
        self.classes.insert(class.to_owned(), ClassGroup { cpuset, freezer, cpus: cpus.clone(), frozen: false });
        Ok(())
    }
}

fn open_below(root: Option<&Group>, path: &Path) -> Result<Group, KernelError> {
    // A path above the root is one of a group that is not seen here: see `Procfs::unseen_groups`.
    let Some(root) = root.filter(|_| !path.starts_with("/..")) else {
        return Err(KernelError::file(path, "open", Errno::ENOENT));
    };
    Group::open(root.directory().join(path.strip_prefix("/").unwrap_or(path)), root.version())
}

fn child_or_new(parent: &Group, name: &str) -> Result<Group, KernelError> {
    match parent.create_child(name) {
        Err(error) if error.errno() == Errno::EEXIST => parent.child(name),
        made => made,
    }
}
