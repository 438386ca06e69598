use cotenant_grammar::{Diagnostics, Severity, SourceSet};

use super::*;
use crate::compile;
use crate::topology::{CoreKind, CpuPlace};

mod language;
mod sensed;

/// `cores` cores of `threads` threads, siblings numbered side by side, two cores to a cache.
fn machine(cores: u32, threads: u32) -> Topology {
    let place = |cpu: u32| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: cpu / threads,
        llc: Some(cpu / threads / 2),
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&(0..cores * threads).map(place).collect::<Vec<_>>())
}

fn planned(text: &str, topology: &Topology) -> Plan {
    let (plan, diagnostics) = compile(SourceSet::one("p.policy", text), topology);
    plan.unwrap_or_else(|| panic!("{text}: {diagnostics:#?}"))
}

fn placed<'a>(plan: &'a Plan, name: &str) -> &'a Placement {
    plan.classes.iter().find(|class| class.name == name).unwrap().placement.as_ref().unwrap()
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// `code | text under the primary label | texts under the others` of errors and warnings.
fn findings(text: &str, topology: &Topology) -> Vec<String> {
    let sources = SourceSet::one("p.policy", text);
    let (plan, diagnostics) = compile(sources.clone(), topology);
    assert_eq!(plan.is_some(), !diagnostics.has_errors(), "{diagnostics:#?}");
    // The texts here say no more than they must; what lints make of that is tested with them.
    let terse = ["rt-covers-all", "rt-by-name"];
    let worth = diagnostics.iter().filter(|it| it.severity > Severity::Note && !terse.contains(&it.code.0));
    let line = |it: &cotenant_grammar::Diagnostic| {
        let others: Vec<_> = it.secondary.iter().map(|label| sources.text(label.span)).collect();
        format!("{} | {} | {}", it.code.0, sources.text(it.primary.span), others.join(" + "))
    };
    worth.map(line).collect()
}

#[test]
fn the_smallest_policy_plans_as_written() {
    let plan = planned("rt class web: prefer idle core, push equal prio; batch: only when core idle", &machine(16, 2));
    let web = placed(&plan, "web");
    assert_eq!(web.tiers.iter().map(CpuSet::brief).collect::<Vec<_>>(), ["0,2,…,30", "1,3,…,31"]);
    assert_eq!(web.spill_below, Some(1));
    assert_eq!(web.attributes, Attributes { policy: Some(Scheduling::RoundRobin(1)), nice: None });
    let batch = placed(&plan, "batch");
    assert_eq!((batch.gate, batch.attributes.policy), (Some(Gate::CoreIdle), Some(Scheduling::Idle)));
    assert_eq!(batch.tiers, [set("0-31")]);
}

#[test]
fn without_siblings_nothing_is_reactive() {
    let plan = planned("rt class web: prefer idle core; batch: only when core idle", &machine(8, 1));
    assert!(!plan.is_reactive());
    assert_eq!(placed(&plan, "web").tiers, [set("0-7")]);
    assert!(planned("fair class x: only when core idle;", &machine(8, 1)).is_reactive());
}

#[test]
fn sets_of_cpus_mean_what_they_say() {
    let topology = machine(4, 2);
    let cases = [
        ("all", "0-7"),
        ("cpus 0-3", "0-3"),
        ("core 1", "2-3"),
        ("cores 1-2 and cpu 0", "0,2-5"),
        ("llc 1", "4-7"),
        ("siblings of all", "1,3,5,7"),
        ("fronts of llc 0", "0,2"),
        ("all except core 0 within llc 0", "2-3"),
        ("all except (core 0 within llc 0)", "2-7"),
        ("siblings of z", "3"),
        ("performance cores", "0-7"),
    ];
    for (text, list) in cases {
        let plan = planned(&format!("zone z: core 1; class a: on {text}; class b: on z;"), &topology);
        assert_eq!(placed(&plan, "a").zone, set(list), "{text}");
    }
}

#[test]
fn cores_may_have_any_number_of_threads() {
    let places: Vec<CpuPlace> = [(0, 0), (4, 0), (1, 1), (2, 2), (5, 2), (6, 2), (7, 2)]
        .map(|(cpu, core)| CpuPlace {
            cpu: CpuId(cpu),
            online: cpu != 5,
            core,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        })
        .to_vec();
    let plan = planned("class a: prefer idle core; class b: never spill;", &Topology::new(&places));
    assert_eq!(placed(&plan, "a").tiers, [set("0-2"), set("4,6-7")]);
    assert_eq!(placed(&plan, "b").tiers, [set("0-2")]);
}

#[test]
fn a_zone_of_siblings_only_has_no_overflow() {
    let plan = planned("class a: on siblings of all, prefer idle core;", &machine(4, 2));
    assert_eq!((&placed(&plan, "a").tiers[..], placed(&plan, "a").spill_below), (&[set("1,3,5,7")][..], None));
}

#[test]
fn floors_keep_elastic_classes_off_and_no_others() {
    let text = "class db: at least 2 cores; rt class web: prefer idle core, at least 1 core; batch: only when core idle; \
        class plain: on all;";
    let plan = planned(text, &machine(4, 2));
    assert_eq!(placed(&plan, "db").floor, set("0-3"));
    assert_eq!(placed(&plan, "web").floor, set("4-5"));
    assert_eq!(placed(&plan, "web").reach(), set("4-7"));
    assert_eq!(placed(&plan, "batch").reach(), set("6-7"));
    assert_eq!(placed(&plan, "plain").reach(), set("0-7"));
    assert_eq!(placed(&plan, "db").reach(), set("0-7"));
}

