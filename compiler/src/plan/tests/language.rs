//! The whole language in plans: what is carried, what is kept, and what is refused in so many words.

use cotenant_grammar::tree::{Duration, IdleUnit, LinuxVersion, OnChange, Percent, PlaceBy, Quota};

use super::*;
use crate::selector::{Pattern, Scope};

/// `clause: effect (strength)`
fn kept(plan: &Plan, class: &str) -> Vec<String> {
    let said = |it: &KeptClause| format!("{}: {} ({})", it.text, it.effect, it.strength.word());
    placed(plan, class).clauses.iter().map(said).collect()
}

#[test]
fn a_plan_carries_every_clause() {
    let text = "class b: match exe b; class a: match exe a, on all, prefer last cpu, share core with itself, class b, \
        only when llc idle, wait at most 1.5s, at most 50% of cores, slice 500us, weight 200, quota 2.5 cpus, \
        clamp 10%-50.5%, memory bandwidth at most 30%, llc at most 25%, insist, place by move, nice 3;";
    let plan = planned(text, &machine(4, 2));
    let expected = Demands {
        deadline: None,
        preference: Some(Preference::LastCpu),
        share_core: Some(CoreSharing { itself: true, classes: vec!["b".to_owned()] }),
        only_when_idle: Some(IdleUnit::Llc),
        wait_at_most: Some(Duration::millis(1500)),
        slice: Some(Duration::micros(500)),
        weight: Some(200),
        quota: Some(Quota(2500)),
        clamp: Some((Percent(1000), Percent(5050))),
        memory_bandwidth: Some(Percent(3000)),
        llc_share: Some(Percent(2500)),
        on_change: Some(OnChange::Insist),
        place_by: Some(PlaceBy::Move),
    };
    assert_eq!(placed(&plan, "a").demands, expected);
    insta::assert_snapshot!(kept(&plan, "a").join("\n"));
}

#[test]
fn what_is_refused_is_warned_about_where_it_stands() {
    let text = "kernel: autogroup off; class a: match thread io, nice 1, yield; class b: match policy idle, weight 9;";
    let found = findings(text, &machine(4, 2));
    let expected = ["autogroup off", "match thread io", "yield", "match policy idle", "weight 9"];
    assert_eq!(found, expected.map(|clause| format!("not-carried-out | {clause} | ")));
}

#[test]
fn a_ceiling_takes_the_class_its_own_floor_and_no_more_cores() {
    let machine = machine(4, 2);
    let plan = planned("class a: on cores 0-2, at least 1 core; class b: at least 1 core, at most 2 cores;", &machine);
    assert_eq!(placed(&plan, "b").floor, set("2-3"));
    assert_eq!(placed(&plan, "b").tiers, [set("0-3")]);
    assert_eq!(kept(&plan, "b")[1], "at most 2 cores: CPUs 0-3 only (strict)");
    let share =
        |text: &str| placed(&planned(&format!("class a: at most {text} of cores;"), &machine), "a").reach().len();
    assert_eq!([share("50%"), share("74.9%"), share("1%")], [4, 4, 2]);
    let plan = planned("class a: prefer idle core, at most 2 cores;", &machine);
    assert_eq!(placed(&plan, "a").tiers, [set("0,2"), set("1,3")]);
}

#[test]
fn what_the_machine_or_the_kernel_keeps_by_itself_is_not_refused() {
    let plan = planned("class a: prefer idle cpu, share core with nobody;", &machine(4, 1));
    let expected = [
        "prefer idle cpu: any idle CPU of 0-3, as the kernel searches (strict)",
        "share core with nobody: no core has a second thread here (strict)",
    ];
    assert_eq!(kept(&plan, "a"), expected);
    let plan = planned("batch: only when cpu idle;", &machine(4, 2));
    assert!(kept(&plan, "batch")[1].ends_with("beside fair threads (bounded)"), "{:?}", kept(&plan, "batch"));
}

#[test]
fn deadline_classes_are_admitted_by_the_kernels_sum() {
    let two =
        "deadline class a: match exe a, runtime 9ms every 10ms; deadline class b: match exe b, runtime 9ms every 10ms;";
    let codes = |text: &str, cores| {
        let found = findings(text, &machine(cores, 1));
        found.into_iter().filter(|it| !it.starts_with("not-carried-out")).collect::<Vec<_>>()
    };
    assert_eq!(codes(two, 2), Vec::<String>::new());
    assert_eq!(codes(two, 1), ["deadline-overload | runtime 9ms every 10ms | runtime 9ms every 10ms"]);
    let lower = format!("kernel: rt runtime 50%; {two}");
    assert_eq!(
        codes(&lower, 2),
        ["deadline-overload | runtime 9ms every 10ms | runtime 9ms every 10ms + rt runtime 50%"]
    );
    let reserved = placed(&planned("deadline class a: runtime 1ms every 10ms, deadline 5ms;", &machine(2, 1)), "a")
        .demands
        .deadline;
    let times = [1, 5, 10].map(Duration::millis);
    assert_eq!(reserved, Some(Reservation { runtime: times[0], deadline: times[1], period: times[2] }));
    assert_eq!(codes("deadline class a: on core 0, runtime 1ms every 10ms;", 2), ["deadline-zone | on core 0 | "]);
}

