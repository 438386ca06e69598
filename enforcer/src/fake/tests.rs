//! One script on the played kernel and on this host's, with the same outcome.

use std::fmt::Debug;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::cgroup::{Group, Version};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::procfs::Procfs;
use crate::sys::sched::SchedPolicy;
use crate::sys::{affinity, sched};
use crate::testing::is_root;

/// Processes that do as they are told.
trait Actor {
    /// A process that has not been touched.
    fn start(&mut self) -> Pid;
    /// It forks, once in its life, and does not execute anything.
    fn fork(&mut self, pid: Pid) -> Pid;
    fn end(&mut self, pid: Pid);
}

/// Shells of this host, which end with the test.
#[derive(Default)]
struct Shells(Vec<Child>);

impl Actor for Shells {
    fn start(&mut self) -> Pid {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read line; (while :; do :; done) & read line; kill $!; wait"]).stdin(Stdio::piped());
        let child = command.spawn().unwrap();
        let pid = Pid(child.id() as i32);
        self.0.push(child);
        pid
    }

    fn fork(&mut self, pid: Pid) -> Pid {
        let shell = self.0.iter_mut().find(|child| child.id() as i32 == pid.0).unwrap();
        shell.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        loop {
            let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", pid.0)).unwrap();
            if let Ok(child) = children.trim().parse() {
                return Pid(child);
            }
        }
    }

    fn end(&mut self, pid: Pid) {
        let at = self.0.iter().position(|child| child.id() as i32 == pid.0).unwrap();
        let mut shell = self.0.remove(at);
        // Its child, where it has one, ends with the second line.
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }
}

impl Drop for Shells {
    fn drop(&mut self) {
        while let Some(pid) = self.0.first().map(|child| Pid(child.id() as i32)) {
            self.end(pid);
        }
    }
}

struct Played(Shared);

impl Actor for Played {
    fn start(&mut self) -> Pid {
        self.fork(INIT)
    }

    fn fork(&mut self, pid: Pid) -> Pid {
        let mut kernel = lock(&self.0);
        let child = Pid(kernel.free_id(0, 100).unwrap());
        kernel.fork(pid.leader(), child);
        child
    }

