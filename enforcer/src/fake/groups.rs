//! Control groups: `kernel/cgroup/cpuset.c`, `kernel/cgroup/cpuset-v1.c`, `kernel/cgroup/legacy_freezer.c`, cgroups(7).

use std::collections::BTreeMap;
use std::path::Path;

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use super::{Kernel, Task};
use crate::cgroup::Version;
use crate::ids::{Pid, Tid};

/// A hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tree {
    /// Version 1 with the cpuset controller, mounted at `cpuset`.
    Cpuset,
    /// Version 1 with the freezer controller, mounted at `freezer`.
    Freezer,
    /// Version 2, mounted at the root.
    Unified,
}

/// What one group's files hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    cpus: CpuSet,
    mems: String,
    is_frozen: bool,
}

/// Every group of every tree, by its path from the tree's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) version: Option<Version>,
    states: BTreeMap<(Tree, String), State>,
}

impl Groups {
    /// The root groups alone.
    pub(super) fn new(version: Option<Version>, cpus: &CpuSet) -> Groups {
        let trees: &[Tree] = match version {
            Some(Version::V1) => &[Tree::Cpuset, Tree::Freezer],
            Some(Version::V2) => &[Tree::Unified],
            None => &[],
        };
        let root = || State { cpus: cpus.clone(), mems: "0".to_owned(), is_frozen: false };
        Groups { version, states: trees.iter().map(|tree| ((*tree, "/".to_owned()), root())).collect() }
    }

    /// The CPUs that a group gives its threads.
    fn effective(&self, path: &str, all: &CpuSet) -> CpuSet {
        match self.version {
            None => all.clone(),
            Some(Version::V1) => {
                self.states.get(&(Tree::Cpuset, path.to_owned())).map_or_else(CpuSet::new, |it| it.cpus.clone())
            }
            Some(Version::V2) => {
                let Some(above) = above(path) else { return all.clone() };
                let above = self.effective(above, all);
                match self.states.get(&(Tree::Unified, path.to_owned())) {
                    Some(it) if it.cpus.intersects(&above) => it.cpus.intersection(&above),
                    _ => above,
                }
            }
        }
    }

    fn is_frozen(&self, tree: Tree, path: &str) -> bool {
        let own = self.states.get(&(tree, path.to_owned())).is_some_and(|it| it.is_frozen);
        own || above(path).is_some_and(|above| self.is_frozen(tree, above))
    }

    fn below<'a>(&'a self, tree: Tree, path: &'a str) -> impl Iterator<Item = &'a State> {
        self.states.iter().filter(move |((its, group), _)| *its == tree && above(group) == Some(path)).map(|(_, it)| it)
    }
}

/// The path of the group above; none above the root.
fn above(path: &str) -> Option<&str> {
    match path.rfind('/')? {
        _ if path == "/" => None,
        0 => Some("/"),
        end => path.get(..end),
    }
}

impl Kernel {
    pub(super) fn cpuset_of(&self, task: &Task) -> CpuSet {
        self.groups.effective(&task.cpuset, &self.cpus)
    }

    /// Whether a thread is stopped by its group.
    pub(crate) fn is_frozen(&self, tid: Tid) -> bool {
        self.task(tid).is_ok_and(|task| match self.groups.version {
            Some(Version::V1) => self.groups.is_frozen(Tree::Freezer, &task.freezer),
            Some(Version::V2) => self.groups.is_frozen(Tree::Unified, &task.cpuset),
            None => false,
        })
    }

    /// The tree and the path in it of a directory. A directory that is seen for the first time is a new group.
    fn locate(&mut self, directory: &Path) -> Option<(Tree, String)> {
        let below = directory.strip_prefix(self.mounts.join("cgroup")).ok()?.to_str()?;
        let (tree, path) = match self.groups.version? {
            Version::V2 => (Tree::Unified, below),
            Version::V1 => match below.split_once('/').unwrap_or((below, "")) {
                ("cpuset", path) => (Tree::Cpuset, path),
                ("freezer", path) => (Tree::Freezer, path),
                _ => return None,
            },
        };
        let key = (tree, format!("/{path}"));
        self.groups.states.entry(key.clone()).or_default();
        Some(key)
    }

    pub(crate) fn is_hierarchy(&mut self, path: &Path) -> bool {
        self.locate(path).is_some_and(|(_, path)| path == "/")
    }