#[test]
fn a_host_that_does_not_meet_the_requirements_is_told_why() {
    let text = "require: linux 6.12, at least 4 cores, smt, core scheduling, cgroup v2, host \"web-*\";";
    let plan = planned(text, &machine(4, 2));
    let written: Vec<_> = plan.requirements.iter().map(|it| it.value.to_string()).collect();
    assert_eq!(written, ["linux 6.12", "at least 4 cores", "smt", "core scheduling", "cgroup v2", "host web-*"]);
    assert_eq!(plan.requirements[5].value, Requirement::Host(Pattern::new("web-*", Scope::Text).unwrap()));
    let linux = |major, minor| LinuxVersion { major, minor };
    let good = Host { linux: linux(7, 0), name: "web-1".to_owned(), core_scheduling: true, cgroup_v2: true };
    assert_eq!(plan.unmet(&good), []);
    let bad = Host { linux: linux(6, 2), name: "db".to_owned(), core_scheduling: false, cgroup_v2: false };
    let unmet = plan.unmet(&bad);
    let said: Vec<_> = unmet.iter().map(|it| format!("{}: {}", plan.sources.text(it.span), it.reason)).collect();
    let expected = [
        "linux 6.12: requires linux 6.12, and this host runs 6.2",
        "core scheduling: requires core scheduling, and its kernel is built without it",
        "cgroup v2: requires cgroup v2, and this host does not offer it",
        "host \"web-*\": requires host web-*, and this is `db`",
    ];
    assert_eq!(said, expected);
}

#[test]
fn misfits_of_the_whole_language_are_found_at_their_place() {
    let cases = [
        ("class a: prefer idle cpu, prefer last cpu;", "contradiction | prefer last cpu | prefer idle cpu"),
        ("class a: prefer idle cpu, prefer idle cpu;", "repeated-clause | prefer idle cpu | prefer idle cpu"),
        ("class a: prefer idle cpu, spill to siblings;", "contradiction | spill to siblings | prefer idle cpu"),
        ("class a: prefer cpus 6-9;", "not-on-this-machine | cpus 6-9 | "),
        ("class a: share core with nobody, itself;", "contradiction | itself | nobody"),
        (
            "class a: share core with nobody, spill to siblings;",
            "contradiction | spill to siblings | share core with nobody",
        ),
        ("unmanaged class u: match exe u; class a: share core with class u;", "contradiction | u | unmanaged class u"),
        ("batch: only when core idle, only when llc idle;", "contradiction | only when llc idle | only when core idle"),
        ("batch: only when llc idle, only when llc idle;", "repeated-clause | only when llc idle | only when llc idle"),
        ("class a: at least 3 cores, at most 2 cores;", "contradiction | at most 2 cores | at least 3 cores"),
        ("class a: at most 0 cores;", "zero-cores | 0 | "),
        ("class a: insist, yield;", "contradiction | yield | insist"),
        ("class a: match thread x, place by move;", "contradiction | place by move | match thread x"),
        ("class a: match thread abcdefghijklmnop;", "comm-too-long | abcdefghijklmnop | "),
        ("rt class a: slice 3ms;", "wrong-kind | slice 3ms | rt"),
        ("deadline class a: runtime 1ms every 9ms, never spill;", "wrong-kind | never spill | deadline"),
        ("unmanaged class a: insist;", "wrong-kind | insist | unmanaged"),
        ("deadline class a: runtime 2ms every 1ms;", "deadline-order | 2ms | 1ms"),
        ("deadline class a: runtime 1ms every 9s;", "deadline-out-of-range | 9s | "),
        ("class a: clamp 10%-101%;", "percent-out-of-range | 101% | "),
        ("class a: llc at most 0%;", "percent-out-of-range | 0% | "),
        ("kernel: rt runtime 101%;", "percent-out-of-range | 101% | "),
        ("require: host \"\";", "empty-pattern | \"\" | "),
        ("require: host [x;", "bad-glob | [x | "),
        ("include \"x\";", "include-empty | \"x\" | "),
    ];
    for (text, finding) in cases {
        assert_eq!(findings(text, &machine(4, 2)), [finding], "{text}");
    }
}

#[test]
fn a_diff_speaks_of_the_host_too() {
    let machine = machine(4, 2);
    let plan = |text: &str| planned(text, &machine);
    let old = plan("require: linux 6.1; kernel: autogroup on; class a: nice 1;");
    let said = |new: &Plan| diff(&old, new).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(said(&plan("class a: nice 1; kernel:\n autogroup on; require: linux 6.1;")), Vec::<String>::new());
    let new = plan("require: linux 6.2; kernel: autogroup off; class a: nice 1, insist;");
    let expected =
        ["class `a`: other clauses", "the host must meet other requirements", "other settings of the kernel"];
    assert_eq!(said(&new), expected);
}
