//! Trees of ordinary files: which file is read, and what is made of its text.

use std::fs;
use std::path::Path;

use nix::errno::Errno;

use super::super::*;
use crate::ids::{Pid, Tid};

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    tree
}

fn detect(root: &Path) -> Hierarchy {
    Hierarchy::detect(root, Magic::Trust)
}

#[test]
fn every_layout_is_known() {
    let split = tree(&[("cpuset/cpuset.cpus", "0-1"), ("cpuset/tasks", ""), ("freezer/tasks", "")]);
    let (cpuset, freezer) = (split.path().join("cpuset"), split.path().join("freezer"));
    assert_eq!(detect(split.path()), Hierarchy::V1 { cpuset: cpuset.clone(), freezer: Some(freezer) });
    assert_eq!(detect(&cpuset), Hierarchy::V1 { cpuset, freezer: None });

    let unified = tree(&[("cgroup.controllers", "cpuset cpu io\n")]);
    assert_eq!(detect(unified.path()), Hierarchy::V2 { root: unified.path().to_owned() });
    let hybrid = tree(&[("cpu/tasks", ""), ("unified/cgroup.controllers", "cpuset\n")]);
    assert_eq!(detect(hybrid.path()), Hierarchy::V2 { root: hybrid.path().join("unified") });

    let without = tree(&[("cgroup.controllers", "cpu io cpusets\n"), ("cpuset/tasks", "")]);
    assert_eq!(detect(without.path()), Hierarchy::None);
    assert!(detect(without.path()).cpuset_root().unwrap().is_none());
}

#[test]
fn ordinary_directories_do_not_pass_for_control_groups() {
    let files = tree(&[("cpuset/cpuset.cpus", "0"), ("cpuset/tasks", ""), ("cgroup.controllers", "cpuset")]);
    assert_eq!(Hierarchy::detect(files.path(), Magic::Check), Hierarchy::None);
}

#[test]
fn each_version_has_its_own_files() {
    let v1 = tree(&[
        ("cpuset.cpus", "0-3\n"),
        ("cpuset.effective_cpus", "0-2\n"),
        ("cpuset.mems", "0-1\n"),
        ("cgroup.procs", "9\n7\n9\n0\n"),
        ("tasks", "9\n8\n7\n"),
        ("freezer.state", "FREEZING\n"),
        ("b/tasks", ""),
        ("a/tasks", ""),
    ]);
    let group = Group::open(v1.path(), Version::V1).unwrap();
    assert!(group.has_cpuset());
    assert_eq!(group.cpus().unwrap().to_string(), "0-3");
    assert_eq!(group.effective_cpus().unwrap().to_string(), "0-2");
    assert_eq!(group.mems().unwrap(), MemoryNodes("0-1".to_owned()));
    assert_eq!(group.procs().unwrap(), [Pid(7), Pid(9)]);
    assert_eq!(group.threads().unwrap(), [Tid(7), Tid(8), Tid(9)]);
    assert_eq!(group.freezer_state().unwrap(), FreezerState::Freezing);
    assert_eq!(group.children().unwrap(), ["a", "b"]);

    let v2 = tree(&[
        ("cpuset.cpus", "\n"),
        ("cpuset.cpus.effective", "0-7\n"),
        ("cgroup.threads", "5\n"),
        ("cgroup.freeze", "1\n"),
        ("cgroup.events", "populated 1\nfrozen 0\n"),
    ]);
    let group = Group::open(v2.path(), Version::V2).unwrap();
    assert!(group.cpus().unwrap().is_empty());
    assert_eq!(group.effective_cpus().unwrap().to_string(), "0-7");
    assert_eq!(group.threads().unwrap(), [Tid(5)]);
    assert_eq!(group.freezer_state().unwrap(), FreezerState::Freezing);
}

#[test]
fn no_file_is_made_by_writing() {
    let empty = tree(&[]);
    let group = Group::open(empty.path(), Version::V1).unwrap();
    assert!(!group.has_cpuset());
    let error = group.set_cpus(&"0-3".parse().unwrap()).unwrap_err();
    assert_eq!((error.errno(), error.operation(), error.value()), (Errno::ENOENT, "open", Some("0-3")));
    assert!(!error.is_gone());
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn nonsense_is_reported_with_its_text() {
    let bad = tree(&[("cpuset.cpus", "many\n")]);
    let error = Group::open(bad.path(), Version::V1).unwrap().cpus().unwrap_err();
    assert!(error.to_string().starts_with("cannot parse `many` from "), "{error}");
}

#[test]
fn names_stay_inside_the_group() {
    let empty = tree(&[]);
    let group = Group::open(empty.path(), Version::V1).unwrap();
    for name in ["", ".", "..", "../x", "a/b", "/x", "a/"] {
        assert_eq!(group.create_child(name).unwrap_err().errno(), Errno::EINVAL, "{name}");
    }
}

#[test]
fn nobody_is_moved_by_a_number_that_is_no_process() {
    let v1 = tree(&[("cgroup.procs", ""), ("tasks", "")]);
    let group = Group::open(v1.path(), Version::V1).unwrap();
    assert_eq!(group.add_process(Pid(0)).unwrap_err().errno(), Errno::EINVAL);
    assert_eq!(group.add_thread(Tid(-1)).unwrap_err().errno(), Errno::EINVAL);
}