    fn end(&mut self, pid: Pid) {
        let mut kernel = lock(&self.0);
        kernel.exit_group(pid);
        kernel.reap(pid);
    }
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// What came of it, without names and numbers that differ from host to host.
fn outcome<T: Debug>(done: Result<T, KernelError>) -> String {
    done.map_or_else(|error| format!("{} in {}", error.errno(), error.operation()), |done| format!("{done:?}"))
}

fn shown(pid: Pid) -> String {
    let state = sched::get(pid.leader()).map(|it| (it.policy, it.priority, it.nice, it.reset_on_fork));
    format!("{} on {}", outcome(state), outcome(affinity::get(pid.leader())))
}

/// Something that is done, and what came of it.
type Step = Box<dyn Fn() -> String>;

fn scheduling(actor: &mut dyn Actor) -> Vec<String> {
    let pid = actor.start();
    let mut story = vec![shown(pid)];
    let state = |policy, priority, nice, reset_on_fork| {
        move || {
            let state = SchedState { priority, nice, reset_on_fork, ..SchedState::of(policy) };
            outcome(sched::set(pid.leader(), &state))
        }
    };
    let nice = |nice| move || outcome(sched::set_nice(pid.leader(), nice));
    let cpus = |cpus: &'static str| move || outcome(affinity::set(pid.leader(), &set(cpus)));
    let steps: [Step; 13] = [
        Box::new(nice(3)),
        Box::new(state(SchedPolicy::RoundRobin, 5, 0, false)),
        Box::new(nice(4)),
        Box::new(state(SchedPolicy::Fifo, 100, 0, false)),
        Box::new(state(SchedPolicy::Idle, 0, 9, false)),
        Box::new(state(SchedPolicy::Batch, 0, 2, true)),
        Box::new(state(SchedPolicy::Other, 7, 0, false)),
        Box::new(cpus("0")),
        Box::new(cpus("5000")),
        Box::new(cpus("0-1")),
        Box::new(cpus("1,5000")),
        Box::new(nice(-30)),
        Box::new(cpus("")),
    ];
    for step in steps {
        story.push(step());
        story.push(shown(pid));
    }
    actor.end(pid);
    story.push(shown(pid));
    for (policy, priority, nice, reset) in [
        (SchedPolicy::RoundRobin, 5, 0, true),
        (SchedPolicy::RoundRobin, 5, 0, false),
        (SchedPolicy::Batch, 0, -5, true),
        (SchedPolicy::Idle, 0, 0, true),
    ] {
        let parent = actor.start();
        affinity::set(parent.leader(), &set("1")).unwrap();
        let state = SchedState { priority, nice, reset_on_fork: reset, ..SchedState::of(policy) };
        sched::set(parent.leader(), &state).unwrap();
        let child = actor.fork(parent);
        story.push(shown(child));
        actor.end(parent);
    }
    story
}

fn groups(actor: &mut dyn Actor, root: &Group, name: &str, procfs: &Procfs) -> Vec<String> {
    let pid = actor.start();
    affinity::set(pid.leader(), &set("0")).unwrap();
    let group = root.create_child(name).unwrap();
    let mut story = vec![
        outcome(root.set_cpus(&set("0"))),
        outcome(group.cpus()),
        outcome(group.add_process(pid)),
        outcome(group.copy_cpuset_from(root)),
        outcome(group.set_cpus(&set("1"))),
        outcome(group.add_process(pid)),
        shown(pid),
        outcome(affinity::set(pid.leader(), &set("0"))),
        outcome(group.set_cpus(&CpuSet::new())),
        outcome(group.set_cpus(&set("0-1"))),
        shown(pid),
    ];
    let below = group.create_child("below").unwrap();
    story.extend([
        outcome(below.copy_cpuset_from(&group)),
        outcome(group.set_cpus(&set("1"))),
        outcome(below.set_cpus(&set("1"))),
        outcome(group.set_cpus(&set("1"))),
        outcome(below.set_cpus(&set("0"))),
        outcome(group.remove()),
        outcome(below.remove()),
        outcome(group.remove()),
    ]);
    let child = actor.fork(pid);
    let inside = group.procs().map(|inside| (inside.contains(&pid), inside.contains(&child), inside.len()));
    story.extend([shown(child), outcome(inside)]);
    let path = procfs.cgroups(child).map(|it| it.controller("cpuset").map(|path| path.ends_with(name.as_bytes())));
    story.extend([outcome(path), outcome(root.add_process(child)), shown(child)]);
    story.extend([outcome(root.add_process(pid)), shown(pid)]);
    actor.end(pid);
    story.extend([outcome(group.add_process(pid)), outcome(group.remove()), outcome(group.remove())]);
    story
}

/// A played kernel with the CPUs of the two that every host of this test has.
fn played() -> (Shared, tempfile::TempDir) {
    let mounts = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(mounts.path().join("cgroup/cpuset")).unwrap();
    let online = affinity::get(Tid::current()).unwrap();
    (Arc::new(Mutex::new(Kernel::boot(mounts.path().to_owned(), Some(Version::V1), online))), mounts)
}

#[test]
fn threads_are_scheduled_as_on_this_host() {
    if !is_root() || affinity::get(Tid::current()).unwrap().len() < 2 {
        return;
    }
    let here = scheduling(&mut Shells::default());
    let (kernel, _mounts) = played();
    install(Some(Arc::clone(&kernel)));
    let there = scheduling(&mut Played(kernel));
    install(None);
    assert_eq!(there, here);
}

#[test]
fn groups_do_as_on_this_host() {
    let root = Path::new("/sys/fs/cgroup/cpuset");
    if !is_root() || !root.join("cpuset.cpus").exists() || affinity::get(Tid::current()).unwrap().len() < 2 {
        return;
    }
    let name = format!("cotenant-played-{}", std::process::id());
    let open = |root: &Path| Group::open(root, Version::V1).unwrap();
    let here = groups(&mut Shells::default(), &open(root), &name, &Procfs::new("/proc"));
    let (kernel, mounts) = played();
    install(Some(Arc::clone(&kernel)));
    let there_root = open(&mounts.path().join("cgroup/cpuset"));
    let there = groups(&mut Played(kernel), &there_root, &name, &Procfs::new(mounts.path().join("proc")));
    install(None);
    assert_eq!(there, here);
}
