//! Groups by their paths on the host, told from inside a cgroup namespace.
//!
//! The kernel gives a group's path from the root of the reader's cgroup namespace, and begins it with `/..` for each level
//! above that (cgroup_namespaces(7)). Container engines give a container a namespace of its own on version 2, and there is no
//! way to ask Kubernetes for the host's. From there every other pod's group is `/../../…`, and what a policy says of slices
//! and paths would match by chance. So the root of the namespace is looked for in the host's trees, as they are mounted
//! here: it is above the group that has this process.

use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::cgroup::Cgroups;
use super::{Membership, Procfs, number};
use crate::error::KernelError;
use crate::ids::Pid;

/// What `/proc/PID/ns/cgroup` is of a process in the host's namespace: `PROC_CGROUP_INIT_INO` in
/// `include/linux/proc_ns.h`.
const OF_THE_HOST: &str = "cgroup:[4026531835]";

/// Where this program's cgroup namespace begins in each hierarchy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Namespace {
    /// The root of the namespace as a path on the host, with the controllers of its hierarchy.
    roots: Vec<Membership>,
}

impl Namespace {
    /// Looks for it in the trees below `mounted`, usually `/sys/fs/cgroup`. In the host's own namespace there is nothing to
    /// do, and where the trees show no more than the namespace, nothing that can be done.
    pub(super) fn find(procfs: &Procfs, mounted: &Path) -> Namespace {
        let is_the_hosts = std::fs::read_link(procfs.root.join("self/ns/cgroup"))
            .is_ok_and(|namespace| namespace == Path::new(OF_THE_HOST));
        let own = if is_the_hosts { None } else { procfs.cgroups(Pid::current()).ok() };
        let roots = own.unwrap_or_default().0.into_iter().filter_map(|own| root(own, mounted)).collect();
        Namespace { roots }
    }

    /// The same groups by their paths on the host.
    pub(super) fn on_the_host(&self, mut cgroups: Cgroups) -> Cgroups {
        for group in &mut cgroups.0 {
            if let Some(root) = self.roots.iter().find(|root| root.controllers == group.controllers) {
                group.path = joined(&root.path, &group.path);
            }
        }
        cgroups
    }
}

impl Procfs {
    /// What is missing where groups outside this program's namespace have no path: the trees in `mounted` show no more than
    /// the namespace. Asked of the first process of all, which is in no container.
    #[must_use]
    pub fn unseen_groups(&self, mounted: &Path) -> Option<KernelError> {
        let groups = self.cgroups(Pid(1)).ok()?;
        let is_outside = |group: &Membership| group.path.starts_with(b"/..");
        groups.0.iter().any(is_outside).then(|| KernelError::file(mounted, "find the host's groups in", Errno::ENOENT))
    }
}

/// The root of the namespace in one hierarchy, where it is not the hierarchy's.
fn root(own: Membership, mounted: &Path) -> Option<Membership> {
    let tree = tree(mounted, &own.controllers)?;
    let group = with_process(&tree, Pid::current())?;
    let found = Path::new("/").join(group.strip_prefix(&tree).ok()?);
    // At the root of its namespace a process is in `/`, which ends no other path.
    let below = if own.path == b"/" { &[][..] } else { own.path.as_slice() };
    let root = found.as_os_str().as_encoded_bytes().strip_suffix(below)?;
    let root = Some(root.to_vec()).filter(|root| !matches!(root.as_slice(), b"" | b"/"))?;
    Some(Membership { path: root, ..own })
}

/// Where a hierarchy may be mounted: version 2 at the top or in `unified`, version 1 under its controllers' names.
fn tree(mounted: &Path, controllers: &[String]) -> Option<PathBuf> {
    let places = match controllers {
        [] => vec![mounted.to_owned(), mounted.join("unified")],
        names => vec![mounted.join(names.join(",").trim_start_matches("name="))],
    };
    // Where version 1 is mounted, what is above the hierarchies is none.
    places.into_iter().find(|place| place.join("cgroup.procs").exists())
}

/// The group below `tree` that has this process, which only the host's tree or one above the process shows.
fn with_process(tree: &Path, pid: Pid) -> Option<PathBuf> {
    let mut left = vec![tree.to_owned()];
    while let Some(group) = left.pop() {
        // Threaded groups answer EOPNOTSUPP; no container is in one.
        let members = std::fs::read(group.join("cgroup.procs")).unwrap_or_default();
        if members.split(|byte| *byte == b'\n').any(|line| number(line) == Some(pid.0)) {
            return Some(group);
        }
        let entries = std::fs::read_dir(&group).into_iter().flatten().flatten();
        left.extend(entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()));
    }
    None
}

