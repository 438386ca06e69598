//! `fmt` changes files, and must never harm one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use crate::common::{Ran, run, run_with};

const UNTIDY: &str = "rt class web: prefer idle core,push equal prio # why\n;batch: only when core idle";
const TIDY: &str = "rt class web:\n    prefer idle core,\n    push equal prio;  # why\n\nbatch: only when core idle;\n";
const BROKEN: &str = "rt class web: prefre idle core";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn fmt(&self, options: &[&str]) -> Ran {
        run(&[&["fmt"], options, &[self.0.path().to_str().unwrap()]].concat())
    }

    /// What stands in the folder afterwards; nothing temporary may be left.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_file_is_rewritten_with_its_mode_and_owner() {
    let folder = Folder::new();
    let path = folder.file("a.policy", UNTIDY);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // Only root may give files away; for others the owner stays without further ado.
    let _ = std::os::unix::fs::chown(&path, Some(1234), Some(2345));
    let before = path.metadata().unwrap();
    let fmt = folder.fmt(&[]);
    assert_eq!((fmt.code, fmt.stdout.as_str(), fmt.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(fs::read_to_string(&path).unwrap(), TIDY);
    let after = path.metadata().unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_eq!(folder.names(), ["a.policy"]);
}

#[test]
fn a_file_that_is_laid_out_is_not_touched() {
    let folder = Folder::new();
    let path = folder.file("a.policy", TIDY);
    let before = path.metadata().unwrap();
    assert_eq!(folder.fmt(&[]).code, Some(0));
    let after = path.metadata().unwrap();
    assert_eq!((after.ino(), after.ctime_nsec()), (before.ino(), before.ctime_nsec()));
}

#[test]
fn a_link_stays_a_link() {
    let folder = Folder::new();
    let path = folder.file("real.txt", UNTIDY);
    symlink("real.txt", folder.0.path().join("a.policy")).unwrap();
    assert_eq!(folder.fmt(&[]).code, Some(0));
    assert_eq!(fs::read_to_string(path).unwrap(), TIDY);
    assert!(folder.0.path().join("a.policy").is_symlink());
    assert_eq!(folder.names(), ["a.policy", "real.txt"]);
}

#[test]
fn check_lists_what_would_change_and_changes_nothing() {
    let folder = Folder::new();
    let (untidy, _) = (folder.file("b.policy", UNTIDY), folder.file("a.policy", TIDY));
    let check = folder.fmt(&["--check"]);
    assert_eq!((check.code, check.stdout), (Some(1), format!("{}\n", untidy.display())));
    assert_eq!(fs::read_to_string(untidy).unwrap(), UNTIDY);
    folder.fmt(&[]);
    let check = folder.fmt(&["--check"]);
    assert_eq!((check.code, check.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_broken_file_is_reported_and_left_alone_while_others_are_done() {
    let folder = Folder::new();
    let (broken, untidy) = (folder.file("a.policy", BROKEN), folder.file("b.policy", UNTIDY));
    let fmt = folder.fmt(&[]);
    assert_eq!(fmt.code, Some(1));
    assert!(fmt.stderr.contains("error[unknown-clause]"), "{}", fmt.stderr);
    assert!(fmt.stderr.ends_with("1 error in 1 file, left as it is\n"), "{}", fmt.stderr);
    assert_eq!(fs::read_to_string(broken).unwrap(), BROKEN);
    assert_eq!(fs::read_to_string(untidy).unwrap(), TIDY);
}

#[test]
fn standard_input_is_filtered() {
    let fmt = run_with(&["fmt", "-"], UNTIDY.as_bytes());
    assert_eq!((fmt.code, fmt.stdout.as_str(), fmt.stderr.as_str()), (Some(0), TIDY, ""));
    let fmt = run_with(&["fmt", "-"], TIDY.as_bytes());
    assert_eq!((fmt.code, fmt.stdout.as_str()), (Some(0), TIDY), "a filter always writes");
    let fmt = run_with(&["fmt", "-"], BROKEN.as_bytes());
    assert_eq!((fmt.code, fmt.stdout.as_str()), (Some(1), ""));
    let check = run_with(&["fmt", "--check", "-"], UNTIDY.as_bytes());
    assert_eq!((check.code, check.stdout.as_str()), (Some(1), "<stdin>\n"));
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let fmt = run_with(&["fmt", "/dev/stdin"], UNTIDY.as_bytes());
    assert_eq!(fmt.code, Some(2));
    insta::assert_snapshot!(fmt.stderr, @r"
    error: cannot rewrite `/dev/stdin`: No such file or directory (os error 2)
    help: run as its owner, with a directory that may be written; or pipe it through `cotenant fmt -`
    ");
}
