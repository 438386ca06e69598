//! What is handed out is what is in force.

use cotenant_compiler::compile;
use cotenant_compiler::topology::TopologySource;

use super::*;
use crate::load;

fn machine() -> Topology {
    Topology::load(&TopologySource::Synthetic("pack:2 core:2 pu:2".to_owned())).unwrap()
}

/// The plan of the files of a directory, `a.policy` and `b.policy` being named and the others included.
fn plan(files: &[(&str, &str)]) -> Plan {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let sources = load::load(&[directory.path().join("a.policy"), directory.path().join("b.policy")]).unwrap();
    let (plan, diagnostics) = compile(sources, &machine());
    plan.unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

/// Two texts that are named, and below the first two that include each a further one, in the middle of the statements.
const NESTED: &[(&str, &str)] = &[
    ("a.policy", "\u{feff}# ü\r\nclass first: nice 1;\r\ninclude \"d/*.policy\"; class last: nice 2;"),
    ("d/1.policy", "include \"e/x.policy\"; include \"e/y.policy\"; class one: nice 3;"),
    ("d/2.policy", "class two: match exe \"\\u{1}*\", nice 4;"),
    ("d/e/x.policy", "zone z: package 1;"),
    ("d/e/y.policy", "class y: on z, nice 5;"),
    ("b.policy", "rt class b: fifo;"),
];

#[test]
fn texts_spans_and_inclusions_come_back_as_they_were() {
    let plan = plan(NESTED);
    assert_eq!(plan.sources.iter().count(), 6);
    let back = decode(&encode(&plan)).unwrap();
    assert_eq!(back, Enforced { sources: plan.sources.clone(), machine: plan.topology.clone() });
    let (again, _) = compile(back.sources, &back.machine);
    let again = again.unwrap();
    assert_eq!(again.classes, plan.classes);
    let order: Vec<&str> = again.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(order, ["first", "y", "one", "two", "last", "b"]);
}

#[test]
fn the_form_is_versioned() {
    let plan = plan(&[("a.policy", "class a: nice 1;"), ("b.policy", "include \"c\";"), ("c", "class c: nice 2;")]);
    let mut document: serde_json::Value = serde_json::from_slice(&encode(&plan)).unwrap();
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["sources"][1]["includes"][0]["start"], 8);
    assert_eq!(document["sources"][1]["includes"][0]["sources"][0]["text"], "class c: nice 2;");
    assert_eq!(document["machine"]["online"]["list"], "0-7");
    document["schema_version"] = 2.into();
    let said = decode(document.to_string().as_bytes()).unwrap_err();
    assert!(said.ends_with(" writes version 2 of it, and this one reads 1"), "{said}");
}

#[test]
fn an_answer_that_was_cut_off_is_no_answer() {
    let whole = encode(&plan(&[("a.policy", "class a: nice 1;"), ("b.policy", "class b: nice 1;")]));
    assert!(decode(&whole).is_ok());
    let cut = decode(&whole[..whole.len() - 1]).unwrap_err();
    assert!(cut.starts_with("EOF"), "{cut}");
    assert!(decode(b"{}").unwrap_err().starts_with("missing field"));
}
