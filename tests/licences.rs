//! Everything that is built in may be had under a licence that `deny.toml` allows. cargo-deny checks the same and advisories,
//! where it is installed (`make deny`); this needs nothing but what cargo has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::Command;

use spdx::{Expression, ParseMode};

/// The quoted words of `allow = [ … ]`.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/deny.toml")).unwrap();
    let list = text.split_once("allow = [").unwrap().1.split_once(']').unwrap().0;
    let words: Vec<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!words.is_empty());
    words
}

/// Packages and what they say of their licence.
fn packages() -> Vec<(String, String)> {
    // Packages for other systems alone need not be there.
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let arguments = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", &host];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |package: &serde_json::Value| {
        let name = format!("{} {}", package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        (name, package["license"].as_str().unwrap_or_default().to_owned())
    };
    document["packages"].as_array().unwrap().iter().map(of).collect()
}

fn is_allowed(licence: &str, allowed: &[String]) -> bool {
    // Older packages write `/` for `OR`.
    Expression::parse_mode(licence, ParseMode::LAX)
        .is_ok_and(|expression| expression.evaluate(|asked| allowed.contains(&asked.to_string())))
}

#[test]
fn every_package_may_be_had_under_an_allowed_licence() {
    let (allowed, packages) = (allowed(), packages());
    assert!(packages.len() > 100, "{packages:?}");
    let refused: Vec<_> = packages.into_iter().filter(|(_, licence)| !is_allowed(licence, &allowed)).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn one_of_several_is_enough_and_all_of_several_are_needed() {
    let allowed = ["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
    for (licence, is_right) in [
        ("MIT", true),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("GPL-2.0-only", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(licence, &allowed), is_right, "{licence}");
    }
}
