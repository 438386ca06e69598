//! What has to be so when a history is over.
//!
//! What the kernel does not tell cannot be known. A child whose fork was told to nobody and whose parent has ended since shows
//! nothing of where it has its state from; nor does a thread that one of several made, which differ, or that executes a program
//! and has its leader's id and start time then. Of two other things both answers are right:
//! - the class of a process that is in one through its parent, where the parent became another program or ended since, and of
//!   one that became another program itself where a class keeps its descendants;
//! - an attribute that somebody set by hand after the process was placed: it is theirs until the policy says something new,
//!   and a daemon that starts later takes it for what the thread was.

use std::collections::BTreeMap;

use cotenant_grammar::tree::EqualPrio;

use super::super::*;
use super::world::{OWN, World};
use crate::fake::{self, Kernel, Shared};
use crate::sys::core_sched::Cookie;

/// What the kernel shows of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    policy: SchedPolicy,
    priority: u32,
    nice: i32,
    reset_on_fork: bool,
    cpus: CpuSet,
    cpuset: String,
    freezer: String,
    is_frozen: bool,
    /// The first thread with the same cookie, of those whose class is known; none without one.
    cookie: Option<Tid>,
}

/// All threads of which something can be known.
fn look(kernel: &Shared, plain: &Shared) -> BTreeMap<Tid, Seen> {
    let secret = |tid: &Tid| {
        let plain = fake::lock(plain);
        let process = plain.task(*tid).ok().and_then(|task| plain.process(task.process));
        process.is_none_or(|process| process.is_unheard || process.is_mistakable)
    };
    let mut seen = look_at(&fake::lock(kernel), &|tid| is_estranged(plain, tid));
    seen.retain(|tid, _| !secret(tid));
    seen
}

fn look_at(kernel: &Kernel, is_other: &dyn Fn(Tid) -> bool) -> BTreeMap<Tid, Seen> {
    let mut cookies: BTreeMap<Cookie, Tid> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for tid in kernel.living().into_iter().flat_map(|pid| kernel.living_threads(pid)) {
        let task = kernel.task(tid).unwrap();
        let SchedState { policy, priority, nice, reset_on_fork, .. } = task.sched;
        let cookie = (task.cookie != Cookie::NONE).then(|| match is_other(tid) {
            // Of a class that may be another.
            true => tid,
            false => *cookies.entry(task.cookie).or_insert(tid),
        });
        let (cpuset, freezer) = (task.cpuset.clone(), task.freezer.clone());
        let (cpus, is_frozen) = (task.allowed.clone(), kernel.is_frozen(tid));
        let it = Seen { policy, priority, nice, reset_on_fork, cpus, cpuset, freezer, is_frozen, cookie };
        seen.insert(tid, it);
    }
    seen
}

fn differ(what: &str, tid: Tid, is: Option<&Seen>, should_be: Option<&Seen>) -> Result<(), String> {
    match is == should_be {
        true => Ok(()),
        false => Err(format!("{what}: thread {tid} is\n  {is:?}\nand should be\n  {should_be:?}")),
    }
}

/// Plays the end of a history and compares.
pub(super) fn hold(mut world: World) -> Result<(), String> {
    compare(&mut world).map_err(|error| {
        let kernel = fake::lock(&world.touched);
        format!("{error}\nThis happened:\n  {}\n", kernel.story.join("\n  "))
    })
}

