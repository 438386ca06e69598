//! What people have becomes a policy, and what it says of the rest.

use std::fs;

use crate::common::{Ran, run, run_with};

/// More CPUs than the files name.
const MACHINE: &str = "--topology=core:8 pu:2";

const CGRULES: &str = "tests/cli/convert/cgrules.conf";
const CGCONFIG: &str = "tests/cli/convert/cgconfig.conf";

/// What a conversion says, below what it writes; what it writes compiles and is laid out.
fn shown(convert: &Ran) -> String {
    assert_eq!(convert.code, Some(3), "{}", convert.stderr);
    let lint = lint(&convert.stdout);
    assert_eq!(lint.code, Some(0), "{}\n{}", convert.stdout, lint.stderr);
    assert_eq!(run_with(&["fmt", "-"], convert.stdout.as_bytes()).stdout, convert.stdout);
    format!("{}--- standard error\n{}", convert.stdout, convert.stderr)
}

fn lint(policy: &str) -> Ran {
    run_with(&["lint", MACHINE, "--format", "short", "-"], policy.as_bytes())
}

/// The names of the policy's classes about which lint finds this.
fn found(policy: &str, code: &str) -> Vec<String> {
    let lines: Vec<&str> = policy.lines().collect();
    let said = lint(policy).stderr;
    let places = said.lines().filter(|line| line.contains(&format!("[{code}]")));
    let numbers = places.map(|line| line.split(':').nth(1).unwrap().parse::<usize>().unwrap());
    let header = |number: usize| lines[..number].iter().rev().find(|line| line.contains("class ")).unwrap();
    numbers.map(|number| header(number).split([' ', ':']).nth(2).unwrap().to_owned()).collect()
}

#[test]
fn rules_of_libcgroup_take_what_cgconfig_says_of_their_groups() {
    insta::assert_snapshot!("cgrules", shown(&run(&["convert", "--cgconfig", CGCONFIG, CGRULES])));
}

#[test]
fn rules_of_libcgroup_alone_say_who_and_not_where() {
    let convert = run_with(&["convert", "-"], b"peter:cp cpuset a\n* * b\n");
    insta::assert_snapshot!(shown(&convert));
}

#[test]
fn rules_of_ananicy_take_over_what_their_types_say() {
    let convert = run(&["convert", "tests/cli/convert/ananicy.d"]);
    insta::assert_snapshot!("ananicy", shown(&convert));
    assert_eq!(found(&convert.stdout, "rt-by-name"), ["jackd", "pipewire", "gpu-screen-recorder"]);
}

#[test]
fn groups_of_tuned_stand_in_the_order_in_which_they_win() {
    let convert = run(&["convert", "tests/cli/convert/realtime"]);
    insta::assert_snapshot!("tuned", shown(&convert));
    assert_eq!(found(&convert.stdout, "rt-by-name"), ["broker"]);
}

#[test]
fn what_is_carried_over_whole_is_done() {
    let convert = run_with(&["convert", "-"], b"{\"name\": \"tar\", \"nice\": 5}\n");
    assert_eq!((convert.code, convert.stderr.as_str()), (Some(0), "1 rule: 1 carried over, 0 in part, 0 not\n"));
    insta::assert_snapshot!(convert.stdout);
}

#[test]
fn the_first_of_libcgroup_and_the_last_of_ananicy_win() {
    let classes = |policy: &str| {
        let plan = run_with(&["plan", MACHINE, "--format", "json", "-"], policy.as_bytes());
        let plan: serde_json::Value = serde_json::from_str(&plan.stdout).expect(&plan.stderr);
        let names = plan["classes"].as_array().unwrap().iter().map(|class| class["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let first = run_with(&["convert", "--from", "cgrules", "-"], b"* cpu a\nroot cpu b\n");
    assert_eq!(classes(&first.stdout), ["everybody"], "{}", first.stdout);
    let last = run_with(&["convert", "-"], b"{\"name\":\"a\",\"sched\":\"idle\"}\n{\"name\":\"a\",\"nice\":1}\n");
    assert!(last.stdout.contains("\nclass a:\n    match exe \"a\",\n    nice 1;\n"), "{}", last.stdout);
    let prio =
        run_with(&["convert", "-"], b"[scheduler]\ngroup.a=0:*:*:*:^a$\ngroup.b=1:*:*:*:^b$\ngroup.c=1:*:*:*:^c$\n");
    assert_eq!(classes(&prio.stdout), ["c", "b", "a"]);
    let folder = tempfile::tempdir().unwrap();
    let profile = |name: &str, text: &str| {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("tuned.conf"), text).unwrap();
    };
    profile("1", "[scheduler]\nisolated_cores=2\ngroup.a=0:*:*:*:^a$\n");
    profile("2", "[scheduler]\ngroup.b=0:*:*:1:^b$\n");
    let both = run(&["convert", folder.path().to_str().unwrap()]);
    assert_eq!(classes(&both.stdout), ["a", "b", "not-isolated"], "{}", both.stdout);
}

#[test]
fn nothing_gets_out_of_a_comment_or_a_string() {
    let hostile = serde_json::json!({
        "name": "a\";\nrt class owned: match comm \"*\"; # \u{1b}[2J", "x\nrt class owned: fifo;": "\r\nkernel: autogroup off;"
    });
    let convert = run_with(&["convert", "-"], format!("{hostile}\n").as_bytes());
    assert!(!convert.stdout.contains(['\u{1b}', '\r']), "{}", convert.stdout);
    assert!(convert.stdout.lines().all(|line| !line.trim_start().starts_with("rt class owned")), "{}", convert.stdout);
    assert!(convert.stdout.lines().all(|line| !line.trim_start().starts_with("kernel")), "{}", convert.stdout);
    insta::assert_snapshot!(shown(&convert));
}

#[test]
fn what_cannot_be_converted_is_said_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("latin1.rules"), b"{\"name\": \"gr\xf6\"}").unwrap();
    fs::write(at("none.rules"), "# nothing yet\n").unwrap();
    let refused = |arguments: &[&str], input: &str| {
        let convert = run_with(&[&["convert"], arguments].concat(), input.as_bytes());
        assert_eq!((convert.code, convert.stdout.as_str()), (Some(2), ""), "{}", convert.stderr);
        convert.stderr.replace(folder.path().to_str().unwrap(), "")
    };
    let said = [
        refused(&[&at("no.rules")], ""),
        refused(&[&at("empty")], ""),
        refused(&[&at("latin1.rules")], ""),
        refused(&[&at("none.rules")], ""),
        refused(&["-"], "class a: nice 1;\n"),
        refused(&["-", "-"], ""),
        refused(&[CGRULES, "tests/cli/convert/realtime"], ""),
        refused(&["--cgconfig", CGCONFIG, "tests/cli/convert/realtime"], ""),
        refused(&["--cgconfig", &at("no.conf"), CGRULES], ""),
    ];
    insta::assert_snapshot!(said.join("\n"));
}
