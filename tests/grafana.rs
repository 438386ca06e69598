//! What the dashboard and the alert rules ask for is what the daemon exports.

use std::collections::BTreeSet;
use std::fs;

use saphyr::{LoadableYamlNode, Yaml};

/// The names of metrics in a text, but for what is said about them.
fn names(text: &str) -> BTreeSet<&str> {
    let is_other = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split(is_other)).filter(|word| word.starts_with("cotenant_")).collect()
}

/// Every metric there is: a unit test of the product holds it to this.
const EXPORTED: &str =
    "src/render/snapshots/cotenant__render__metrics__tests__everything_that_a_status_says_is_there.snap";

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let text = fs::read_to_string("packaging/grafana/dashboard.json").unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().iter().all(|panel| panel["targets"][0]["expr"].is_string()));
    let exported = fs::read_to_string(EXPORTED).unwrap();
    let unknown: Vec<&str> = names(&text).difference(&names(&exported)).copied().collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(names(&text).len() > 10);
}

#[test]
fn the_alerts_ask_for_what_there_is() {
    let text = fs::read_to_string("packaging/grafana/alerts.yaml").unwrap();
    let rules = Yaml::load_from_str(&text).unwrap();
    let rules = rules[0]["groups"][0]["rules"].as_vec().unwrap();
    for rule in rules {
        let has = |key: &str| rule[key].as_str().is_some();
        assert!(has("alert") && has("expr") && rule["annotations"]["summary"].as_str().is_some(), "{rule:?}");
    }
    let exported = fs::read_to_string(EXPORTED).unwrap();
    let unknown: Vec<&str> = names(&text).difference(&names(&exported)).copied().collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(rules.len() >= 5);
}
