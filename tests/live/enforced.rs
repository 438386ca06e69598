//! `plan --diff enforced`: what a policy would change about the one in force, which need not be what its files say.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::stage::{Stage, kernel, stage, until};

/// What the policy changes about what is enforced.
fn against_enforced(stage: &Stage, policy: &Path, more: &[&str]) -> String {
    let run_dir = stage.path("run");
    let arguments = ["plan", policy.to_str().unwrap(), "--diff", "enforced", "--run-dir", run_dir.to_str().unwrap()];
    let output = stage.ask(&[&arguments, more].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What the daemon hands out.
fn in_force(stage: &Stage) -> serde_json::Value {
    let mut socket = UnixStream::connect(stage.path("run/control.sock")).unwrap();
    socket.write_all(b"policy").unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

fn last_reload(stage: &Stage) -> serde_json::Value {
    stage.status()["daemon"]["last_reload"]["outcome"].clone()
}

const NOTHING: &str = "Nothing changes: every class gets what it had.\n";

#[test]
fn a_policy_is_compared_with_what_is_in_force_and_not_with_what_its_files_say() {
    let Some(mut stage) = stage() else { return };
    std::fs::create_dir(stage.path("conf.d")).unwrap();
    std::fs::create_dir(stage.path("next")).unwrap();
    let policy =
        stage.policy("p.policy", "class a: match exe @/a, nice 1; include \"conf.d/*.policy\"; zone z: cpu 0;");
    stage.policy("conf.d/web.policy", "class web: match exe @/web, on z, nice 3;");
    let next = stage.policy(
        "next/next.policy",
        "class a: match exe @/a, nice 1; zone z: cpu 0; class web: match exe @/web, on z, nice 4;",
    );
    let pid = stage.sleeper("web");
    stage.daemon(&policy, &[]);
    assert_eq!(kernel(pid).nice, 3);
    assert!(against_enforced(&stage, &policy, &[]).ends_with(NOTHING));
    let from = |before: &str| {
        let said = against_enforced(&stage, &next, &[]);
        let (_, changes) = said.split_once("\n\n").unwrap();
        assert_eq!(
            changes,
            format!("1 class changed.\n\n- **changed** fair class `web`\n  - scheduling: {before} → nice 4\n")
        );
    };
    from("nice 3");
    // Refused: in force is what was before, whatever the file says now.
    stage.policy("conf.d/web.policy", "class web: match exe @/web, on z, nise 5;");
    until("the refusal", || last_reload(&stage) == "refused");
    from("nice 3");
    // Mended, and so in force.
    stage.policy("conf.d/web.policy", "class web: match exe @/web, on z, nice 6;");
    until("the mended policy", || last_reload(&stage) == "applied");
    assert_eq!(kernel(pid).nice, 6);
    from("nice 6");
    // Said in other words, it is the other words that are in force.
    let reworded = stage.text("# in other words\nclass web: match exe @/web, on z, nice 6;");
    stage.policy("conf.d/web.policy", &reworded);
    until("the other words", || last_reload(&stage) == "unchanged");
    let handed_out = in_force(&stage);
    let text = &handed_out["sources"][0]["includes"][0]["sources"][0];
    assert_eq!((&text["text"], &text["name"]), (&reworded.into(), &stage.text("@/conf.d/web.policy").into()));
    from("nice 6");
}

#[test]
fn the_machine_is_the_one_that_is_enforced_for() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class web: match exe @/web, prefer idle core;");
    let next = stage.policy("next.policy", "class web: match exe @/web, on fronts of all;");
    stage.daemon(&policy, &["--topology", "pack:1 core:1 pu:2"]);
    let said = against_enforced(&stage, &next, &[]);
    let heading = "### Placement on 1 package, 1 node, 1 core, 2 CPUs (2 threads a core)\n";
    assert!(said.starts_with(heading), "{said}");
    assert!(said.contains("  - CPUs: 0, then 1 when no core is idle → 0 (loses 1)\n"), "{said}");
    // Another can be named, this one as well.
    let elsewhere = against_enforced(&stage, &next, &["--topology", "core:4 pu:2"]);
    assert!(elsewhere.contains("  - CPUs: 0,2,…,6, then 1,3,…,7 when no core is idle → 0,2,…,6 (loses"), "{elsewhere}");
    let live: serde_json::Value = serde_json::from_slice(
        &std::process::Command::new(env!("CARGO_BIN_EXE_cotenant"))
            .args(["topology", "--format", "json"])
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    let here = against_enforced(&stage, &next, &["--topology", "live"]);
    assert!(here.starts_with(&format!("### Placement on {}\n", live["summary"].as_str().unwrap())), "{here}");
}

#[test]
fn a_large_policy_gets_through() {
    let Some(mut stage) = stage() else { return };
    // As long as the largest known set of rules; comments, which are handed out too, take less time to compile.
    let rule = |at: usize| {
        let why = format!("# {}\n", "why this rule is here, ".repeat(40));
        format!("{why}class rule-number-{at}: match exe @/programs/number-{at}, nice {};\n", 1 + at % 19)
    };
    let text: String = (0..1_500).map(rule).collect();
    assert!(text.len() > 1 << 20);
    let policy = stage.policy("p.policy", &text);
    let next = stage.policy("next.policy", &(text + "class last: match exe @/last, nice 1;"));
    stage.daemon(&policy, &[]);
    let said = against_enforced(&stage, &next, &["--format", "json"]);
    let diff: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&diff["added"][0]["name"], diff["added"].as_array().unwrap().len()), (&"last".into(), 1));
    for none in ["changed", "removed", "moved"] {
        assert_eq!(diff[none], serde_json::json!([]), "{none}");
    }
}