/// `path` followed from `root`, each `..` at its beginning one level up.
fn joined(root: &[u8], path: &[u8]) -> Vec<u8> {
    let parts = |path| <[u8]>::split(path, |byte| *byte == b'/').filter(|part: &&[u8]| !part.is_empty());
    let mut all: Vec<&[u8]> = parts(root).collect();
    for part in parts(path) {
        match part {
            b".." => drop(all.pop()),
            part => all.push(part),
        }
    }
    [b"/", all.join(&b'/').as_slice()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_followed_from_the_root_of_the_namespace() {
        let root = b"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-1.scope";
        for (seen, host) in [
            ("/", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-1.scope"),
            (
                "/../../kubepods-burstable-pod2.slice/cri-containerd-2.scope",
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2.slice/cri-containerd-2.scope",
            ),
            ("/../../../../system.slice/ssh.service", "/system.slice/ssh.service"),
            ("/../../../..", "/"),
            ("/../../../../../..", "/"),
        ] {
            assert_eq!(String::from_utf8(joined(root, seen.as_bytes())).unwrap(), host);
        }
    }

    /// A directory that looks like a tree of groups, in which this process is in `/pods/mine`, and a `/proc` that shows
    /// `own` as its group, seen from another namespace than the host's.
    fn host(own: &str) -> (tempfile::TempDir, Procfs) {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for group in ["tree", "tree/pods", "tree/pods/other", "tree/pods/mine"] {
            std::fs::create_dir(at(group)).unwrap();
            std::fs::write(at(group).join("cgroup.procs"), "").unwrap();
        }
        std::fs::write(at("tree/cgroup.procs"), "1\n").unwrap();
        std::fs::write(at("tree/pods/mine/cgroup.procs"), format!("7\n{}\n", Pid::current())).unwrap();
        std::fs::create_dir_all(at("proc/self/ns")).unwrap();
        std::os::unix::fs::symlink("cgroup:[4026532999]", at("proc/self/ns/cgroup")).unwrap();
        for (pid, group) in [(Pid::current(), own), (Pid(4_194_304), "/../other"), (Pid(1), "/../..")] {
            std::fs::create_dir(at("proc").join(pid.to_string())).unwrap();
            std::fs::write(at("proc").join(pid.to_string()).join("cgroup"), format!("0::{group}\n")).unwrap();
        }
        let procfs = Procfs::new(at("proc"));
        (directory, procfs)
    }

    #[test]
    fn the_root_of_the_namespace_is_found_in_the_hosts_tree() {
        let (directory, procfs) = host("/");
        let seen = |procfs: &Procfs, pid| procfs.cgroups(pid).unwrap().unified().unwrap().to_vec();
        let tree = directory.path().join("tree");
        assert_eq!(seen(&procfs, Pid(4_194_304)), b"/../other");
        let said = procfs.unseen_groups(&tree).unwrap().to_string();
        assert!(said.contains("cannot find the host's groups in") && said.contains("--cgroupns host"), "{said}");
        let procfs = procfs.with_groups_of(&tree);
        assert_eq!(procfs.unseen_groups(&tree), None);
        assert_eq!(seen(&procfs, Pid(4_194_304)), b"/pods/other");
        assert_eq!(seen(&procfs, Pid::current()), b"/pods/mine");
    }

    #[test]
    fn version_2_beside_version_1_is_looked_for_in_its_own_tree() {
        let (directory, procfs) = host("/");
        let at = |path: &str| directory.path().join(path);
        std::fs::create_dir_all(at("mounts/cpu/batch")).unwrap();
        for group in ["cpu", "cpu/batch"] {
            std::fs::write(at("mounts").join(group).join("cgroup.procs"), format!("{}\n", Pid::current())).unwrap();
        }
        std::fs::rename(at("tree"), at("mounts/unified")).unwrap();
        let procfs = procfs.with_groups_of(&at("mounts"));
        assert_eq!(procfs.cgroups(Pid(4_194_304)).unwrap().unified(), Some(&b"/pods/other"[..]));
    }

    #[test]
    fn a_namespace_that_begins_at_the_top_changes_nothing() {
        let (directory, procfs) = host("/pods/mine");
        let found = procfs.clone().with_groups_of(&directory.path().join("tree"));
        assert_eq!(found, procfs);
        // Nor does one whose host's tree is not there.
        let (_directory, procfs) = host("/");
        let nowhere = procfs.clone().with_groups_of(&directory.path().join("tree/pods/other"));
        assert_eq!(nowhere, procfs);
    }
}
