//! CPUs that go and come under load, on both versions of control groups and both kernels.
//!
//! The scripts wait until the kernel shows what is expected after each step, and what they wait for in vain fails the boot;
//! what is asserted here is the rest.

use std::sync::OnceLock;

use super::machine::{Kernel, Run, Time, boot_in, skipped};

const SMP: &str = "8,sockets=1,cores=4,threads=2";

/// One machine for each kernel, and every test looks at both.
fn on_both(look: impl Fn(&Run)) {
    static RUNS: OnceLock<[Run; 2]> = OnceLock::new();
    if skipped() {
        return;
    }
    let run = |kernel| boot_in(Time::HostInTurns, kernel, SMP, include_str!("guest/hotplug.sh"), &[]);
    for run in RUNS.get_or_init(|| [Kernel::Newer, Kernel::Stock].map(run)) {
        eprintln!("on Linux {}", run.get("kernel"));
        look(run);
    }
}

fn has(run: &Run, key: &str, text: &str) {
    assert!(run.all(key).iter().any(|line| line.contains(text)), "{key}, {text}: {:#?}", run.all(key));
}

#[test]
fn every_state_of_the_machine_has_its_plan_and_everybody_goes_on() {
    on_both(|run| {
        for (step, online) in [
            ("placed", "0-7"),
            ("front", "0-3,5-7"),
            ("front.back", "0-7"),
            ("few.back", "0-7"),
            ("flap", "0-7"),
            ("smt.off", "0,2,4,6"),
            ("smt.on", "0-7"),
        ] {
            run.is(&format!("{step}.online"), online);
            run.is(&format!("{step}.works"), "yes");
            run.is(&format!("{step}.policy"), "0 5 2");
            run.is(&format!("{step}.refusals"), "0");
        }
        // Of two whole cores and a thread of a third there is nothing for the batch.
        run.is("few.online", "0-1,6");
        run.is("few.works", "yes yes");
        assert!(["0,6", "0-1,6"].contains(&run.get("few.group.web")), "{}", run.get("few.group.web"));
        for line in run.all("complaint.load") {
            assert!(line.contains(" INFO "), "{line}");
        }
        for who in ["web", "masked", "batch", "held", "root_batch"] {
            run.is(&format!("after.{who}"), run.get(&format!("before.{who}")));
        }
        for group in ["web", "batch"] {
            // One that had no CPUs of its own has all of them, which is what it had in fact.
            run.is(&format!("after.group.{group}"), "0-7");
        }
    });
}

#[test]
fn a_class_whose_zone_is_gone_runs_anywhere_says_so_and_gets_it_back() {
    on_both(|run| {
        run.is("zone.placed.far", "0 0 6-7 /");
        run.is("zone.placed.group.far", "6-7");
        run.is("zone.half.far", "0 0 6 /");
        run.is("zone.half.far_group", "0 0 6 /far");
        run.is("zone.half.astray", "0");
        run.is("zone.none.far", "0 0 0-7 /");
        run.is("zone.none.group.far", "0-7");
        run.is("zone.none.web", "0 0 0,2,4 /");
        run.is("zone.none.works", "yes yes");
        has(run, "zone.none.log", "none of CPUs 6-7 is online: the class may run on every other until one is");
        has(run, "zone.none.status", "last change of the machine refused:   error[cpu-offline]: cpu 6");
        has(run, "zone.none.status", "every CPU, while 6-7 are offline");
        for (key, value) in [("far", "0 0 6-7 /"), ("far_group", "0 0 6-7 /far"), ("group.far", "6-7")] {
            run.is(&format!("zone.back.{key}"), value);
        }
        run.is("zone.back.web", "0 0 0,2,4,6 /");
        has(run, "zone.back.status", "last change of the machine applied:");
        for who in ["far", "far_group", "web"] {
            run.is(&format!("zone.after.{who}"), run.get(&format!("zone.before.{who}")));
        }
    });
}

#[test]
fn a_policy_that_is_refused_on_what_is_left_leaves_the_plan_before_in_force() {
    on_both(|run| {
        run.is("required.web", "0 0 2,4,6 /");
        has(run, "required.status", "requires SMT, and this machine has one thread a core");
        has(run, "required.status", "CPUs 2,4,6, while 3,5,7 are offline");
        run.is("required.back.web", "0 0 2,4,6 /");
    });
}

#[test]
fn the_sensor_moves_threads_on_whatever_is_online() {
    on_both(|run| {
        for step in ["sensor", "sensor.fewer", "sensor.back"] {
            run.is(&format!("{step}.moves"), "yes");
        }
        run.is("sensor.after", "0-7");
    });
}

#[test]
fn no_mask_is_narrower_for_having_been_read_or_put_back_while_cpus_were_offline() {
    on_both(|run| {
        run.is("early", run.get("early.twin"));
        // Before Linux 6.3 the kernel forgets CPUs of a new mask that are offline.
        let numbers: Vec<u32> = run.get("kernel").split('.').flat_map(str::parse).collect();
        let forgets = numbers < vec![6, 3];
        assert!(forgets || run.get("late") == run.get("late.twin"), "{}", run.get("late"));
    });
}

#[test]
fn on_version_1_what_the_kernel_takes_out_of_groups_is_given_back() {
    if skipped() {
        return;
    }
    let run = boot_in(Time::HostInTurns, Kernel::Stock, SMP, include_str!("guest/hotplug_v1.sh"), &[]);
    for (step, online, fronts, zone) in [
        ("placed", "0-7", "0,2,4,6", "6-7"),
        ("front", "0-3,5-7", "0,2,5-6", "6-7"),
        ("front.back", "0-7", "0,2,4,6", "6-7"),
        ("none.back", "0-7", "0,2,4,6", "6-7"),
        ("flap", "0-7", "0,2,4,6", "6-7"),
        ("smt.on", "0-7", "0,2,4,6", "6-7"),
    ] {
        let is = |what: &str, value: &str| run.is(&format!("{step}.{what}"), value);
        is("group./", online);
        is("group./cotenant", online);
        is("group./cotenant/web", fronts);
        is("web", &format!("0 {fronts} /cotenant/web"));
        is("docker", &format!("0 {fronts} /docker"));
        is("far", &format!("0 {zone} /cotenant/far"));
        // A CPU for each of its two threads.
        let held: Vec<&str> = run.get(&format!("{step}.held")).split(' ').collect();
        assert!(matches!(held[..], ["2", one, other, "/cotenant/held"] if one != other), "{step}: {held:?}");
    }
    run.is("none.far", "0 0-7 /");
    run.is("none.web", "0 0,2,4 /cotenant/web");
    // What it does when nobody looks.
    run.is("unseen.far", "0 0-5 /cotenant");
    run.is("smt.off.web", "0 0-7 /");
    run.is("smt.off.far", "0 6 /cotenant/far");
    assert!(run.all("refused").is_empty(), "{:?}", run.all("refused"));
    for who in ["web", "far", "batch", "held"] {
        run.is(&format!("after.{who}"), run.get(&format!("before.{who}")));
    }
    // The kernel has taken the siblings from a group of somebody else's, as it would have without a policy.
    run.is("after.group./docker", "0,2,4,6");
    run.is("late.group./docker", "0,2,4");
}
