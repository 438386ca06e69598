//! `plan --format svg`: pictures of the policies people start from.

use crate::common::run;

fn picture(policy: &str, machine: &str) -> String {
    let plan = run(&["plan", "--format", "svg", "--topology", machine, &format!("policies/{policy}.policy")]);
    assert_eq!((plan.code, plan.stderr.as_str()), (Some(0), ""), "{policy} on {machine}");
    plan.stdout
}

#[test]
fn small_pictures_stay_as_they_were_looked_at() {
    for machine in ["sibling-offline-4x2", "no-smt-8"] {
        let svg = picture("web-and-batch", &format!("tests/machines/{machine}.xml"));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../svg" }, {
            insta::assert_snapshot!(machine, svg);
        });
    }
}

#[test]
fn every_cpu_of_every_machine_is_drawn_once() {
    for machine in crate::common::files("tests/machines", ".xml") {
        let svg = picture("databases-and-reports", &machine);
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{machine}: {error}"));
        let drawn = document.descendants().filter(|node| node.has_tag_name("g")).count();
        let topology = run(&["topology", "--format", "json", "--topology", &machine]).stdout;
        let topology: serde_json::Value = serde_json::from_str(&topology).unwrap();
        assert_eq!(drawn, topology["online"]["cpus"].as_array().unwrap().len(), "{machine}");
        let number = |name: &str| document.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
        assert!(number("width") <= 1220 && number("height") <= 1600, "{machine} fits a page");
    }
}
