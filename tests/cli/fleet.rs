//! One run checks a policy against many machines.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{Ran, run, run_with};

const POLICY: &[u8] = b"class a: match exe a, on cores 4-6;\nclass a: match exe b, on efficiency cores;\n";

fn lint(options: &[&str]) -> Ran {
    run_with(&[&["lint"], options, &["-"]].concat(), POLICY)
}

#[test]
fn what_holds_on_some_machines_names_them_and_what_holds_on_all_does_not() {
    let fleet =
        ["--topology", "core:4 pu:2", "--topology", "tests/machines/hybrid-8p-8e.xml", "--topology", "core:8 pu:1"];
    let lint = lint(&[&fleet[..], &["--format", "short"]].concat());
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(lint.stderr, @r"
    <stdin>:1:26: error[not-on-this-machine]: this machine has no core 4 (on machine core:4 pu:2)
    <stdin>:2:7: error[defined-twice]: class `a` is defined twice
    <stdin>:2:23: error[empty-cpu-set]: this is no CPU at all on this machine (on machines core:4 pu:2, core:8 pu:1)
    ");
}

#[test]
fn of_many_machines_some_are_named_and_all_counted() {
    let lint = lint(&["--topology", "tests/machines"]);
    assert_eq!(lint.code, Some(1));
    assert!(lint.stderr.contains("(on 6 of 7 machines: no-smt-8.xml, numa-2x2.xml, "), "{}", lint.stderr);
    assert!(lint.stderr.ends_with("; refused on 7 of 7 machines\n"), "{}", lint.stderr);
}

#[test]
fn a_fleet_that_passes_is_counted() {
    let lint = run(&["lint", "--topology", "tests/machines/smt*.xml", "policies/web-and-batch.policy"]);
    assert_eq!((lint.code, lint.stderr.as_str()), (Some(0), "1 file, 3 classes: no errors, on 3 machines\n"));
}

#[test]
fn json_carries_the_machines() {
    let lint = lint(&["--topology", "core:4 pu:2", "--topology", "core:8 pu:1", "--format", "json"]);
    let machines: Vec<serde_json::Value> = lint
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["machines"].take())
        .collect();
    assert_eq!(machines, [serde_json::json!(["core:4 pu:2"]), serde_json::Value::Null, serde_json::Value::Null]);
}

#[test]
fn a_machine_named_twice_is_one_and_equal_names_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for rack in ["a", "b"] {
        fs::create_dir(folder.path().join(rack)).unwrap();
        fs::copy("tests/machines/sibling-offline-4x2.xml", folder.path().join(rack).join("m.xml")).unwrap();
    }
    let at = |path: &str| folder.path().join(path).display().to_string();
    let lint = lint(&[
        "--format",
        "short",
        "--topology",
        &at("*/m.xml"),
        "--topology",
        &at("a/m.xml"),
        "--topology",
        "tests/machines/smt-16x2.xml",
    ]);
    let named = format!("(on machines {}, {})", at("a/m.xml"), at("b/m.xml"));
    assert!(lint.stderr.contains(&named), "{}", lint.stderr);
}

#[test]
fn a_value_that_names_no_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    let lint = |value: &str| run(&["lint", "--topology", value, "policies"]);
    assert_eq!(
        lint(empty).stderr,
        format!(
            "error: no machine in directory `{empty}`: it has no `*.xml` file\n\
            help: `lstopo --of xml > NAME.xml` writes one on the machine it is to describe\n"
        )
    );
    assert_eq!(lint("no/such*.xml").code, Some(2));
    assert!(lint("no/such*.xml").stderr.starts_with("error: no machine is covered by `no/such*.xml`\nhelp: "));
    assert!(lint("a***").stderr.starts_with("error: `a***` is no pattern for files: "), "{}", lint("a***").stderr);
}

#[test]
fn a_pattern_that_the_shell_opened_out_is_noticed() {
    let lint = run(&["lint", "--topology", "fleet/a.xml", "fleet/b.xml", "policies"]);
    assert_eq!((lint.code, lint.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(lint.stderr, @r"
    error: `fleet/b.xml` is a machine and stands where policies do
    help: put a pattern for machines into quotes: `--topology 'fleet/*.xml'`
    ");
}

#[test]
fn a_hundred_machines_are_checked_in_a_moment() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = ["smt-16x2", "no-smt-8", "numa-2x2", "hybrid-8p-8e", "smt4-8x4"];
    for at in 0..100 {
        let xml = fs::read_to_string(format!("tests/machines/{}.xml", kinds[at % kinds.len()])).unwrap();
        // Each is another file, lest equal ones be loaded once.
        let xml = xml.replacen("gp_index=\"2\"", &format!("gp_index=\"{}\"", 9000 + at), 1);
        fs::write(folder.path().join(format!("m{at}.xml")), xml).unwrap();
    }
    let start = Instant::now();
    let lint = run(&["lint", "--topology", folder.path().to_str().unwrap(), "policies"]);
    assert_eq!(lint.code, Some(0), "{}", lint.stderr);
    assert!(lint.stderr.contains("on 100 machines"), "{}", lint.stderr);
    // Unoptimized code is several times slower, and other tests run beside this one.
    let most = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
    assert!(start.elapsed() < most, "took {:?}", start.elapsed());
}