fn compare(world: &mut World) -> Result<(), String> {
    world.settle();
    let done = look(&world.touched, &world.plain);
    let mut later = world.anew();
    later.settle();
    let wanted = look_at(&fake::lock(&later.touched), &|tid| is_estranged(&world.plain, tid));
    let plain = look_at(&fake::lock(&world.plain), &|_| false);
    for (tid, seen) in &done {
        let (Some(wanted), Some(plain)) = (wanted.get(tid), plain.get(tid)) else {
            return Err(format!("thread {tid} is not everywhere"));
        };
        let expected = expected(world, *tid, seen, wanted, plain);
        differ("after the history", *tid, Some(seen), Some(&expected))?;
    }
    let refused = world.with(|enforcer| enforcer.failures().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let known = look(&world.touched, &world.plain);
    let refused: Vec<_> = refused.into_iter().filter(|failure| known.contains_key(&failure.pid.leader())).collect();
    if !refused.is_empty() {
        return Err(format!("refused: {refused:#?}"));
    }
    world.with(|enforcer| enforcer.scan().unwrap());
    for (tid, seen) in look(&world.touched, &world.plain) {
        if !is_estranged(&world.plain, tid) {
            differ("after another scan", tid, Some(&seen), done.get(&tid))?;
        }
    }
    let pass = world.with(Enforcer::release_all).unwrap_or_default();
    if !pass.failures.is_empty() {
        return Err(format!("refused on release: {:#?}", pass.failures));
    }
    for (tid, seen) in look(&world.touched, &world.plain) {
        let mut before = plain.get(&tid).cloned();
        // The kernel tells only what the cpuset leaves of a mask that somebody set while it was narrower.
        if let Some(before) =
            before.as_mut().filter(|before| is_meddled(world, tid) && seen.cpus.is_subset(&before.cpus))
        {
            before.cpus = seen.cpus.clone();
        }
        differ("after release", tid, Some(&seen), before.as_ref())?;
    }
    let groups = |kernel: &Kernel| kernel.foreign_groups(&format!("/{OWN}"));
    let (now, before) = (groups(&fake::lock(&world.touched)), groups(&fake::lock(&world.plain)));
    if now != before || world.has_own_groups() {
        return Err(format!("groups are {now:?} and were {before:?}"));
    }
    Ok(())
}

/// What a thread must be that is `seen` so, where a daemon that starts now makes it `wanted` and it was `plain` before.
fn expected(world: &World, tid: Tid, seen: &Seen, wanted: &Seen, plain: &Seen) -> Seen {
    let kernel = fake::lock(&world.plain);
    let process = kernel.process(kernel.task(tid).unwrap().process).unwrap();
    let mut expected = wanted.clone();
    if process.is_meddled {
        let theirs = |seen: &Seen| (seen.policy, seen.priority, seen.nice, seen.reset_on_fork);
        if theirs(seen) == theirs(plain) {
            (expected.policy, expected.priority) = (plain.policy, plain.priority);
            (expected.nice, expected.reset_on_fork) = (plain.nice, plain.reset_on_fork);
        }
        if seen.cpus.is_subset(&plain.cpus) {
            expected.cpus = seen.cpus.clone();
        }
    }
    // Which of its CPUs a held thread has follows from who was there before.
    if is_held(world, tid) && seen.cpus.len() == 1 {
        expected.cpus = seen.cpus.clone();
    }
    if process.is_estranged || process.has_changed && world.has_kept_descendants {
        expected = seen.clone();
    }
    expected
}

fn is_meddled(world: &World, tid: Tid) -> bool {
    let kernel = fake::lock(&world.plain);
    let process = kernel.task(tid).ok().and_then(|task| kernel.process(task.process));
    process.is_some_and(|process| process.is_meddled)
}

fn is_estranged(plain: &Shared, tid: Tid) -> bool {
    let kernel = fake::lock(plain);
    let process = kernel.task(tid).ok().and_then(|task| kernel.process(task.process));
    process.is_some_and(|process| process.is_estranged || process.has_changed)
}

fn is_held(world: &World, tid: Tid) -> bool {
    let Some(enforcer) = &world.enforcer else { return false };
    let holds = |member: &&Member| {
        enforcer.placement(member.class).is_some_and(|placement| placement.equal_prio == Some(EqualPrio::Hold))
    };
    enforcer.members.values().filter(holds).any(|member| member.threads.contains_key(&tid))
}
