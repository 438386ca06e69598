//! `plan --diff`: what a change of a policy moves.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::common::{Ran, cotenant, finish, run, run_with};

const MACHINE: &str = "--topology=core:4 pu:2";
const OLD: &str = "class web: match unit nginx.service, on cores 0-1;\nclass db: match exe postgres;\n";
const NEW: &str = "class web: match unit nginx.service, on cores 1-2, nice -5;\nbatch class b: match slice b.slice, only when core idle;\n";

fn compare(old: &str, new: &str, options: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (old, new) = (file("old.policy", old), file("new.policy", new));
    run(&[&["plan", MACHINE, "--diff", &old], options, &[&new]].concat())
}

#[test]
fn a_change_is_told_in_words() {
    let diff = compare(OLD, NEW, &[]);
    assert_eq!((diff.code, diff.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(diff.stdout, @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class added, 1 class changed, 1 class removed.

    - **added** batch class `b`
      - processes: `slice b.slice`
      - CPUs: 0-7
      - runs: only when core idle
      - scheduling: SCHED_IDLE
    - **changed** fair class `web`
      - CPUs: 0-3 → 2-5 (gains 4-5, loses 0-1)
      - scheduling: unchanged → nice -5
    - **removed** fair class `db`
      - processes: `exe postgres`
      - CPUs: 0-7
      - scheduling: unchanged
    ");
    let same = compare(OLD, OLD, &[]);
    assert_eq!(same.code, Some(0));
    assert!(same.stdout.ends_with("Nothing changes: every class gets what it had.\n"), "{}", same.stdout);
}

#[test]
fn a_change_is_a_document() {
    let diff = compare(OLD, NEW, &["--format", "json"]);
    let diff: serde_json::Value = serde_json::from_str(&diff.stdout).unwrap();
    assert_eq!(diff["schema_version"], 1);
    assert_eq!(diff["added"][0]["name"], "b");
    assert_eq!(diff["removed"][0]["name"], "db");
    assert_eq!(
        diff["changed"][0]["changes"][0],
        serde_json::json!({ "what": "CPUs", "before": "0-3", "after": "2-5", "note": "gains 4-5, loses 0-1" })
    );
}

#[test]
fn other_requirements_and_settings_are_part_of_the_document() {
    let with = |host: &str| format!("{host} {OLD}");
    let (old, new) = (with("require: linux 5.14;"), with("require: linux 6.12; kernel: autogroup off;"));
    let diff = compare(&old, &new, &["--format", "json"]);
    let diff: serde_json::Value = serde_json::from_str(&diff.stdout).unwrap();
    let linux = serde_json::json!([{ "what": "linux", "before": "5.14", "after": "6.12", "note": null }]);
    let autogroup = serde_json::json!([{ "what": "autogroup", "before": null, "after": "off", "note": null }]);
    assert_eq!(
        (&diff["requirements"], &diff["kernel"], &diff["changed"]),
        (&linux, &autogroup, &serde_json::json!([]))
    );
}

/// A run directory in which somebody answers once, what any daemon but one of this version might.
fn answering(answer: &'static [u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join("control.sock")).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        stream.read_to_string(&mut request).unwrap();
        assert_eq!(request, "policy");
        stream.write_all(answer).unwrap();
    });
    folder
}

fn against_enforced(folder: &Path, more: &[&str]) -> Ran {
    let run_dir = folder.display().to_string();
    let arguments = [&["plan", "--diff", "enforced", "--run-dir", &run_dir], more, &["-"]].concat();
    let mut ran = run_with(&arguments, NEW.as_bytes());
    ran.stderr = ran.stderr.replace(&run_dir, "RUN");
    ran
}

#[test]
fn what_is_enforced_is_asked_of_a_daemon_that_can_say() {
    let nobody = against_enforced(tempfile::tempdir().unwrap().path(), &[]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        nobody.stderr,
        "error: nothing is enforced: no daemon answers in `RUN`\n\
         help: start one with `cotenant enforce PATH`, or name its directory with `--run-dir`\n"
    );
    let older = against_enforced(answering(b"").path(), &[]);
    assert_eq!((older.code, older.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        older.stderr,
        "error: the daemon of `RUN` does not say what it enforces\n\
         help: it may be of an older version: restart it with this one, or name the policy's files\n"
    );
    let cut_off = against_enforced(answering(b"{\"schema_version\":1,").path(), &[]);
    assert_eq!(cut_off.code, Some(2));
    assert!(
        cut_off.stderr.starts_with("error: the answer of the daemon of `RUN` cannot be read: EOF"),
        "{}",
        cut_off.stderr
    );
    let twice = against_enforced(Path::new("/nowhere"), &["--diff", "other.policy"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("a file of that name is `./enforced`"), "{}", twice.stderr);
}

#[test]
fn a_file_called_enforced_can_be_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("enforced"), OLD).unwrap();
    fs::write(folder.path().join("new.policy"), OLD).unwrap();
    let mut command = cotenant(&["plan", MACHINE, "--diff", "./enforced", "new.policy"]);
    let same = finish(command.current_dir(folder.path()));
    assert!(same.stdout.ends_with("Nothing changes: every class gets what it had.\n"), "{same:?}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let broken = compare("class a: nise 1;", NEW, &[]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""));
    assert!(broken.stderr.contains("error[unknown-clause]"), "{}", broken.stderr);
    assert!(broken.stderr.ends_with("nothing is compared with a policy that is refused\n"), "{}", broken.stderr);
    let picture = compare(OLD, NEW, &["--format", "svg"]);
    assert_eq!(picture.code, Some(2));
    assert!(picture.stderr.starts_with("error: a comparison cannot be shown as a picture\nhelp: "));
    let twice = run(&["plan", MACHINE, "-", "--diff", "-"]);
    assert_eq!(twice.stderr, "error: standard input is named twice\nhelp: write `-` once\n");
}
