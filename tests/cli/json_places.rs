//! Bytes, lines and columns of one place agree, whatever the text is made of.

use serde_json::Value;

use crate::common::run_with;

const MACHINE: &str = "--topology=core:4 pu:2";

/// A byte-order mark, CRLF, characters of two, three and four bytes, tabs, and mistakes on many lines.
const TEXT: &str = "\u{feff}# Größe 日本 🦀\r\nzone größe: nod 0;\r\n\r\nclass \u{1F980}a: match exe x;\r\n\
    rt class web:\r\n\tmacth exe \"🦀🦀\", nice 99, # ü\r\n\tpriority 100\r\n\tfifo;\r\nclass é: match comm \"日本 \", on größe_x;\r\n\
    batch class z: match slice \"日本.slice\", nice 3;";

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn bytes_lines_and_columns_agree() {
    let lint = run_with(&["lint", MACHINE, "--format", "json", "-"], TEXT.as_bytes());
    assert_eq!((lint.code, lint.stderr.as_str()), (Some(1), ""));
    let mut places = 0;
    for line in lint.stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        for label in finding["labels"].as_array().unwrap() {
            for end in ["start", "end"] {
                let point = &label[end];
                // Counted here once more, from the bytes alone: lines end with a line feed, columns are characters.
                let before = std::str::from_utf8(&TEXT.as_bytes()[..number(&point["byte"])]).unwrap();
                let last = before.rsplit('\n').next().unwrap().trim_start_matches('\u{feff}');
                assert_eq!(number(&point["line"]), before.matches('\n').count() + 1, "{line}");
                assert_eq!(number(&point["column"]), last.chars().count() + 1, "{line}");
                places += 1;
            }
        }
    }
    assert!(places > 12, "many places are looked at:\n{}", lint.stdout);
}

#[test]
fn every_format_counts_alike() {
    let place = |format: &str| {
        let lint = run_with(&["lint", MACHINE, "--format", format, "-"], "class größe: nise 1;".as_bytes());
        lint.stdout + &lint.stderr
    };
    assert!(place("short").starts_with("<stdin>:1:14: "), "{}", place("short"));
    assert!(place("human").contains("[<stdin>:1:14]"), "{}", place("human"));
    assert!(place("github").contains("line=1,endLine=1,col=14,endColumn=18"), "{}", place("github"));
    assert!(place("json").contains(r#""line":1,"column":14"#), "{}", place("json"));
    assert!(place("sarif").contains(r#""startColumn": 14"#), "{}", place("sarif"));
}
