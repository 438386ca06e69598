//! Core-scheduling cookies, judged by the kernel's own numbers: what `PR_SCHED_CORE_GET` shows and who ran beside whom.
//!
//! They need a kernel that has to be built first, so they are asked for by name: `make test-core-sched`.

use std::sync::OnceLock;

use super::machine::{Kernel, Run, boot};
use super::trace::Trace;

fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    let boot = || boot(Kernel::CoreSched, "8,sockets=1,cores=4,threads=2", include_str!("guest/core_sched.sh"));
    RUN.get_or_init(boot)
}

/// What of web's time a thread of the other name ran on its sibling, and both times, as shares of the time watched.
fn beside(run: &Run, key: &str, name: &str, other: &str) -> (f64, f64, f64) {
    let trace = Trace::parse(run.all(key));
    let length = trace.length();
    let (ran, company) = (trace.ran(name), trace.ran(other));
    // The sum of nothing is -0.
    let shared = trace.shared(name, other) / ran + 0.0;
    eprintln!(
        "{key}: in {length:.2} s {name} ran {ran:.2} s, {:.2} % of it beside {other}, which ran {company:.2} s",
        100.0 * shared
    );
    (shared, ran / length, company / length)
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_gate_gives_way_to_fair_and_real_time_threads() {
    let run = run();
    let (alone, free, _) = beside(run, "none.trace", "web", "batch");
    assert!(alone > 0.5, "without a policy batch runs beside web: {alone}");
    let most = alone / 5.0;
    for kind in ["fair", "rt"] {
        let (shared, web, batch) = beside(run, &format!("{kind}.one.trace"), "web", "batch");
        // An emulated sibling hears late that it is to stop, later on a busy host, and the daemon is a load that closes a core
        // at times: what is asserted is far from the figures of an idle host, and further from those without a policy.
        assert!(shared < most, "{kind}: {shared} of web's time");
        assert!(web > 0.6 * free, "{kind}: web has {web} of a CPU, and {free} without a policy");
        assert!(batch > 6.0 * 0.4, "{kind}: batch has {batch} of the six CPUs of idle cores");
        let (shared, ..) = beside(run, &format!("{kind}.four.trace"), "web", "batch");
        assert!(shared < most, "{kind}: {shared} of the time of four");
        let (shared, web, batch) = beside(run, &format!("{kind}.two.trace"), "web", "batch");
        assert!(shared < most && web > 0.6 * free, "{kind}: {shared} of web's time, {web} of a CPU");
        // One of them alone would have no more than one.
        assert!(batch > 2.0 * 0.6, "{kind}: two threads have {batch} CPUs while three cores are idle");
    }
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_status_and_plan_say_what_keeps_the_gate() {
    let run = run();
    let said = |key: &str, text: &str| {
        let lines = run.all(key).join("\n");
        assert!(lines.contains(text), "{text}: {lines}");
    };
    said("gate.plan", "core-scheduling cookie");
    said("gate.plan", "bounded");
    for kind in ["fair", "rt"] {
        let cookies = run.get(&format!("{kind}.cookies"));
        let cookie = cookies.strip_prefix("8 ").unwrap();
        assert!(cookie != "0" && !cookie.contains(' '), "eight threads have one cookie: {cookies}");
        let row = run.all(&format!("{kind}.status")).iter().find(|line| line.starts_with("batch ")).unwrap();
        assert!(row.contains("2 of 2") && row.ends_with(cookie), "{row} says {cookie}");
        said(&format!("{kind}.json"), &format!("\"cookies\":[\"{cookie}\"]"));
        // No cookie, SCHED_OTHER again, and nobody else has one.
        run.is(&format!("{kind}.after"), "2 0 0 0");
    }
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_classes_to_themselves_never_meet_on_a_core() {
    let run = run();
    let (mixed, ..) = beside(run, "mixed.trace", "web", "batch");
    let (shared, web, batch) = beside(run, "itself.trace", "web", "batch");
    assert!(mixed > 0.8 && shared < mixed / 5.0, "{mixed} of web's time before, {shared} after");
    let (own, ..) = beside(run, "itself.trace", "web", "web");
    assert!(own > 0.7 && web > 0.5 && batch > 0.5, "{own} of it with its own; {web} and {batch} CPUs");
    assert_ne!(run.get("itself.web"), run.get("itself.batch"));
    // The one that does the work has none; its two holders have one each.
    let daemon: Vec<&str> = run.get("itself.daemon").split(' ').collect();
    let of = |class: &str| run.get(class).split(' ').nth(1).unwrap();
    assert_eq!((daemon[1], daemon.len()), ("0", 4), "{daemon:?}");
    assert!(daemon.contains(&of("itself.web")) && daemon.contains(&of("itself.batch")), "{daemon:?}");
    run.is("together", "yes");
    run.is("apart", "2 0 / 2 0");
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_nobody_is_a_cookie_a_thread() {
    let run = run();
    let cookies: Vec<&str> = run.get("nobody.cookies").split(' ').collect();
    assert!(cookies[0] == "4" && !cookies[1..].contains(&"0") && cookies.len() == 5, "{cookies:?}");
    let (shared, web, _) = beside(run, "nobody.trace", "web", "web");
    assert!(shared < 0.02 && web > 2.0, "{shared} of the time beside its own, on {web} CPUs");
    run.is("nobody.after", "4 0");
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_cookies_go_with_forks_and_not_with_programs_of_no_class() {
    let run = run();
    let tree: Vec<&str> = run.get("tree").split(" / ").collect();
    assert!(tree[0] == tree[1] && tree[0] != "1 0" && tree[2] == "1 0", "{tree:?}");
    run.is("killed", &format!("{} / {}", tree[0], tree[1]));
    run.is("after-kill", "1 0 / 1 0 / 1 0");
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_cookies_of_others_are_left_alone_and_reported() {
    let run = run();
    let said = run.all("foreign.said").join("\n");
    assert!(said.contains("of class `web`") && said.contains("another program gave it a cookie"), "{said}");
    run.is("foreign.kept", "yes");
    run.is("foreign.after", "yes");
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_release_finds_threads_that_nobody_saw_start() {
    let run = run();
    assert_eq!(run.all("applied"), ["2 processes placed"]);
    assert_ne!(run.get("applied.cookies"), "0");
    run.is("applied.orphan", "yes no");
    run.is("applied.orphan.after", "1 0");
    run.is("applied.after", "0");
}

#[test]
#[ignore = "its kernel has to be built: make test-core-sched"]
fn core_sched_is_not_relied_on_while_another_scheduler_is_loaded() {
    let text = run().all("overruled").join("\n");
    for part in [
        "it is not relied on while a sched_ext scheduler is loaded",
        "no cookie while a sched_ext",
        "sensor",
        "refused",
    ] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {text}");
    }
    run().is("overruled.back", "yes");
}