#[test]
fn every_clause_is_accounted_for() {
    let text = "rt class web: on all, fifo, priority 9, prefer idle core, spill to siblings below 2 idle cores, \
        hold equal prio, at least 1 core;";
    let plan = planned(text, &machine(4, 2));
    let kept: Vec<_> = placed(&plan, "web").clauses.iter().map(|clause| clause.text.as_str()).collect();
    let expected = [
        "on",
        "fifo, priority 9",
        "prefer idle core",
        "spill to siblings below 2 idle cores",
        "hold equal prio",
        "at least 1 core",
    ];
    assert_eq!(kept, expected);
}

#[test]
fn each_mistake_is_found_at_its_place() {
    let cases = [
        ("class a: on back;", "undefined-zone | back | "),
        ("zone back: all; class a: on bakc; class b: on back;", "undefined-zone | bakc | back"),
        ("class a: match webs;", "undefined-processes | webs | "),
        ("class a: nice 1; class a: nice 2;", "defined-twice | a | a"),
        ("zone z: all; zone z: cpu 0; class a: on z;", "defined-twice | z | z"),
        ("zone all: cpu 0; class a: on all;", "reserved-name | all | "),
        ("zone z: all and z; class a: on z;", "refers-to-itself | z | z"),
        ("zone z: all; class a: nice 1;", "unused-name | z | "),
        ("class a: match comm [x;", "bad-glob | [x | "),
        ("class a: match comm \"a \";", "blank-at-end | \"a \" | "),
        ("class a: match comm abcdefghijklmnop;", "comm-too-long | abcdefghijklmnop | "),
        ("class a: match comm \"\";", "empty-pattern | \"\" | "),
        ("class a: nice 1, nice 2;", "repeated-clause | nice 2 | nice 1"),
        ("class a: never spill, spill to siblings;", "contradiction | spill to siblings | never spill"),
        ("rt class a: push equal prio, hold equal prio;", "contradiction | hold equal prio | push equal prio"),
        ("rt class a: round robin, fifo;", "contradiction | fifo | round robin"),
        ("class a: priority 3;", "wrong-kind | priority 3 | class a"),
        ("rt class a: nice 3;", "wrong-kind | nice 3 | rt"),
        ("unmanaged class a: nice 3;", "wrong-kind | nice 3 | unmanaged"),
        ("rt class a: priority 100;", "priority-out-of-range | 100 | "),
        ("class a: nice -21;", "nice-out-of-range | -21 | "),
        ("class a: at least 0 cores;", "zero-cores | 0 | "),
        (
            "unmanaged: match exe x with descendants; unmanaged: with descendants;",
            "unmanaged-without-match | unmanaged | ",
        ),
        ("class a: on cpus 6-9;", "not-on-this-machine | cpus 6-9 | "),
        ("class a: on core 4;", "not-on-this-machine | core 4 | "),
        ("class a: on efficiency cores;", "empty-cpu-set | on efficiency cores | "),
        ("class a: on core 1, at least 2 cores;", "floor-too-high | 2 | on core 1"),
        (
            "class a: on core 1, at least 1 core; class b: on core 1, prefer idle core;",
            "floors-leave-nothing | b | at least 1 core",
        ),
        (
            "rt class a: hold equal prio, on core 1; rt class b: push equal prio;",
            "equal-prio-conflict | hold equal prio | push equal prio",
        ),
    ];
    for (text, finding) in cases {
        assert_eq!(findings(text, &machine(4, 2)), [finding], "{text}");
    }
}

#[test]
fn what_follows_from_a_mistake_is_not_reported() {
    let text = "zone z: nod 0; class a: on z, match exee x; class b: match (exe y or s), prefre; processes s: zoom y;";
    let codes: Vec<_> = findings(text, &machine(4, 2));
    assert_eq!(codes.len(), 4, "{codes:#?}");
    let (_, diagnostics) = compile(SourceSet::one("p", "rt class a: macth exe x;"), &machine(4, 2));
    assert_eq!(diagnostics.iter().len(), 1, "no note on matching by name");
}

#[test]
fn matching_by_name_is_noted() {
    let (_, diagnostics): (_, Diagnostics) = compile(SourceSet::one("p", "batch: only when core idle"), &machine(4, 2));
    let codes: Vec<_> = diagnostics.iter().map(|it| (it.severity, it.code.0)).collect();
    assert_eq!(codes, [(Severity::Note, "matched-by-name")]);
}

#[test]
fn a_diff_says_what_changes_and_no_more() {
    let machine = machine(4, 2);
    let old = planned("rt class a: fifo; class b: nice 1; class c: nice 2;", &machine);
    let new = planned("# moved\n\nclass c: nice 2;\nrt class a: round robin, on core 1;\nclass d: nice 1;", &machine);
    let said: Vec<_> = diff(&old, &new).iter().map(ToString::to_string).collect();
    let expected =
        ["class `a`: other CPUs, scheduling", "class `d` added", "class `b` removed", "classes match in another order"];
    assert_eq!(said, expected);
    assert_eq!(diff(&old, &planned("  rt class a: fifo; class b: nice 1; class c: nice 2;", &machine)), []);
}
