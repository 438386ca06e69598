//! The tick loop on real siblings, by group and by affinity.
//!
//! An emulated CPU stands still whenever the host has something else to do, and the guest's own shell is a load, so single
//! looks differ. What is asserted holds on a slow host too: what is reached, and what most looks see.

use std::sync::OnceLock;

use super::machine::{Kernel, Run, boot, skipped};
use super::trace::Trace;

const FRONTS: &str = "0,2,4,6";

fn run() -> Option<&'static Run> {
    static RUN: OnceLock<Run> = OnceLock::new();
    let boot = || boot(Kernel::Newer, "8,sockets=1,cores=4,threads=2", include_str!("guest/load.sh"));
    (!skipped()).then(|| RUN.get_or_init(boot))
}

/// How many CPUs a list has.
fn count(list: &str) -> usize {
    let numbers = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<usize>().unwrap() - first.parse::<usize>().unwrap() + 1
    };
    list.split(',').map(numbers).sum()
}

#[test]
fn few_workers_have_fronts_more_have_siblings_and_fewer_have_fronts_again() {
    let Some(run) = run() else { return };
    for (place, means) in [("root", "affinity 1"), ("web", "cgroup 1")] {
        let looks = |load: &str| run.all(&format!("overflow.{place}.{load}"));
        let placed = run.get(&format!("overflow.{place}.placed"));
        assert!(placed.ends_with(means), "{placed}");
        // That two had nothing but fronts, at first and again, was waited for.
        let few = [looks("two"), looks("two-again")].concat();
        let fronts = few.iter().filter(|cpus| *cpus == FRONTS).count();
        assert!(fronts >= few.len() / 3, "{place}: {few:?}");
        let wide = looks("seven").iter().filter(|cpus| count(cpus) > 4).count();
        assert!(wide >= looks("seven").len() / 2, "{place}: {:?}", looks("seven"));
    }
}

#[test]
fn a_gated_class_is_off_the_core_on_which_another_runs() {
    let Some(run) = run() else { return };
    for place in ["root", "batch"] {
        let looks = run.all(&format!("gate.{place}.one"));
        // Whole cores, and not all of them.
        let off = looks.iter().filter(|cpus| count(cpus) <= 6 && count(cpus).is_multiple_of(2)).count();
        assert!(off > looks.len() / 2, "{place}: {looks:?}");
        let trace = Trace::parse(run.all(&format!("gate.{place}.trace")));
        let (web, shared) = (trace.ran("web"), trace.shared("web", "batch"));
        eprintln!(
            "{place}: web ran {web:.3} s, {shared:.3} s of it beside batch; batch ran {:.3} s",
            trace.ran("batch")
        );
        // Without a policy it is nearly all: there is more batch than there are CPUs.
        assert!(web > 1.0 && shared < web / 4.0, "{place}: {shared} of {web} seconds");
        assert!(trace.ran("batch") > web, "{place}: batch has the cores that are idle");
    }
}

#[test]
fn where_no_core_is_idle_a_gated_class_stops() {
    let Some(run) = run() else { return };
    for place in ["root", "batch"] {
        let four = run.all(&format!("gate.{place}.four"));
        assert!(four.iter().any(|cpus| cpus.contains("stopped")), "{place}: {four:?}");
        let ran: Vec<u64> = run.get(&format!("gate.{place}.four.ran")).split(' ').map(|n| n.parse().unwrap()).collect();
        eprintln!("{place}: of web and batch together, batch ran {} %", 100 * ran[0] / (ran[0] + ran[1]));
        // Four of its eight threads would have a sibling each if nobody stopped them.
        assert!(ran[0] < ran[1] / 4, "{place}: batch ran {} and web {}", ran[0], ran[1]);
        // And runs again when web is gone, and is left as it was.
        run.is(&format!("gate.{place}.none"), "yes");
    }
    run.is("gate.root.after", "0 0 0-7 /");
    run.is("gate.batch.after", "0 0 0-7 /batch");
}
