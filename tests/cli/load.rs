//! What paths may name, and what is said where they name nothing of use.

use std::fs;

use crate::common::{run, run_with};

const MACHINE: &str = "--topology=core:4 pu:2";

/// Lints a path and returns what was said about it, with the folder's name taken out.
fn refused(folder: &tempfile::TempDir, path: &str) -> String {
    let path = folder.path().join(path);
    let lint = run(&["lint", MACHINE, path.to_str().unwrap()]);
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(2), ""), "{}", lint.stderr);
    lint.stderr.replace(folder.path().to_str().unwrap(), "")
}

#[test]
fn every_path_of_no_use_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("empty/README"), "no policy").unwrap();
    fs::write(at("empty/.#web.policy"), "an editor's lock").unwrap();
    fs::write(at("latin1.policy"), b"# gr\xf6\xdfe\nclass a: nice 1;").unwrap();
    fs::create_dir(at("nested")).unwrap();
    fs::create_dir(at("nested/a.policy")).unwrap();
    fs::create_dir(at("dangling")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling/a.policy")).unwrap();
    insta::assert_snapshot!(refused(&folder, "web.policy"), @r"
    error: no policy at `/web.policy`: no such file or directory
    help: name a `.policy` file, a directory that holds some, or `-` for standard input
    ");
    insta::assert_snapshot!(refused(&folder, "empty"), @r"
    error: no policy in directory `/empty`: it has no `*.policy` file
    help: put a file such as `web.policy` into it, or name another directory
    ");
    insta::assert_snapshot!(refused(&folder, "latin1.policy"), @r"
    error: `/latin1.policy` is not UTF-8: see byte 4, on line 1
    help: policies are UTF-8 text; convert it, as with `iconv -f latin1 -t utf-8`
    ");
    insta::assert_snapshot!(refused(&folder, "nested"), @r"
    error: cannot read `/nested/a.policy`: Is a directory (os error 21)
    help: a directory inside a policy directory is not followed; rename it
    ");
    insta::assert_snapshot!(refused(&folder, "dangling"), @r"
    error: no policy at `/dangling/a.policy`: no such file or directory
    help: name a `.policy` file, a directory that holds some, or `-` for standard input
    ");
}

#[test]
fn what_may_not_be_read_is_said_to_be_unreadable() {
    // Root may read everything, but not this: see proc(5), where a write-only file of the kernel's is refused to all.
    let lint = run(&["lint", MACHINE, "/proc/self/clear_refs"]);
    assert_eq!(lint.code, Some(2));
    assert!(lint.stderr.starts_with("error: cannot read `/proc/self/clear_refs`: "), "{}", lint.stderr);
    assert!(lint.stderr.contains("\nhelp: "), "{}", lint.stderr);
}

#[test]
fn a_device_without_end_is_refused() {
    let lint = run(&["lint", MACHINE, "/dev/zero"]);
    assert_eq!(lint.code, Some(2));
    assert!(lint.stderr.starts_with("error: `/dev/zero` has more than 64 MiB"), "{}", lint.stderr);
}

#[test]
fn no_path_and_standard_input_twice_are_wrong_usage() {
    let none = run(&["lint"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("<PATH>"), "{}", none.stderr);
    let twice = run_with(&["lint", "-", "-"], b"");
    assert_eq!(twice.code, Some(2));
    assert_eq!(twice.stderr, "error: standard input is named twice\nhelp: write `-` once\n");
}

#[test]
fn a_machine_that_cannot_be_had_is_named() {
    let lint = run_with(&["lint", "--topology", "no/such.xml", "-"], b"");
    assert_eq!(lint.code, Some(2));
    assert!(lint.stderr.starts_with("error: `no/such.xml` does not exist\nhelp: "), "{}", lint.stderr);
}

#[test]
fn a_directory_is_read_in_byte_order_and_paths_in_theirs() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.policy", "B.policy", "10.policy", "9.policy", "skipped.txt", ".hidden.policy"] {
        let class = name.split('.').next().unwrap();
        fs::write(folder.path().join(name), format!("class n{class}: match exe {class};\n")).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    let classes = |paths: &[&str]| {
        let plan = run(&[&["plan", MACHINE, "--format", "json"], paths].concat());
        let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
        let names = plan["classes"].as_array().unwrap().iter().map(|class| class["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(classes(&[folder]), ["n10", "n9", "nB", "nb"]);
    assert_eq!(classes(&[&format!("{folder}/b.policy"), &format!("{folder}/10.policy")]), ["nb", "n10"]);
}

#[test]
fn standard_input_is_a_policy() {
    let lint = run_with(&["lint", MACHINE, "-"], b"\xef\xbb\xbfclass a: nise 1;\r\n");
    assert_eq!(lint.code, Some(1));
    assert!(lint.stderr.contains("[<stdin>:1:10]"), "{}", lint.stderr);
}

#[test]
fn a_file_too_large_is_said_to_be_so_wherever_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.policy"), "class a: match exe a;\n").unwrap();
    fs::write(folder.path().join("b.policy"), "# 32 bytes, counted with the end\n".repeat(1 << 20)).unwrap();
    let lint = run(&["lint", MACHINE, "--format", "short", folder.path().to_str().unwrap()]);
    assert_eq!(lint.code, Some(1));
    let said = lint.stderr.replace(folder.path().to_str().unwrap(), "");
    insta::assert_snapshot!(said, @r"
    /b.policy:1:1: error[file-too-large]: this file has 34603008 bytes, more than the 33554432 that are read
    ");
}

#[test]
fn included_files_are_read_in_place_and_relative_to_the_file_that_includes_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("odd [name]/conf.d")).unwrap();
    let class = |name: &str| format!("class {name}: match exe {name};\n");
    fs::write(
        at("odd [name]/main.policy"),
        format!("{}include \"conf.d/*.policy\";\n{}", class("first"), class("last")),
    )
    .unwrap();
    fs::write(at("odd [name]/conf.d/b.policy"), class("b")).unwrap();
    fs::write(at("odd [name]/conf.d/a.policy"), format!("include \"../more.inc\"; {}", class("a"))).unwrap();
    fs::write(at("odd [name]/conf.d/.hidden.policy"), "nonsense").unwrap();
    fs::write(at("odd [name]/more.inc"), class("more")).unwrap();
    let path = at("odd [name]");
    let classes = |plan: crate::common::Ran| {
        let plan: serde_json::Value = serde_json::from_str(&plan.stdout).expect(&plan.stderr);
        let names = plan["classes"].as_array().unwrap().iter().map(|class| class["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let plan = run(&["plan", MACHINE, "--format", "json", path.to_str().unwrap()]);
    assert_eq!(classes(plan), ["first", "more", "a", "b", "last"]);
    // Standard input is nowhere; its paths start where the command does.
    let plan =
        run_with(&["plan", MACHINE, "--format", "json", "-"], b"include \"tests/ui/parts/z*.inc\"; class z: on front;");
    assert_eq!(classes(plan), ["z"]);
}

#[test]
fn a_policy_of_too_many_files_is_refused_where_it_includes_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    for file in 0..4100 {
        fs::write(folder.path().join(format!("d/{file}.inc")), "").unwrap();
    }
    fs::write(folder.path().join("main.policy"), "include \"d/*\";").unwrap();
    let lint = run(&["lint", MACHINE, "--format", "short", folder.path().to_str().unwrap()]);
    assert_eq!(lint.code, Some(1));
    let said = lint.stderr.replace(folder.path().to_str().unwrap(), "");
    insta::assert_snapshot!(said, @"/main.policy:1:9: error[include-too-many]: a policy has 4096 files at most");
}

#[test]
fn a_file_already_named_is_not_included_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.policy"), "include \"b.policy\";").unwrap();
    fs::write(folder.path().join("b.policy"), "class b: match exe b;").unwrap();
    let lint = run(&["lint", MACHINE, "--format", "short", folder.path().to_str().unwrap()]);
    let said = lint.stderr.replace(folder.path().to_str().unwrap(), "");
    insta::assert_snapshot!(said, @"/a.policy:1:9: error[include-twice]: `/b.policy` is part of this policy already");
}

#[test]
fn a_policy_is_not_put_in_force_where_it_does_not_belong_or_anybody_may_change_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("main.policy"), "require: linux 99.0; include \"more.inc\"; class x: match exe no-such-program;")
        .unwrap();
    fs::write(at("more.inc"), "class y: match exe no-such-program-either;").unwrap();
    let apply = || run(&["apply", "--topology", "core:1 pu:1", "--run-dir", &at("run"), &at("main.policy")]);
    let elsewhere = apply();
    assert_eq!(elsewhere.code, Some(1), "{}", elsewhere.stderr);
    assert!(
        elsewhere.stderr.contains("error[requirement-unmet]: the policy requires linux 99.0"),
        "{}",
        elsewhere.stderr
    );
    fs::set_permissions(at("more.inc"), std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let open = apply();
    assert_eq!(open.code, Some(2), "{}", open.stderr);
    assert!(open.stderr.contains("more.inc"), "{}", open.stderr);
}
