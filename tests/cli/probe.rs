//! `probe` on this machine, as much of it as there is.

use std::process::{Command, Output};

use crate::common::cotenant;

fn probe(more: &[&str]) -> Output {
    cotenant(&[&["probe", "--turns", "1"], more].concat()).output().unwrap()
}

#[test]
fn every_pair_is_measured_where_there_is_a_place_for_it_and_what_lacks_is_said() {
    let output = probe(&["--turn", "0.005", "--format", "json"]);
    if output.status.code() == Some(2) {
        // One CPU: nobody is beside anybody.
        assert!(String::from_utf8_lossy(&output.stderr).contains("no neighbour to measure"), "{output:?}");
        return;
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let (costs, lacking) = (document["costs"].as_array().unwrap(), document["not_measured"].as_array().unwrap());
    // All that is measured and is not stolen: sixteen pairs in each place.
    assert!(costs.len() <= 16 * (4 - lacking.len()) && lacking.len() < 4, "{document:#}");
    for cost in costs {
        let slowdown = cost["slowdown"].as_f64().unwrap();
        assert!(slowdown > 0.0 && slowdown.is_finite() && cost["turns"].as_u64().unwrap() >= 1, "{cost}");
        assert!(!lacking.iter().any(|place| place["distance"] == cost["distance"]), "{document:#}");
    }
    assert!(lacking.iter().all(|place| place["reason"].as_str().unwrap().len() > 10));
    assert_eq!(document["verdicts"].as_array().unwrap().is_empty(), costs.is_empty());
    assert!(output.stderr.is_empty(), "no progress where nobody looks: {output:?}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let alone =
        Command::new("taskset").args(["-c", "0"]).arg(cotenant(&[]).get_program()).arg("probe").output().unwrap();
    let said = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(
        alone.status.code() == Some(2) && said.contains("may use CPU 0 alone") && said.contains("taskset -p"),
        "{said}"
    );
    let wrong = probe(&["--turn", "0"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("0.005 to 10"), "{wrong:?}");
}
