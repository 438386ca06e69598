//! Findings in the formats of code hosts.

use serde_json::Value;

use crate::common::{files, run, run_with};

const MACHINE: &str = "--topology=pack:1 core:4 pu:2";

fn sarif(arguments: &[&str]) -> Value {
    let lint = run(&[&["lint", "--format", "sarif"], arguments].concat());
    assert_ne!(lint.code, Some(2), "{}", lint.stderr);
    assert_eq!(lint.stderr, "");
    serde_json::from_str(&lint.stdout).unwrap()
}

/// The format's own schema, as those who keep the format publish it.
fn validate(log: &Value) {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas/sarif-schema-2.1.0.json"));
    let mut schema: Value = serde_json::from_str(&text.unwrap()).unwrap();
    // As published these patterns have a stray `]`, which strict engines refuse; nothing here writes a language.
    for place in ["run", "translationMetadata", "toolComponent"] {
        if let Some(language) = schema.pointer_mut(&format!("/definitions/{place}/properties/language")) {
            language.as_object_mut().unwrap().remove("pattern");
        }
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(log).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{log:#}");
}

#[test]
fn every_finding_as_sarif_fits_the_schema() {
    let fixtures = files("tests/ui", ".policy");
    let fixtures: Vec<&str> = fixtures.iter().map(String::as_str).collect();
    // One policy of all mistakes, and each mistake by itself, most of which have a second site.
    validate(&sarif(&[&[MACHINE], &fixtures[..]].concat()));
    for fixture in fixtures.iter().step_by(5) {
        validate(&sarif(&[MACHINE, fixture]));
    }
    validate(&sarif(&[MACHINE, "policies"]));
    let fleet = sarif(&["--topology", "tests/machines", "tests/ui/not-on-this-machine.policy"]);
    validate(&fleet);
    let result = &fleet["runs"][0]["results"][0];
    assert_eq!(result["properties"]["machines"], serde_json::json!(["sibling-offline-4x2.xml"]));
    // Code hosts show no properties.
    let message = result["message"]["text"].as_str().unwrap();
    assert!(message.contains("no core 4 (on machine sibling-offline-4x2.xml); "), "{message}");
}

#[test]
fn a_finding_as_sarif_says_what_where_and_why() {
    let log = sarif(&[MACHINE, "tests/ui/defined-twice.policy"]);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!((rule["id"].as_str(), &rule["defaultConfiguration"]["level"]), (Some("defined-twice"), &"error".into()));
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Why it matters"), "{rule:#}");
    let result = &run["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["ruleIndex"], &result["level"]),
        (&"defined-twice".into(), &0.into(), &"error".into())
    );
    let place = |location: &Value| {
        let place = &location["physicalLocation"];
        let region = &place["region"];
        let columns = format!("{}-{}", region["startColumn"], region["endColumn"]);
        format!(
            "{}:{}:{columns}: {}",
            place["artifactLocation"]["uri"], region["startLine"], location["message"]["text"]
        )
    };
    assert_eq!(place(&result["locations"][0]), r#""tests/ui/defined-twice.policy":2:6-11: "defined again""#);
    assert_eq!(
        place(&result["relatedLocations"][0]),
        r#""tests/ui/defined-twice.policy":1:6-11: "first defined here""#
    );
}

#[test]
fn a_clean_policy_is_an_empty_run() {
    let lint = run_with(&["lint", MACHINE, "--format", "sarif", "-"], b"class a: match exe a;");
    assert_eq!(lint.code, Some(0));
    let log: Value = serde_json::from_str(&lint.stdout).unwrap();
    validate(&log);
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    let mut unfit = log;
    unfit["runs"][0]["columnKind"] = "bytes".into();
    assert!(std::panic::catch_unwind(|| validate(&unfit)).is_err(), "the schema is asked");
}

#[test]
fn annotations_are_one_line_each() {
    let policy = b"zone unused: all;\nbatch: only when core idle;\nclass a: match exe \"x\\q\", nice 1;\n";
    let lint = run_with(&["lint", MACHINE, "--format", "github", "-"], policy);
    assert_eq!((lint.code, lint.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!(lint.stdout, @r#"
    ::warning file=<stdin>,line=1,endLine=1,col=6,endColumn=12,title=unused-name::zone `unused` is never used%0Ahelp: use it or remove it
    ::notice file=<stdin>,line=2,endLine=2,col=1,endColumn=6,title=matched-by-name::class `batch` has no `match`, so it takes the processes of its name%0Ahelp: to say it outright, write `match exe batch` or `match unit batch.service`
    ::error file=<stdin>,line=3,endLine=3,col=22,endColumn=24,title=bad-escape::`\q` is not an escape%0Ahelp: escapes are `\"`, `\\`, `\n`, `\t` and `\u{…}`; write `\\` for a backslash
    "#);
}
