//! Exit codes, and which words go to which stream.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::common::{cotenant, finish, run, run_with};

const MACHINE: &str = "--topology=core:4 pu:2";
const WARNED: &[u8] = b"zone unused: all;\nclass a: match exe a;\n";

#[test]
fn findings_of_a_passing_policy_are_counted() {
    let lint = run_with(&["lint", MACHINE, "-"], b"class a: match exe a;");
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(0), ""));
    assert_eq!(lint.stderr, "1 file, 1 class: no errors\n");
    let lint = run_with(&["lint", MACHINE, "-"], WARNED);
    assert_eq!(lint.code, Some(0));
    assert!(lint.stderr.ends_with("\n1 file, 1 class: no errors, 1 warning\n"), "{}", lint.stderr);
}

#[test]
fn warnings_can_be_denied_and_notes_cannot() {
    let lint = run_with(&["lint", MACHINE, "--deny", "warnings", "-"], WARNED);
    assert_eq!(lint.code, Some(1));
    assert!(lint.stderr.ends_with("\n1 warning in 1 file; warnings are denied\n"), "{}", lint.stderr);
    let lint = run_with(&["lint", MACHINE, "--deny", "warnings", "-"], b"batch: only when core idle");
    assert_eq!(lint.code, Some(0));
}

#[test]
fn the_short_format_is_one_line_a_finding() {
    let lint = run_with(&["lint", MACHINE, "--format", "short", "-"], "class größe: nise 1, nice 99;".as_bytes());
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(lint.stderr, @r"
    <stdin>:1:14: error[unknown-clause]: no clause begins with `nise`
    <stdin>:1:27: error[nice-out-of-range]: nice goes from -20 to 19, not to 99
    ");
}

#[test]
fn json_findings_are_results() {
    let lint = run_with(&["lint", MACHINE, "--format", "json", "-"], WARNED);
    assert_eq!((lint.code, lint.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(lint.stdout, @r#"
    {"schema_version":1,"severity":"warning","code":"unused-name","message":"zone `unused` is never used","help":"use it or remove it","labels":[{"primary":true,"text":"defined, and named by no class","file":"<stdin>","start":{"byte":5,"line":1,"column":6},"end":{"byte":11,"line":1,"column":12}}]}
    "#);
}

#[test]
fn nothing_but_a_terminal_gets_colours() {
    for no_color in [None, Some(""), Some("1")] {
        let mut command = cotenant(&["lint", MACHINE, "tests/ui/unknown-clause.policy"]);
        match no_color {
            Some(value) => command.env("NO_COLOR", value),
            None => command.env_remove("NO_COLOR"),
        };
        let lint = finish(&mut command);
        assert_eq!(lint.code, Some(1));
        assert!(!lint.stderr.contains('\u{1b}'), "{}", lint.stderr);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut command = cotenant(&["topology", "--topology", "pack:4 core:1024 pu:2", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "{\n");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = finish(cotenant(&["topology", MACHINE]).stdout(full).stderr(Stdio::piped()));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.starts_with("error: standard output cannot be written: "), "{}", ran.stderr);
}

#[test]
fn a_machine_is_listed_as_policies_name_it() {
    for machine in ["sibling-offline-4x2", "hybrid-8p-8e"] {
        let topology = run(&["topology", "--topology", &format!("tests/machines/{machine}.xml")]);
        assert_eq!((topology.code, topology.stderr.as_str()), (Some(0), ""));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../topology" }, {
            insta::assert_snapshot!(machine, topology.stdout);
        });
    }
}

#[test]
fn help_says_what_the_product_does() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    for word in ["which processes get which CPUs", "rt class web", "Exit codes", "lint", "topology"] {
        assert!(help.stdout.contains(word), "{}", help.stdout);
    }
    assert_eq!(run(&[]).code, Some(2));
    assert_eq!(run(&["lnit"]).code, Some(2));
}
