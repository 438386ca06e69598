//! What is said of each kind of change.

use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::SourceSet;
use insta::assert_snapshot;

use super::*;
use crate::render;

fn planned(text: &str) -> Plan {
    let machine = Topology::load(&TopologySource::Synthetic("core:4 pu:2".to_owned())).unwrap();
    let (plan, diagnostics) = compile(SourceSet::one("p", text), &machine);
    plan.unwrap_or_else(|| panic!("{diagnostics:#?}"))
}

fn said(old: &str, new: &str) -> String {
    let (old, new) = (planned(old), planned(new));
    render::diff(&Comparison::of(&old, &new), &new)
}

#[test]
fn the_same_policy_in_another_layout_changes_nothing() {
    let same = said("rt class a: fifo; class b: nice 1", "# moved\n\nrt class a:\n    fifo;\nclass b: nice 1;");
    assert_snapshot!(same, @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    Nothing changes: every class gets what it had.
    ");
}

#[test]
fn what_moves_is_said_before_and_after() {
    let old = "unmanaged: match exe sshd; rt class web: match unit w.service, on cores 0-1, priority 3, prefer idle core; \
        class db: match exe postgres, nice 1; batch class old: match slice \"a*b.slice\", only when core idle;";
    let new = "batch class night: match slice night.slice, only when core idle; \
        class db: match exe postgres, nice -5, at least 1 core; unmanaged: match exe sshd; \
        rt class web: match unit w.service and user `w`, on cores 1-3, fifo, priority 3, push equal prio;";
    assert_snapshot!(said(old, new), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class added, 2 classes changed, 1 class removed, 1 class matched in another order.

    - **added** batch class `night`
      - processes: `slice night.slice`
      - CPUs: 2-7
      - runs: only when core idle
      - scheduling: SCHED_IDLE
    - **changed** fair class `db`
      - floor: – → CPUs 0-1
      - scheduling: nice 1 → nice -5
    - **changed** rt class `web`
      - processes: `unit w.service` → `` unit w.service and user `w` ``
      - CPUs: 0,2, then 1,3 when no core is idle → 2-7 (gains 4-7, loses 0-1)
      - scheduling: SCHED_RR 3 → SCHED_FIFO 3
      - threads of equal priority: – → pushed
    - **removed** batch class `old`
      - processes: `slice a*b.slice`
      - CPUs: 0-7
      - runs: only when core idle
      - scheduling: SCHED_IDLE
    - **moved** class `db`: now tried behind `night`
    ");
}

#[test]
fn a_clause_kept_by_other_means_is_news() {
    let (old, mut new) = (planned("class a: nice 1;"), planned("class a: nice 1;"));
    for clause in new.classes.iter_mut().filter_map(|it| it.placement.as_mut()).flat_map(|it| &mut it.clauses) {
        clause.strength = cotenant_compiler::plan::Strength::Reactive;
    }
    let change = Change {
        what: "`nice 1`".to_owned(),
        before: Some("strict, by sched_setattr".to_owned()),
        after: Some("reactive, by sched_setattr".to_owned()),
        note: None,
    };
    assert_eq!(Comparison::of(&old, &new).changed[0].changes, [change]);
}

#[test]
fn what_the_host_must_be_and_what_is_set_there_is_compared() {
    let class = "class a: nice 1;";
    let old =
        format!("require: linux 5.14, host \"web*\"; kernel: autogroup on, rt runtime 95%, feature WAKE on; {class}");
    let new = format!(
        "require: linux 6.12, core scheduling, at least 4 cores; kernel: rt runtime 90.5%, feature WAKE off; {class}"
    );
    assert_snapshot!(said(&old, &new), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    Other requirements of the host, other settings of the kernel.

    - **changed** requirements of the host
      - linux: 5.14 → 6.12
      - core scheduling: – → required
      - cores: – → at least 4
      - host: `web*` → –
    - **changed** settings of the kernel
      - rt runtime: 95% → 90.5%
      - feature WAKE: on → off
      - autogroup: on → –
    ");
    assert_snapshot!(said(class, &format!("kernel: autogroup off; {class}")), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    Other settings of the kernel.

    - **changed** settings of the kernel
      - autogroup: – → off
    ");
    let other_layout =
        format!("{class} kernel: feature WAKE on, rt runtime 95%, autogroup on; require: host \"web*\", linux 5.14;");
    assert!(said(&old, &other_layout).ends_with("Nothing changes: every class gets what it had.\n"));
}

#[test]
fn whatever_a_class_asks_for_is_compared() {
    let asked = "class b: nice 1; class a: prefer idle cpu, share core with nobody, only when core idle, wait at most 2s, \
        slice 1ms, weight 100, quota 2 cpus, clamp 10%-50%, memory bandwidth at most 30%, llc at most 25%, yield, \
        place by cgroup;";
    let other = "class b: nice 1; class a: prefer cores 0-1, share core with itself, class b, only when node idle, \
        wait at most 3s, slice 2ms, weight 200, quota 2.5 cpus, clamp 10%-60%, memory bandwidth at most 40%, \
        llc at most 35%, insist, place by move;";
    assert_snapshot!(said(asked, other), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class changed.

    - **changed** fair class `a`
      - CPUs: 0-7 → 0-3, then 4-7 when those are full
      - runs: only when core idle → only when node idle
      - prefers: an idle CPU → CPUs 0-3
      - shares cores with: nobody → itself, class b
      - waits at most: 2s → 3s
      - slice: 1ms → 2ms
      - weight: 100 → 200
      - quota: 2 cpus → 2.5 cpus
      - clamp: 10%-50% → 10%-60%
      - memory bandwidth: at most 30% → at most 40%
      - llc: at most 25% → at most 35%
      - when others change a thread: yield → insist
      - placed by: cgroup → move
    ");
    let bare = "class b: nice 1; class a: on all;";
    assert_snapshot!(said(asked, bare), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class changed.

    - **changed** fair class `a`
      - runs: only when core idle → –
      - prefers: an idle CPU → –
      - shares cores with: nobody → –
      - waits at most: 2s → –
      - slice: 1ms → –
      - weight: 100 → –
      - quota: 2 cpus → –
      - clamp: 10%-50% → –
      - memory bandwidth: at most 30% → –
      - llc: at most 25% → –
      - when others change a thread: yield → –
      - placed by: cgroup → –
    ");
    let deadline = "deadline class d: runtime 2ms every 10ms;";
    assert_snapshot!(said(deadline, "deadline class d: runtime 2ms every 10ms, deadline 8ms;"), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class changed.

    - **changed** deadline class `d`
      - reservation: 2ms every 10ms → 2ms every 10ms, deadline 8ms
    ");
}

#[test]
fn classes_without_a_name_are_told_apart_by_what_they_match() {
    let old = "unmanaged: match exe sshd; unmanaged: match exe init;";
    let new = "unmanaged: match exe init; unmanaged: match exe cron;";
    assert_snapshot!(said(old, new), @r"
    ### Placement on 1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)

    1 class added, 1 class removed.

    - **added** unmanaged class `unmanaged`
      - processes: `exe cron`
    - **removed** unmanaged class `unmanaged`
      - processes: `exe sshd`
    ");
}
