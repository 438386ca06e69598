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
    let expected = ["autogroup off", "match thread io", "match policy idle", "weight 9"];
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
fn a_preferred_part_is_a_tier_before_the_rest_and_siblings_come_last() {
    let machine = machine(4, 2);
    let tiers = |text: &str| {
        let plan = planned(text, &machine);
        (placed(&plan, "a").tiers.iter().map(CpuSet::to_string).collect::<Vec<_>>(), kept(&plan, "a").join("; "))
    };
    let (sets, said) = tiers("class a: prefer llc 1;");
    assert_eq!(sets, ["4-7", "0-3"]);
    assert_eq!(said, "prefer: CPUs 4-7 first, 0-3 when those are full (reactive)");
    assert_eq!(tiers("class a: prefer llc 1, never spill;").0, ["4,6", "0,2"]);
    assert_eq!(tiers("class a: prefer llc 1, spill to siblings;").0, ["4,6", "0,2", "1,3,5,7"]);
    assert_eq!(tiers("class a: prefer llc 1, at most 3 cores;").0, ["4-7", "0-1"]);
    let all = "prefer: CPUs 4-7 are all preferred (strict)";
    let (sets, said) = tiers("class a: on llc 1, prefer all;");
    assert!(sets == ["4-7"] && said.ends_with(all), "{said}");
    let (sets, said) = tiers("class a: prefer siblings of all, never spill;");
    assert!(sets == ["0,2,4,6"] && said.contains("none of 1,3,…,7 is left to the class (refused)"), "{said}");
    let floor = "class a: prefer llc 1, at least 1 core;";
    assert_eq!(placed(&planned(floor, &machine), "a").floor, set("4-5"));
    let taken = "class b: match exe b, on llc 1, at least 2 cores; class a: prefer llc 1;";
    assert_eq!(tiers(taken).0, ["0-3"], "a share that moves is kept off the floors of others");
}

#[test]
fn gates_say_what_they_watch_and_how_long_a_class_waits() {
    let said = |text: &str, machine: &Topology| {
        let plan = planned(text, machine);
        (placed(&plan, "a").gate, kept(&plan, "a").join("; "))
    };
    let smt = machine(4, 2);
    let (gate, text) = said("fair class a: only when cpu idle;", &smt);
    assert_eq!(
        (gate, &text[..]),
        (Some(Gate::CpuIdle), "only when cpu idle: off every CPU on which others run (reactive)")
    );
    let (gate, text) = said("batch class a: only when node idle, at most 1 core;", &smt);
    assert_eq!(gate, Some(Gate::NodeIdle));
    assert!(text.ends_with("at most 1 core: one core of CPUs 0-7 at a time (strict)"), "{text}");
    let no_caches = (0..4).map(|cpu| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: cpu,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    });
    let (gate, text) = said("fair class a: only when llc idle;", &Topology::new(&no_caches.collect::<Vec<_>>()));
    assert_eq!((gate, text.contains("no caches are reported here")), (Some(Gate::NodeIdle), true), "{text}");
    let waits =
        |text: &str, machine: &Topology| said(text, machine).1.split("wait at most ").last().unwrap().to_owned();
    let text = "batch class a: only when core idle, wait at most 30s";
    assert_eq!(
        waits(&format!("{text};"), &smt),
        "30s: after that long stopped, on the least occupied core for 3s or more (reactive)"
    );
    assert_eq!(
        waits(&format!("{text}, at least 1 core;"), &smt).split(';').next().unwrap(),
        "30s: CPUs 0-1 stay open, so it is never stopped (strict)"
    );
    assert_eq!(
        waits(&format!("{text};"), &machine(4, 1)),
        "30s: never stopped: SCHED_IDLE has some 0.3 % beside fair threads (bounded)"
    );
}

