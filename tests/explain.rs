//! Every page's examples show what the page says, and pages can be found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;

use common::{files, run, run_with, stem};
use serde_json::Value;

/// A page's examples are checked on this machine, unless their fence goes on with `machine=…`.
const MACHINE: &str = "pack:1 core:4 pu:2";

/// Codes whose mistake does not fit on a page; add one with the reason.
const WITHOUT_EXAMPLES: &[&str] = &[
    // More than 32 MiB.
    "file-too-large",
    // Take several files, or thousands.
    "include-cycle",
    "include-too-deep",
    "include-too-many",
    "include-twice",
    // Is no mistake, so there is nothing to do right.
    "kept-by",
    // Depends on how the kernel is set.
    "nice-under-autogroup",
];

/// A fenced policy of a page.
struct Example {
    /// The page's.
    code: String,
    heading: String,
    machine: String,
    text: String,
}

fn examples(code: &str, page: &str) -> Vec<Example> {
    let (mut found, mut heading, mut open): (Vec<Example>, _, Option<Example>) = (Vec::new(), String::new(), None);
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```policy")) {
            (None, Some(info)) => {
                let machine = info.trim().strip_prefix("machine=").unwrap_or(MACHINE).to_owned();
                let (code, heading) = (code.to_owned(), heading.clone());
                open = Some(Example { code, heading, machine, text: String::new() });
            }
            (Some(_), _) if line == "```" => found.extend(open.take()),
            (Some(example), _) => example.text.push_str(&format!("{line}\n")),
            (None, None) => heading = line.strip_prefix("## ").unwrap_or(&heading).to_owned(),
        }
    }
    assert!(open.is_none(), "a fence is closed");
    found
}

/// Severity and code of each finding, notes only where `notes` asks for them.
fn found(example: &Example, notes: bool) -> Vec<(String, String)> {
    let lint = run_with(&["lint", "--format", "json", "--topology", &example.machine, "-"], example.text.as_bytes());
    assert_ne!(lint.code, Some(2), "{}", lint.stderr);
    let findings = lint.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said = |value: &Value| value.as_str().unwrap().to_owned();
    let all = findings.map(|it| (said(&it["severity"]), said(&it["code"])));
    // Many clauses can be got wrong and right that nothing carries out yet, which is said of them besides.
    let about_it = example.code == "not-carried-out";
    let all = all.filter(|(_, code)| about_it || code != "not-carried-out");
    all.filter(|(severity, _)| notes || severity != "note").collect()
}

#[test]
fn the_wrong_example_has_exactly_that_mistake_and_the_right_one_has_not() {
    for path in files("docs/lints", ".md") {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
        let code = stem(&path);
        let examples = examples(code, &text);
        let under = |heading: &str| examples.iter().filter(|it| it.heading == heading).collect::<Vec<_>>();
        if WITHOUT_EXAMPLES.contains(&code) {
            assert!(examples.is_empty(), "{path} has an example: take `{code}` out of WITHOUT_EXAMPLES");
            continue;
        }
        let (wrong, right) = (under("Wrong"), under("Right"));
        assert!(
            !wrong.is_empty() && !right.is_empty(),
            "{path} needs a ```policy block under `## Wrong` and one under `## Right`"
        );
        let severity = text.lines().nth(2).unwrap().split(':').next().unwrap();
        for example in wrong {
            let expected = [(severity.to_owned(), code.to_owned())];
            assert_eq!(found(example, severity == "note"), expected, "the wrong example of {path}:\n{}", example.text);
        }
        for example in right {
            let found = found(example, true);
            assert!(
                found.iter().all(|(severity, found)| severity == "note" && found != code),
                "the right example of {path} is free of mistakes, not {found:?}:\n{}",
                example.text
            );
        }
    }
}

#[test]
fn a_page_is_shown_as_text() {
    let page = run(&["explain", "comm-too-long"]);
    assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(page.stdout, @r#"
    error[comm-too-long]: a pattern for `comm` needs more bytes than the kernel keeps of a name

    The kernel keeps the first 15 bytes of a program's name as its `comm`; see proc(5). A pattern that
    needs more never matches.

    Wrong

        class terminal:
            match comm gnome-terminal-server;

    Right

        class terminal:
            match comm "gnome-terminal*";

    Why it matters

    The rule looks right, `ps` prints something very much like it, and no process ever falls under it.
    `exe` compares the whole name of the executable and has no such limit.
    "#);
    // As it was pasted from a finding.
    assert_eq!(run(&["explain", "error[comm-too-long]:"]).stdout, page.stdout);
}

#[test]
fn all_codes_are_listed_one_a_line() {
    let list = run(&["explain"]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    let pages = files("docs/lints", ".md");
    assert_eq!(list.stdout.lines().count(), pages.len(), "{}", list.stdout);
    for path in pages {
        let line = list.stdout.lines().find(|line| line.split(' ').next() == Some(stem(&path)));
        let line = line.unwrap_or_else(|| panic!("`cotenant explain` lists {}", stem(&path)));
        assert!(["error", "warning", "note"].contains(&line.split_whitespace().nth(1).unwrap()), "{line}");
    }
}

#[test]
fn a_code_that_does_not_exist_is_answered_with_the_nearest() {
    let near = run(&["explain", "unknown-wrod"]);
    assert_eq!((near.code, near.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        near.stderr,
        "error: no finding has the code `unknown-wrod`\nhelp: type `cotenant explain unknown-word`\n"
    );
    let far = run(&["explain", "E0308"]);
    assert_eq!(far.code, Some(2));
    assert_eq!(far.stderr, "error: no finding has the code `E0308`\nhelp: `cotenant explain` lists all codes\n");
}
