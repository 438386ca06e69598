//! `plan --format svg`: pictures of the policies people start from.

use crate::common::{Ran, files, run, run_with};

/// One class of each look.
const POLICY: &str = "rt class web: match unit nginx.service, prefer idle core; \
    batch class reports: match slice reports.slice, on all except core 0, only when core idle; \
    class db: match exe postgres, on core 1, at least 1 core; unmanaged: match exe sshd;";

fn picture(plan: Ran) -> String {
    assert_eq!((plan.code, plan.stderr.contains("error")), (Some(0), false), "{}", plan.stderr);
    plan.stdout
}

#[test]
fn small_pictures_stay_as_they_were_looked_at() {
    for machine in ["sibling-offline-4x2", "no-smt-8"] {
        let source = format!("tests/machines/{machine}.xml");
        let svg = picture(run_with(&["plan", "--format", "svg", "--topology", &source, "-"], POLICY.as_bytes()));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../svg" }, {
            insta::assert_snapshot!(machine, svg);
        });
    }
}

#[test]
fn every_cpu_of_every_machine_is_drawn_once() {
    for machine in files("tests/machines", ".xml") {
        let svg =
            picture(run(&["plan", "--format", "svg", "--topology", &machine, "policies/databases-and-reports.policy"]));
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{machine}: {error}"));
        let drawn = document.descendants().filter(|node| node.has_tag_name("g")).count();
        let topology = run(&["topology", "--format", "json", "--topology", &machine]).stdout;
        let topology: serde_json::Value = serde_json::from_str(&topology).unwrap();
        assert_eq!(drawn, topology["online"]["cpus"].as_array().unwrap().len(), "{machine}");
        let number = |name: &str| document.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
        assert!(number("width") <= 1220 && number("height") <= 1600, "{machine} fits a page");
    }
}