    fn group_of<'a>(&self, tree: Tree, task: &'a Task) -> &'a str {
        if tree == Tree::Freezer { &task.freezer } else { &task.cpuset }
    }

    /// The threads in a group, those that have ended and were not waited for among them.
    fn inside(&self, tree: Tree, path: &str) -> Vec<Tid> {
        self.tasks.iter().filter(|(_, task)| self.group_of(tree, task) == path).map(|(tid, _)| *tid).collect()
    }

    pub(crate) fn has_group_file(&mut self, directory: &Path, file: &str) -> Option<bool> {
        let (tree, path) = self.locate(directory)?;
        Some(self.show(tree, &path, file).is_some())
    }

    pub(crate) fn read_group(&mut self, directory: &Path, file: &str) -> Option<Result<String, Errno>> {
        let (tree, path) = self.locate(directory)?;
        Some(self.show(tree, &path, file).ok_or(Errno::ENOENT))
    }

    /// A file's content; none where the group has no such file.
    fn show(&self, tree: Tree, path: &str, file: &str) -> Option<String> {
        let state = self.groups.states.get(&(tree, path.to_owned()))?;
        let lines = |ids: Vec<i32>| ids.iter().map(|id| format!("{id}\n")).collect::<String>();
        let is_root = path == "/";
        Some(match (tree, file) {
            (Tree::Cpuset, "cpuset.cpus") => format!("{}\n", state.cpus),
            (Tree::Unified, "cpuset.cpus") if !is_root => format!("{}\n", state.cpus),
            (Tree::Cpuset, "cpuset.mems") => format!("{}\n", state.mems),
            (Tree::Cpuset, "cpuset.effective_cpus") | (Tree::Unified, "cpuset.cpus.effective") => {
                format!("{}\n", self.groups.effective(path, &self.cpus))
            }
            (Tree::Freezer, "freezer.state") if !is_root => {
                String::from(if self.groups.is_frozen(tree, path) { "FROZEN\n" } else { "THAWED\n" })
            }
            (Tree::Unified, "cgroup.freeze") if !is_root => format!("{}\n", u8::from(state.is_frozen)),
            (Tree::Unified, "cgroup.events") if !is_root => {
                format!("populated 1\nfrozen {}\n", u8::from(self.groups.is_frozen(tree, path)))
            }
            (_, "cgroup.procs") => {
                let mut pids: Vec<i32> = Vec::new();
                for tid in self.inside(tree, path) {
                    let pid = self.tasks.get(&tid)?.process;
                    if !self.is_over(pid) && !pids.contains(&pid.0) {
                        pids.push(pid.0);
                    }
                }
                lines(pids)
            }
            (Tree::Cpuset | Tree::Freezer, "tasks") | (Tree::Unified, "cgroup.threads") => {
                let lives = |tid: &Tid| self.tasks.get(tid).is_some_and(|task| !task.is_zombie);
                lines(self.inside(tree, path).into_iter().filter(lives).map(|tid| tid.0).collect())
            }
            _ => return None,
        })
    }

    pub(crate) fn write_group(&mut self, directory: &Path, file: &str, value: &str) -> Option<Result<(), Errno>> {
        let (tree, path) = self.locate(directory)?;
        if self.show(tree, &path, file).is_none() {
            return Some(Err(Errno::ENOENT));
        }
        self.story.push(format!("    {tree:?} {path}/{file} is written: {value}"));
        let id = || value.trim().parse().map_err(|_| Errno::EINVAL);
        Some(match file {
            "cpuset.cpus" => {
                value.trim().parse().map_err(|_| Errno::EINVAL).and_then(|cpus| self.set_cpus(tree, &path, cpus))
            }
            "cpuset.mems" => self.set_mems(&path, value.trim()),
            "cgroup.procs" => id().and_then(|id| self.attach(tree, &path, Tid(id), true)),
            "tasks" | "cgroup.threads" => id().and_then(|id| self.attach(tree, &path, Tid(id), false)),
            "freezer.state" | "cgroup.freeze" => match value {
                "FROZEN" | "1" => self.freeze(tree, path, true),
                "THAWED" | "0" => self.freeze(tree, path, false),
                _ => Err(Errno::EINVAL),
            },
            _ => Err(Errno::EACCES),
        })
    }

    fn freeze(&mut self, tree: Tree, path: String, frozen: bool) -> Result<(), Errno> {
        self.groups.states.get_mut(&(tree, path)).ok_or(Errno::ENODEV)?.is_frozen = frozen;
        Ok(())
    }

    fn set_cpus(&mut self, tree: Tree, path: &str, cpus: CpuSet) -> Result<(), Errno> {
        let above = above(path).ok_or(Errno::EACCES)?;
        let above = self.groups.states.get(&(tree, above.to_owned())).map(|it| it.cpus.clone()).unwrap_or_default();
        let now = self.groups.states.get(&(tree, path.to_owned())).map(|it| it.cpus.clone()).unwrap_or_default();
        if cpus == now {
            return Ok(());
        }
        if !cpus.is_subset(&self.cpus) && tree == Tree::Cpuset {
            return Err(Errno::EINVAL);
        }
        if tree == Tree::Cpuset {
            if self.groups.below(tree, path).any(|child| !child.cpus.is_subset(&cpus)) {
                return Err(Errno::EBUSY);
            }
            if !cpus.is_subset(&above) {
                return Err(Errno::EACCES);
            }
        }
        let inside = self.inside(tree, path);
        if cpus.is_empty() && inside.iter().any(|tid| self.tasks.get(tid).is_some_and(|task| !task.is_zombie)) {
            return Err(Errno::ENOSPC);
        }
        self.groups.states.get_mut(&(tree, path.to_owned())).ok_or(Errno::ENODEV)?.cpus = cpus;
        // On version 2 the groups below may have got others, too; elsewhere this changes nothing.
        let prefix = format!("{path}/");
        let below: Vec<Tid> =
            self.tasks.iter().filter(|(_, task)| task.cpuset.starts_with(&prefix)).map(|(tid, _)| *tid).collect();
        inside.into_iter().chain(below).for_each(|tid| self.within_cpuset(tid));
        Ok(())
    }

    fn set_mems(&mut self, path: &str, mems: &str) -> Result<(), Errno> {
        if above(path).is_none() {
            return Err(Errno::EACCES);
        }
        self.groups.states.get_mut(&(Tree::Cpuset, path.to_owned())).ok_or(Errno::ENODEV)?.mems = mems.to_owned();
        Ok(())
    }

    /// Moves a thread, or the whole process it is of, with a leader that has ended while others live.
    pub(crate) fn attach(&mut self, tree: Tree, path: &str, tid: Tid, whole: bool) -> Result<(), Errno> {
        let process = self.task(tid)?.process;
        let threads = match whole {
            true if self.is_over(process) => Vec::new(),
            true => self.threads_of(process),
            false => vec![tid],
        };
        let elsewhere = |tid: &Tid| self.tasks.get(tid).is_some_and(|task| self.group_of(tree, task) != path);
        let moved: Vec<Tid> = threads.into_iter().filter(elsewhere).collect();
        let state = self.groups.states.get(&(tree, path.to_owned())).ok_or(Errno::ENODEV)?;
        if tree == Tree::Cpuset && !moved.is_empty() && (state.cpus.is_empty() || state.mems.is_empty()) {
            return Err(Errno::ENOSPC);
        }
        for tid in moved {
            let task = self.task_mut(tid)?;
            match tree {
                Tree::Freezer => task.freezer = path.to_owned(),
                Tree::Cpuset | Tree::Unified => task.cpuset = path.to_owned(),
            }
            self.within_cpuset(tid);
        }
        Ok(())
    }

    /// Puts a process into a group of its tree with CPU sets, as somebody else would; nothing where it has none.
    pub(crate) fn put_into(&mut self, path: &str, pid: Pid) -> Result<(), Errno> {
        let tree = match self.groups.version {
            Some(Version::V1) => Tree::Cpuset,
            Some(Version::V2) => Tree::Unified,
            None => return Ok(()),
        };
        self.attach(tree, path, pid.leader(), true)
    }

    /// Makes a group that is there from the start, with these CPUs.
    pub(crate) fn furnish(&mut self, path: &str, cpus: &CpuSet) {
        let tree = match self.groups.version {
            Some(Version::V1) => Tree::Cpuset,
            Some(Version::V2) => Tree::Unified,
            None => return,
        };
        let state = State { cpus: cpus.clone(), mems: "0".to_owned(), is_frozen: false };
        self.groups.states.insert((tree, path.to_owned()), state);
    }

    pub(crate) fn remove_group(&mut self, directory: &Path) -> Option<Result<(), Errno>> {
        let (tree, path) = self.locate(directory)?;
        let lives = |tid: &Tid| self.tasks.get(tid).is_some_and(|task| !task.is_zombie);
        let is_busy = self.inside(tree, &path).iter().any(lives) || self.groups.below(tree, &path).next().is_some();
        if is_busy {
            return Some(Err(Errno::EBUSY));
        }
        // What ended there is shown in the root from now on.
        self.groups.states.remove(&(tree, path));
        Some(Ok(()))
    }

    /// What every group that is not the enforcer's gives its threads, and whether it is frozen.
    pub(crate) fn foreign_groups(&self, own: &str) -> Vec<(String, CpuSet, bool)> {
        let others = self.groups.states.iter().filter(|((_, path), _)| !path.starts_with(own));
        others
            .map(|((tree, path), it)| {
                let cpus = match tree {
                    Tree::Freezer => CpuSet::new(),
                    _ => self.groups.effective(path, &self.cpus),
                };
                (format!("{tree:?}:{path}"), cpus, it.is_frozen)
            })
            .collect()
    }
}
