use std::sync::LazyLock;

use super::*;
use crate::ids::Pid;
use crate::moves::Moving;
use crate::procfs::CLOCK_TICK;
use crate::sys::affinity::Alone;
use crate::testing::{Family, Sleeper, is_root};

fn procfs() -> Procfs {
    Procfs::new("/proc")
}

/// Of a machine with nothing offline.
fn room(all: &CpuSet) -> Room<'_> {
    static NOTHING: LazyLock<CpuSet> = LazyLock::new(CpuSet::new);
    Room { possible: all, cpuset: all, offline: &NOTHING, forgets: false }
}

fn all() -> CpuSet {
    affinity::get(Tid::current()).unwrap()
}

fn perform(pid: Pid, todo: &mut Todo) {
    let start = procfs().stat(pid).unwrap().start;
    Touched::perform(&procfs(), (pid, pid.leader(), start), todo).unwrap();
}

#[test]
fn a_thread_comes_back_as_it_was() {
    if !is_root() {
        return;
    }
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    sched::set_nice(tid, 7).unwrap();
    let before = Before::read(&procfs(), tid, &all()).unwrap();
    let mut touched = Touched { start: 0, before: before.clone(), wrote: Wrote::default() };
    let rt = Attributes { policy: Some(Scheduling::RoundRobin(3)), nice: None };
    let one: CpuSet = all().first().into_iter().collect();
    let mut todo = touched.intend(tid, rt, Some(&one), &all()).unwrap();
    perform(sleeper.pid(), &mut todo);
    assert!(touched.intend(tid, rt, Some(&one), &all()).unwrap().is_empty(), "nothing is written that holds already");
    assert_eq!(sched::get(tid).unwrap().policy, SchedPolicy::RoundRobin);
    assert_eq!(affinity::get(tid).unwrap(), one);
    touched.restore_sched(tid).unwrap();
    touched.restore_mask(&procfs(), tid, &room(&all())).unwrap();
    assert_eq!(Before::read(&procfs(), tid, &all()).unwrap(), before);
}

#[test]
fn what_somebody_else_changed_is_theirs() {
    if !is_root() {
        return;
    }
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    let before = Before::read(&procfs(), tid, &all()).unwrap();
    let mut touched = Touched { start: 0, before, wrote: Wrote::default() };
    let five = Attributes { policy: None, nice: Some(5) };
    let mut todo = touched.intend(tid, five, None, &all()).unwrap();
    perform(sleeper.pid(), &mut todo);
    sched::set_nice(tid, 9).unwrap();
    assert!(touched.intend(tid, five, None, &all()).unwrap().is_empty(), "it stays theirs while the wish is the same");
    touched.restore_sched(tid).unwrap();
    assert_eq!(sched::get(tid).unwrap().nice, 9);
}

#[test]
fn children_of_a_thread_with_reset_on_fork_would_have_been_reset() {
    let rt = SchedState { reset_on_fork: true, priority: 4, ..SchedState::of(SchedPolicy::Fifo) };
    let before = Before { sched: rt, mask: Mask::Any };
    assert_eq!(before.inherited().sched, SchedState::of(SchedPolicy::Other));
}

#[test]
fn a_mask_that_is_right_by_itself_is_not_ours_to_put_back() {
    let sleeper = Sleeper::start();
    let tid = sleeper.pid().leader();
    let mut touched =
        Touched { start: 0, before: Before::read(&procfs(), tid, &all()).unwrap(), wrote: Wrote::default() };
    assert!(touched.intend(tid, Attributes::default(), Some(&all()), &all()).unwrap().is_empty());
    assert_eq!(touched.wrote, Wrote::default());
}

