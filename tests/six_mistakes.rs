//! One run finds every mistake of a file, and points at the right words of each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::run_with;
use serde_json::Value;

const POLICY: &str = "\
# Größe — 日本語 🦀
zone größe_日本: nod 0;

rt class web:
    macth exe nginx,        # ö
    on vorne_größe,
    priority 100
    push equal prio;

class \u{e4}pi: match exe \"größe\\q\";
batch class reports: match slice \"日本.slice\", nice 3;
";

#[test]
fn six_mistakes_are_found_in_one_run() {
    let lint = run_with(&["lint", "--format", "json", "--topology", "pack:1 core:4 pu:2", "-"], POLICY.as_bytes());
    assert_eq!(lint.code, Some(1));
    assert_eq!(lint.stderr, "");
    let findings: Vec<Value> = lint.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors = findings.iter().filter(|finding| finding["severity"] == "error");
    let said: Vec<String> = errors.map(said).collect();
    let expected = [
        "unknown-cpu-set | nod at 2:16",
        "unknown-clause | macth at 5:5",
        "undefined-zone | vorne_größe at 6:8",
        "missing-comma | 100 at 7:14 | push at 8:5",
        "bad-escape | \\q at 10:28",
        "wrong-kind | nice 3 at 11:46 | batch at 11:1",
    ];
    assert_eq!(said, expected);
}

/// The code, and the text under each label with its line and column.
fn said(finding: &Value) -> String {
    assert_eq!(finding["schema_version"], 1);
    let labels = finding["labels"].as_array().unwrap().iter().map(|label| {
        let byte = |end: &str| usize::try_from(label[end]["byte"].as_u64().unwrap()).unwrap();
        let start = &label["start"];
        assert_eq!(label["file"], "<stdin>");
        // Lines and columns are counted here once more, the slow way.
        let before = &POLICY[..byte("start")];
        assert_eq!(start["line"], before.lines().count().max(1) + usize::from(before.ends_with('\n')));
        assert_eq!(start["column"], before.rsplit('\n').next().unwrap().chars().count() + 1);
        format!("{} at {}:{}", &POLICY[byte("start")..byte("end")], start["line"], start["column"])
    });
    let parts: Vec<String> = std::iter::once(finding["code"].as_str().unwrap().to_owned()).chain(labels).collect();
    parts.join(" | ")
}
