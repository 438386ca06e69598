//! The policies people start from: each is laid out, free of findings, and planned on four kinds of machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{files, run, run_with, stem};

const MACHINES: [&str; 4] = ["smt-16x2", "no-smt-8", "hybrid-8p-8e", "numa-2x2"];

#[test]
fn every_policy_is_planned_on_every_kind_of_machine() {
    for path in files("policies", ".policy") {
        for machine in MACHINES {
            let plan = run(&["plan", "--topology", &format!("tests/machines/{machine}.xml"), &path]);
            assert_eq!(plan.code, Some(0), "{path} on {machine}");
            assert!(plan.stderr.is_empty() || machine == "no-smt-8", "{path} on {machine}: {}", plan.stderr);
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "plan" }, {
                insta::assert_snapshot!(format!("{}@{machine}", stem(&path)), plan.stdout);
            });
        }
    }
}

#[test]
fn every_policy_is_laid_out() {
    let check = run(&["fmt", "--check", "policies"]);
    assert_eq!((check.code, check.stdout.as_str(), check.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn every_policy_is_free_of_findings_on_large_and_small_machines() {
    for path in files("policies", ".policy") {
        for machine in ["pack:1 core:16 pu:2", "core:2 pu:2"] {
            let lint = run(&["lint", "--deny", "warnings", "--topology", machine, &path]);
            assert_eq!(lint.code, Some(0), "{}", lint.stderr);
            assert_eq!(lint.stderr.lines().count(), 1, "{}", lint.stderr);
        }
        // They are written for machines with SMT, and say so on others.
        let lint = run(&["lint", "--format", "short", "--topology", "core:2 pu:1", &path]);
        assert!(lint.stderr.lines().all(|line| line.contains(": warning[no-smt]: ")), "{}", lint.stderr);
    }
}

const ONE_LINE: &str = "rt class web: prefer idle core, push equal prio; batch: only when core idle";

#[test]
fn the_smallest_policy_fills_fronts_before_siblings() {
    let plan = run_with(&["plan", "--topology", "pack:1 core:16 pu:2", "-"], ONE_LINE.as_bytes());
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    insta::assert_snapshot!(plan.stdout, @r"
    machine: 1 package, 1 node, 16 cores, 32 CPUs (2 threads a core)
    policy:  1 file, 2 classes; a process belongs to the first that matches it

    class  kind   matches     CPUs, in filling order              scheduling
    ─────────────────────────────────────────────────────────────────────────
    web    rt     name web    0,2,…,30                            SCHED_RR 1
                              then 1,3,…,31 when no core is idle
    batch  batch  name batch  0-31                                SCHED_IDLE
                              only when core idle

    rt class web (<stdin>:1:1)

    clause            effect here                                 kept by        strength  at
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    rt                SCHED_RR, priority 1                        sched_setattr  strict    <stdin>:1:1
    prefer idle core  fronts 0,2,…,30 first, siblings 1,3,…,31    tick loop      reactive  <stdin>:1:15
                      as overflow
    push equal prio   every thread movable in all of 0-31         allowed CPUs   strict    <stdin>:1:33

    batch class batch (<stdin>:1:50)

    clause               effect here                         kept by        strength  at
    ───────────────────────────────────────────────────────────────────────────────────────────────
    batch                SCHED_IDLE                          sched_setattr  strict    <stdin>:1:50
    only when core idle  off every core on which others run  tick loop      reactive  <stdin>:1:57

    strict    the kernel guarantees it
    reactive  a loop keeps it, within one tick, 10 ms
    ");
}

#[test]
fn a_plan_as_json_names_every_cpu() {
    let plan = run_with(&["plan", "--format", "json", "--topology", "core:4 pu:2", "-"], ONE_LINE.as_bytes());
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(plan["schema_version"], 1);
    let [web, batch] = [&plan["classes"][0], &plan["classes"][1]];
    assert_eq!(web["placement"]["tiers"][0]["list"], "0,2,4,6");
    assert_eq!(web["placement"]["tiers"][1]["cpus"], serde_json::json!([1, 3, 5, 7]));
    assert_eq!(web["placement"]["spill_below"], 1);
    assert_eq!(
        web["placement"]["scheduling"],
        serde_json::json!({ "policy": "SCHED_RR", "priority": 1, "nice": null })
    );
    assert_eq!(web["placement"]["clauses"][1]["text"], "prefer idle core");
    assert_eq!(web["placement"]["clauses"][1]["strength"], "reactive");
    assert_eq!(web["placement"]["clauses"][1]["source"]["start"]["column"], 15);
    assert_eq!(batch["placement"]["gate"], "only when core idle");
    assert_eq!(batch["match"], "name batch");
}

#[test]
fn a_plan_as_json_gives_every_clause_as_a_value() {
    let text = "require: linux 5.14, cgroup v2, host \"web*\", at least 2 cores; kernel: rt runtime 90.5%, feature WAKEUP_PREEMPTION off; \
        class b: nice 1; class a: on cores 0-1, prefer cores 0-0, share core with itself, class b, only when llc idle, \
        wait at most 1.5s, slice 500us, weight 200, quota 2.5 cpus, clamp 10%-50.5%, memory bandwidth at most 30%, \
        llc at most 12.5%, insist, place by move; deadline class d: runtime 2ms every 10ms, deadline 8ms;";
    let plan = run_with(&["plan", "--format", "json", "--topology", "core:4 pu:2", "-"], text.as_bytes());
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    let demands = |class: usize| plan["classes"][class]["placement"]["demands"].clone();
    assert_eq!(
        demands(1),
        serde_json::json!({
            "deadline": null,
            "preference": { "what": "cpus", "cpus": { "list": "0-1", "cpus": [0, 1] } },
            "share_core": { "itself": true, "classes": ["b"] },
            "only_when_idle": "llc",
            "wait_at_most_ns": 1_500_000_000,
            "slice_ns": 500_000,
            "weight": 200,
            "quota_cpus": 2.5,
            "clamp": { "low_percent": 10.0, "high_percent": 50.5 },
            "memory_bandwidth_percent": 30.0,
            "llc_percent": 12.5,
            "on_change": "insist",
            "place_by": "move",
        })
    );
    assert!(demands(0).as_object().unwrap().values().all(serde_json::Value::is_null), "{:#}", demands(0));
    assert_eq!(demands(0).as_object().unwrap().len(), demands(1).as_object().unwrap().len());
    let reserved = serde_json::json!({ "runtime_ns": 2_000_000, "deadline_ns": 8_000_000, "period_ns": 10_000_000 });
    assert_eq!(demands(2)["deadline"], reserved);
    let required = |at: usize| {
        let mut it = plan["requirements"][at].clone();
        let source = it.as_object_mut().unwrap().remove("source").unwrap();
        (it, source["start"]["column"].clone())
    };
    let null = serde_json::Value::Null;
    let of = |what: &str, said: &str, value: serde_json::Value| {
        let mut all = serde_json::json!({ "what": what, "linux": null, "host": null, "least_cores": null });
        all[said] = value;
        all
    };
    let linux = serde_json::json!({ "major": 5, "minor": 14 });
    assert_eq!(required(0), (of("linux", "linux", linux), 10.into()));
    assert_eq!(required(1), (of("cgroup v2", "linux", null.clone()), 22.into()));
    assert_eq!(required(2), (of("host", "host", "web*".into()), 33.into()));
    assert_eq!(required(3), (of("cores", "least_cores", 2.into()), 46.into()));
    assert_eq!(plan["requires"], serde_json::json!(["linux 5.14", "cgroup v2", "host web*", "at least 2 cores"]));
    let knob = |at: usize, field: &str| plan["kernel"][at][field].clone();
    assert_eq!(
        [knob(0, "knob"), knob(0, "rt_runtime_percent"), knob(0, "on")],
        ["rt runtime".into(), 90.5.into(), null.clone()]
    );
    assert_eq!(
        [knob(1, "feature"), knob(1, "on"), knob(1, "rt_runtime_percent")],
        ["WAKEUP_PREEMPTION".into(), false.into(), null]
    );
    assert_eq!(knob(1, "text"), "feature WAKEUP_PREEMPTION off");
}

#[test]
fn a_policy_with_errors_has_no_plan() {
    let plan = run(&["plan", "--topology", "core:4 pu:2", "tests/ui/unknown-clause.policy"]);
    assert_eq!((plan.code, plan.stdout.as_str()), (Some(1), ""));
    assert!(plan.stderr.contains("error[unknown-clause]") && plan.stderr.ends_with("1 error in 1 file\n"));
}