#[test]
fn a_mask_that_the_kernel_forgot_is_written_again_and_one_that_somebody_set_is_not() {
    let (sleeper, all) = (Sleeper::start(), all());
    let tid = sleeper.pid().leader();
    let one: CpuSet = all.first().into_iter().collect();
    if one == all {
        eprintln!("passed over: needs two CPUs");
        return;
    }
    let mut touched =
        Touched { start: 0, before: Before::read(&procfs(), tid, &all).unwrap(), wrote: Wrote::default() };
    let mut todo = touched.intend_cpus(tid, &one, &all).unwrap();
    perform(sleeper.pid(), &mut todo);
    assert!(!touched.renew_mask(tid, &all).unwrap(), "it stands");
    affinity::set(tid, &all).unwrap();
    assert!(touched.intend_cpus(tid, &one, &all).unwrap().is_empty(), "somebody's wish, for all that is known");
    // CPUs went and came back: then it is what the kernel does.
    assert!(touched.renew_mask(tid, &all).unwrap());
    assert!(!touched.intend_cpus(tid, &one, &all).unwrap().is_empty());
    assert_eq!(touched.before.mask, Mask::Any, "what it was is not forgotten");
}

#[test]
fn a_thread_none_of_whose_cpus_is_online_may_run_anywhere() {
    let (sleeper, all) = (Sleeper::start(), all());
    let tid = sleeper.pid().leader();
    let one: CpuSet = all.first().into_iter().collect();
    affinity::set(tid, &one).unwrap();
    // No kernel has so many that it would be online.
    let gone: CpuSet = "8000".parse().unwrap();
    let before = Before { sched: sched::get(tid).unwrap(), mask: Mask::Only(gone.clone()) };
    let mut touched = Touched { start: 0, before, wrote: Wrote { cpus: Some(one), ..Wrote::default() } };
    assert!(touched.restore_mask(&procfs(), tid, &room(&all)).is_err(), "they may be its cpuset's to give");
    touched.restore_mask(&procfs(), tid, &Room { offline: &gone, ..room(&all) }).unwrap();
    assert_eq!(affinity::get(tid).unwrap(), all);
    assert_eq!(touched.wrote.cpus, Some(all), "to be undone when its CPUs are back");
}

#[test]
fn a_mask_that_nobody_here_wrote_is_put_back_only_where_the_kernel_forgets_masks() {
    let sleeper = Sleeper::start();
    let (all, tid) = (all(), sleeper.pid().leader());
    let one: CpuSet = all.first().into_iter().collect();
    for (forgets, expected) in [(false, &all), (true, &one)] {
        affinity::set(tid, &one).unwrap();
        let mut touched =
            Touched { start: 0, before: Before::read(&procfs(), tid, &all).unwrap(), wrote: Wrote::default() };
        affinity::set(tid, &all).unwrap();
        touched.restore_mask(&procfs(), tid, &Room { forgets, ..room(&all) }).unwrap();
        assert_eq!(&affinity::get(tid).unwrap(), expected);
    }
}

#[test]
fn which_kernels_forget_masks() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("sys/kernel")).unwrap();
    for (release, forgets) in [
        ("6.1.0-37-cloud-amd64", true),
        ("6.2.0", false),
        ("5.15.0+", true),
        ("6.12.48", false),
        ("7.0-rc1", false),
        ("?", false),
    ] {
        std::fs::write(directory.path().join("sys/kernel/osrelease"), format!("{release}\n")).unwrap();
        assert_eq!(forgets_masks(&Procfs::new(directory.path())), forgets, "{release}");
    }
}

#[test]
fn the_mask_of_a_move_that_its_maker_was_in_is_no_wish_of_a_child() {
    let all = all();
    let one: CpuSet = all.first().into_iter().collect();
    let (heir, other) = (Family::start(&one), Family::start(&one));
    let start = procfs().thread_stat(Pid(heir.child().0), heir.child()).unwrap().start;
    // Only one of the two shells was moved.
    let (process, tid) = (Pid(heir.shell().0), heir.shell());
    Alone::wait().note(Moving {
        process,
        tid,
        born: 0,
        since: start * CLOCK_TICK,
        asked: all.clone(),
        to: one.clone(),
    });
    let read = |tid: Tid| Before::read(&procfs(), tid, &all).unwrap().mask;
    assert_eq!(read(other.child()), Mask::Only(one.clone()));
    assert_eq!(affinity::get(heir.child()).unwrap(), one);
    assert_eq!(read(heir.child()), Mask::Any);
    assert_eq!(affinity::get(heir.child()).unwrap(), all);
}