#[test]
fn threads_stay_on_their_last_cpu_unless_they_are_held_anyway() {
    let plan = planned("rt class a: prefer last cpu, hold equal prio;", &machine(4, 2));
    assert!(!placed(&plan, "a").is_reactive());
    assert_eq!(kept(&plan, "a")[1], "prefer last cpu: each thread has one CPU, where it last ran (strict)");
    assert!(placed(&planned("class a: prefer last cpu;", &machine(4, 2)), "a").is_reactive());
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
        ("rt class a: prefer last cpu, push equal prio;", "contradiction | push equal prio | prefer last cpu"),
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

fn planned_on(text: &str, topology: &Topology, core_scheduling: CoreScheduling) -> (Plan, Vec<String>) {
    let facilities = Facilities { core_scheduling, ..Facilities::default() };
    let (plan, diagnostics) = crate::compile_on(SourceSet::one("p.policy", text), topology, facilities);
    let said = diagnostics.iter().filter(|it| it.severity == Severity::Warning).map(|it| it.message.clone());
    (plan.unwrap(), said.collect())
}

#[test]
fn core_scheduling_keeps_sharing_and_gates_by_cookies() {
    let text = "class a: match exe a, share core with itself, class b; class b: match exe b; \
        class n: match exe n, share core with nobody; batch: only when core idle; class f: only when core idle;";
    let (plan, said) = planned_on(text, &machine(4, 2), CoreScheduling::Present);
    assert_eq!(said, Vec::<String>::new());
    let cookie = |class: &str| placed(&plan, class).cookie.clone();
    let common = |names: &[&str]| Some(Cookie::Common(names.iter().map(|name| (*name).to_owned()).collect()));
    assert_eq!([cookie("a"), cookie("b")], [common(&["a", "b"]), common(&["a", "b"])]);
    assert_eq!([cookie("n"), cookie("batch"), cookie("f")], [Some(Cookie::Each), common(&["batch"]), None]);
    let promise = |class: &str, at: usize| {
        let clause = &placed(&plan, class).clauses[at];
        (clause.text.clone(), clause.means, clause.strength)
    };
    let gate = "only when core idle".to_owned();
    assert_eq!(promise("a", 0), ("share core with itself, class b".to_owned(), Means::Cookie, Strength::Strict));
    assert_eq!(promise("b", 0), ("share core".to_owned(), Means::Cookie, Strength::Strict), "it is kept to that group");
    assert_eq!(promise("n", 0), ("share core with nobody".to_owned(), Means::Cookie, Strength::Strict));
    assert_eq!(promise("batch", 1), (gate.clone(), Means::Cookie, Strength::Bounded));
    // Without SCHED_IDLE a cookie would take turns with others.
    assert_eq!(promise("f", 0), (gate, Means::TickLoop, Strength::Reactive));
    assert!(placed(&plan, "batch").gives_way() && !placed(&plan, "f").gives_way());
}

#[test]
fn without_core_scheduling_sharing_is_refused_for_the_reason_there_is_and_gates_are_watched() {
    let text = "class a: match exe a, share core with itself; batch: only when core idle;";
    let cases = [
        (CoreScheduling::Unknown, "nothing says that this machine has it"),
        (CoreScheduling::Missing, "this kernel lacks it"),
        (CoreScheduling::Overruled, "it is not relied on while a sched_ext scheduler is loaded"),
    ];
    for (core_scheduling, why) in cases {
        let (plan, said) = planned_on(text, &machine(4, 2), core_scheduling);
        assert_eq!(said, [format!("`share core with itself` needs core scheduling, and {why}")]);
        assert_eq!(placed(&plan, "a").clauses[0].strength, Strength::Refused);
        assert_eq!(placed(&plan, "batch").clauses[1].means, Means::TickLoop, "{core_scheduling:?}");
        assert!(plan.classes.iter().all(|class| class.placement.as_ref().unwrap().cookie.is_none()));
    }
}

#[test]
fn a_described_machine_has_the_core_scheduling_that_the_policy_requires() {
    let text = "require: core scheduling; class a: match exe a, share core with itself;";
    let strength =
        |core_scheduling| placed(&planned_on(text, &machine(4, 2), core_scheduling).0, "a").clauses[0].strength;
    assert_eq!(strength(CoreScheduling::Unknown), Strength::Strict);
    assert_eq!(strength(CoreScheduling::Missing), Strength::Refused, "this host is known not to have it");
}

#[test]
fn sharing_that_makes_no_group_is_found_once_a_group() {
    let cases: [(&str, &[&str]); 5] = [
        ("class a: share core with itself, class b; class b: share core with class a, itself;", &[]),
        ("class a: share core with itself, class b; class b: nice 1;", &[]),
        ("class a: share core with class a, class b; class b: nice 1;", &[]),
        ("class a: share core with class b; class b: share core with class a;", &["share core with class b | "]),
        (
            "class a: share core with itself, class s; class s: nice 1; class c: share core with itself, class s;",
            &["share core with itself, class s | s"],
        ),
    ];
    for (text, expected) in cases {
        let text = format!("require: core scheduling; {text}");
        let expected: Vec<String> = expected.iter().map(|it| format!("uneven-sharing | {it}")).collect();
        assert_eq!(findings(&text, &machine(4, 2)), expected, "{text}");
    }
    let gates = "class a: share core with class b; batch class b: only when core idle;";
    assert_eq!(findings(gates, &machine(4, 2)), ["contradiction | b | only when core idle"]);
    let both = "batch class a: match exe a, only when core idle, share core with itself, class b; \
        batch class b: only when core idle;";
    let (plan, said) = planned_on(both, &machine(4, 2), CoreScheduling::Present);
    assert_eq!((said, placed(&plan, "b").cookie.clone()), (Vec::new(), placed(&plan, "a").cookie.clone()));
}
