//! Placing by group and by affinity on version 2 of control groups, and the way back, on both kernels.

use std::sync::OnceLock;

use super::machine::{Kernel, Run, boot, skipped};

const EVERYBODY: [&str; 8] = ["alone", "thread", "pair", "pair_masked", "shared", "stranger", "root", "root_masked"];
const GROUPS: [&str; 3] = ["group.alone", "group.pair", "group.shared"];

/// One machine for each kernel, and every test looks at both.
fn on_both(look: impl Fn(&Run)) {
    static RUNS: OnceLock<[Run; 2]> = OnceLock::new();
    if skipped() {
        return;
    }
    let run = |kernel| boot(kernel, "8,sockets=1,cores=4,threads=2", include_str!("guest/placement.sh"));
    for run in RUNS.get_or_init(|| [Kernel::Newer, Kernel::Stock].map(run)) {
        eprintln!("on Linux {}", run.get("kernel"));
        look(run);
    }
}

/// The kernel forgets a thread's own mask when its cpuset changes.
fn forgets_masks(run: &Run) -> bool {
    let mut numbers = run.get("kernel").split('.').map(|part| part.parse::<u32>().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap()) < (6, 2)
}

/// All is as it was before. A group that had no CPUs of its own has all of them, which is what it had in fact.
fn is_as_before(run: &Run, when: &str, who: &[&str]) {
    for who in who {
        let before = run.get(&format!("before.{who}"));
        let before = if who.starts_with("group") && before.is_empty() { "0-7" } else { before };
        let now = run.get(&format!("{when}.{who}"));
        assert!(now == before || now.is_empty() && before == "0-7", "{when}: {who} was {before} and is {now}");
    }
}

#[test]
fn the_machine_has_siblings_and_the_plan_has_fronts() {
    on_both(|run| {
        let topology = run.all("topology");
        assert_eq!(topology[0], "1 package, 1 node, 1 llc, 4 cores, 8 CPUs (2 threads a core)");
        for core in 0..4 {
            let row = format!("{core} {} {} 0 0 0", 2 * core, 2 * core + 1);
            assert!(topology.iter().any(|line| line.split_whitespace().eq(row.split(' '))), "{row}: {topology:?}");
        }
        let class = run.all("plan").iter().find(|line| line.starts_with("web ")).unwrap();
        assert!(class.contains("exe /bin/web  0,2,…,6") && class.ends_with("SCHED_RR 7"), "{class}");
    });
}

#[test]
fn a_kernel_without_core_scheduling_is_said_to_lack_it() {
    on_both(|run| {
        let text = run.all("share").join("\n");
        assert!(text.contains("`share core with itself` needs core scheduling, and this kernel lacks it"), "{text}");
        let kept = |clause: &str, by: &str, strength: &str| {
            let says = |line: &&String| line.starts_with(clause) && line.contains(&format!("  {by} "));
            let row = run.all("share").iter().find(says).unwrap_or_else(|| panic!("{clause}, by {by}: {text}"));
            assert!(row.contains(&format!("  {strength}  ")), "{row}");
        };
        kept("share core with", "nothing", "refused");
        kept("only when core idle", "sensor", "reactive");
        run.is("required.code", "1");
        let text = run.all("required").join("\n");
        assert!(text.contains("requires core scheduling, and its kernel is built without it"), "{text}");
    });
}

#[test]
fn a_group_that_holds_one_class_is_used_in_place() {
    on_both(|run| {
        run.is("placed.alone", "2 7 0,2,4,6 /alone");
        // Somebody has kept it off CPUs 6 and 7.
        run.is("placed.pair", "2 7 0,2,4 /pair");
        run.is("placed.group.alone", "0,2,4,6");
        run.is("placed.group.pair", "0,2,4");
        if !forgets_masks(run) {
            run.is("placed.thread", "2 7 2 /alone");
            run.is("placed.pair_masked", "2 7 2 /pair");
        }
        let status = run.all("status");
        assert!(
            status.iter().any(|line| line.starts_with("web ") && line.ends_with("affinity 3, cgroup 3")),
            "{status:?}"
        );
    });
}

#[test]
fn where_others_are_threads_get_masks_and_the_others_nothing() {
    on_both(|run| {
        run.is("placed.shared", "2 7 0,2,4,6 /shared");
        run.is("placed.stranger", "0 0 0-7 /shared");
        run.is("placed.group.shared", "");
        run.is("placed.root", "2 7 0,2,4,6 /");
        run.is("placed.root_masked", "2 7 4 /");
        let status = run.all("status");
        let because = |reason| status.iter().filter(|line| line.ends_with(reason)).count();
        assert_eq!(because("affinity   its cgroup holds other processes as well"), 1, "{status:?}");
        assert_eq!(because("affinity   it is in the root cgroup"), 2, "{status:?}");
    });
}

#[test]
fn a_group_is_given_back_when_another_program_starts_in_it() {
    on_both(|run| {
        run.is("joined.group.alone", "0-7");
        run.is("newcomer", "0 0 0-7 /alone");
        run.is("joined.alone", "2 7 0,2,4,6 /alone");
        run.is("joined.thread", "2 7 2 /alone");
        run.is("joined.group.pair", "0,2,4");
        let status = run.all("status.joined");
        let because = |reason| status.iter().filter(|line| line.ends_with(reason)).count();
        assert_eq!(because("affinity   its cgroup holds other processes as well"), 2, "{status:?}");
    });
}

#[test]
fn everything_is_put_back_by_a_signal_and_by_release_after_a_crash() {
    on_both(|run| {
        let all = [&EVERYBODY[..], &GROUPS].concat();
        is_as_before(run, "after-term", &all);
        assert!(run.get("killed.alone").starts_with("2 7"), "nobody was there to put it back");
        run.is("release", "6 processes put back");
        is_as_before(run, "after-kill", &all);
        assert!(run.all("complaint").is_empty(), "{:?}", run.all("complaint"));
    });
}

#[test]
fn a_sibling_that_is_offline_is_no_part_of_the_machine() {
    on_both(|run| {
        let topology = run.all("offline.topology");
        assert_eq!(topology[0], "1 package, 1 node, 1 llc, 4 cores, 7 CPUs (1 or 2 threads a core), 1 offline");
        assert!(run.all("offline.plan")[0].ends_with("1 offline"), "{:?}", run.all("offline.plan"));
        run.is("offline.root", "2 7 0,2,4,6 /");
        is_as_before(run, "after-offline", &["shared", "stranger", "root", "group.shared"]);
    });
}
