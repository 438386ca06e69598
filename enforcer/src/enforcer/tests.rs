//! On real processes and, where this host has it, the real cpuset tree, under names of the test's own.

mod balancing;
mod cookies;
mod gating;
mod heirs;
mod insisting;
mod machine;
mod moving;
mod orders;
mod restating;
mod reuse;
mod staying;
mod torn;
mod way_back;
mod yielding;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cotenant_compiler::topology::{CoreKind, CpuPlace, Topology};
use cotenant_compiler::{CpuSet, compile};
use cotenant_grammar::SourceSet;

use super::*;
use crate::cgroup::Version;
use crate::decide::{ClassLoad, Load};
use crate::events::Connector;
use crate::sys::sched::{SchedPolicy, SchedState};
use crate::sys::{affinity, sched};
use crate::testing::is_root;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Directories, names and processes of one test; all gone when it is over.
struct Stage {
    directory: tempfile::TempDir,
    roots: Roots,
    children: Vec<Child>,
}

impl Stage {
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let group = format!("cotenant-test-{}-{number}", std::process::id());
        let roots = Roots { run: directory.path().join("run"), group, ..Roots::default() };
        Stage { directory, roots, children: Vec::new() }
    }

    /// A program under a path that no other test has.
    fn program(&self, name: &str, copy_of: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        if !path.exists() {
            std::fs::copy(copy_of, &path).unwrap();
        }
        path
    }

    fn run(&mut self, program: &PathBuf, arguments: &[&str]) -> Pid {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        let child = loop {
            match command.spawn() {
                Ok(child) => break child,
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        };
        let pid = Pid(child.id() as i32);
        self.children.push(child);
        pid
    }

    fn sleeper(&mut self, name: &str) -> Pid {
        let program = self.program(name, "/bin/sleep");
        self.run(&program, &["60"])
    }

    fn spinner(&mut self, name: &str) -> Pid {
        let program = self.program(name, "/bin/sh");
        self.run(&program, &["-c", "while :; do :; done"])
    }

    /// `text` with `@` standing for the test's directory.
    fn plan(&self, text: &str, topology: &Topology) -> Plan {
        let text = text.replace('@', &self.directory.path().display().to_string());
        let (plan, diagnostics) = compile(SourceSet::one("p", text), topology);
        plan.unwrap_or_else(|| panic!("{diagnostics:#?}"))
    }

    fn start(&self, plan: Plan) -> Enforcer {
        let (enforcer, recovered) = Enforcer::start(self.roots.clone(), plan).unwrap();
        assert_eq!(recovered.failures, []);
        enforcer
    }

    /// Whether any group of the test's own is left.
    fn has_groups(&self) -> bool {
        ["cpuset", "freezer"].iter().any(|tree| self.roots.cgroup.join(tree).join(&self.roots.group).exists())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Whatever failed in the test: an enforcer that starts puts back what the last one left.
        let empty = self.plan("", &machine(1));
        if let Ok((mut enforcer, _)) = Enforcer::start(self.roots.clone(), empty) {
            enforcer.release_all();
        }
        for child in &mut self.children {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// This host's online CPUs as cores of `threads` threads each, whatever they are in truth.
fn machine(threads: u32) -> Topology {
    let online = affinity::get(Tid::current()).unwrap();
    let place = |cpu: CpuId| CpuPlace {
        cpu,
        online: true,
        core: cpu.0 / threads,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&online.iter().map(place).collect::<Vec<_>>())
}

fn kernel(pid: Pid) -> (SchedPolicy, u32, i32, CpuSet) {
    let SchedState { policy, priority, nice, .. } = sched::get(pid.leader()).unwrap();
    (policy, priority, nice, affinity::get(pid.leader()).unwrap())
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// Waits for the program behind a fresh fork: until then a child looks like its parent.
fn settled(pid: Pid, name: &str) {
    let comm = PathBuf::from(format!("/proc/{}/comm", pid.0));
    while std::fs::read_to_string(&comm).unwrap().trim() != name {
        std::thread::yield_now();
    }
}

#[test]
fn what_runs_is_placed_and_released_as_it_was() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (web, other) = (stage.sleeper("web"), stage.sleeper("other"));
    settled(web, "web");
    settled(other, "other");
    sched::set_nice(web.leader(), 3).unwrap();
    affinity::set(web.leader(), &set("0-1")).unwrap();
    let before = (kernel(web), kernel(other));
    let mut enforcer =
        stage.start(stage.plan("rt class web: match exe @/web, on cpu 1, fifo, priority 7;", &machine(1)));
    let pass = enforcer.scan().unwrap();
    assert_eq!((pass.placed, pass.failures), (1, vec![]));
    assert_eq!(kernel(web), (SchedPolicy::Fifo, 7, 3, set("1")));
    assert_eq!(kernel(other), before.1);
    assert_eq!(enforcer.scan().unwrap(), Pass::default(), "a second pass finds nothing to do");
    let pass = enforcer.release_all();
    assert_eq!((pass.released, pass.failures), (1, vec![]));
    assert_eq!((kernel(web), kernel(other)), before);
    assert!(!stage.has_groups());
}

#[test]
fn the_cpuset_tree_is_used_where_it_belongs_to_nobody() {
    let mut stage = Stage::new();
    let web = stage.sleeper("web");
    settled(web, "web");
    let mut enforcer = stage.start(stage.plan("class web: match exe @/web, on cpu 0;", &machine(1)));
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    let path = format!("/{}/web", stage.roots.group);
    let cgroups = enforcer.procfs.cgroups(web).unwrap();
    assert_eq!(cgroups.controller("cpuset"), Some(path.as_bytes()));
    enforcer.release_all();
    assert_eq!(enforcer.procfs.cgroups(web).unwrap().controller("cpuset"), Some(&b"/"[..]));
}

#[test]
fn every_thread_is_placed_and_a_fork_inherits() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let shell = stage.program("shell", "/bin/sh");
    let sleep = stage.program("leaf", "/bin/sleep");
    // The subshell forks without an exec and stays; the program it runs later is another matter.
    let script = format!(
        "(while [ ! -e {0}/go ]; do :; done; exec {1} 60) & wait",
        stage.directory.path().display(),
        sleep.display()
    );
    let parent = stage.run(&shell, &["-c", &script]);
    settled(parent, "shell");
    let child = loop {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.0)).unwrap();
        if let Ok(child) = children.trim().parse() {
            break Pid(child);
        }
    };
    let before = kernel(child);
    let mut enforcer = stage.start(stage.plan("batch class b: match exe @/shell, on cpu 1;", &machine(1)));
    let mut connector = Connector::open(Duration::from_secs(5)).unwrap();
    assert_eq!(enforcer.scan().unwrap().placed, 2);
    assert_eq!(kernel(child), (SchedPolicy::Idle, 0, 0, set("1")));
    std::fs::write(stage.directory.path().join("go"), "").unwrap();
    follow_until(&mut enforcer, &mut connector, || kernel(child) == before);
    assert_eq!(kernel(parent).0, SchedPolicy::Idle);
}

/// Follows events until the condition holds; the test hangs where it never does, and its runner says so.
fn follow_until(enforcer: &mut Enforcer, connector: &mut Connector, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    let mut events = Vec::new();
    while !done() {
        assert!(Instant::now() < end, "not reached in 30 s");
        connector.drain(&mut events).unwrap();
        for event in events.drain(..) {
            assert_eq!(enforcer.follow(&event).failures, []);
        }
    }
}

#[test]
fn a_program_is_placed_when_it_starts() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let text = "rt class web: match exe @/web, on cpu 1; class make: match exe @/make with descendants, nice 5;";
    let mut enforcer = stage.start(stage.plan(text, &machine(1)));
    let mut connector = Connector::open(Duration::from_secs(5)).unwrap();
    enforcer.scan().unwrap();
    let web = stage.sleeper("web");
    follow_until(&mut enforcer, &mut connector, || kernel(web) == (SchedPolicy::RoundRobin, 1, 0, set("1")));
    let make = stage.program("make", "/bin/sh");
    let make = stage.run(&make, &["-c", "sleep 60 & wait"]);
    let descendant = |enforcer: &Enforcer| {
        enforcer.members().find(|(_, member)| member.joined == crate::member::Joined::Descended).map(|(pid, _)| pid)
    };
    let end = Instant::now() + Duration::from_secs(30);
    while descendant(&enforcer).is_none() {
        assert!(Instant::now() < end);
        follow_until(&mut enforcer, &mut connector, || sched::get(make.leader()).unwrap().nice == 5);
        let mut events = Vec::new();
        connector.drain(&mut events).unwrap();
        events.iter().for_each(|event| drop(enforcer.follow(event)));
    }
    let child = descendant(&enforcer).unwrap();
    assert_eq!(sched::get(child.leader()).unwrap().nice, 5);
    // The child that outlives its parent still goes back to what it would have had.
    enforcer.release_all();
    assert_eq!(sched::get(child.leader()).unwrap().nice, 0);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.0), nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[test]
fn another_plan_changes_what_differs() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (a, b) = (stage.sleeper("a"), stage.sleeper("b"));
    settled(a, "a");
    settled(b, "b");
    let before = (kernel(a), kernel(b));
    let text = "rt class a: match exe @/a, on cpu 0; batch class b: match exe @/b, on cpu 1;";
    let mut enforcer = stage.start(stage.plan(text, &machine(1)));
    enforcer.scan().unwrap();
    assert_eq!((kernel(a).0, kernel(b).3.clone()), (SchedPolicy::RoundRobin, set("1")));
    let next = "class c: match exe @/a, on cpu 1, nice 4; batch class b: match exe @/b, on cpu 0;";
    let pass = enforcer.adopt(stage.plan(next, &machine(1))).unwrap();
    assert_eq!(pass.failures, []);
    assert_eq!(kernel(a), (SchedPolicy::Other, 0, 4, set("1")));
    assert_eq!(kernel(b), (SchedPolicy::Idle, 0, 0, set("0")));
    let pass =
        enforcer.adopt(stage.plan("unmanaged: match exe @/b; class all: match exe @/*, nice 1;", &machine(1))).unwrap();
    assert_eq!(pass.failures, []);
    assert_eq!((kernel(a).2, kernel(a).3), (1, before.0.3.clone()));
    assert_eq!(kernel(b), before.1, "unmanaged is as if it had never been touched");
    enforcer.release_all();
    assert_eq!((kernel(a), kernel(b)), before);
    assert!(!stage.has_groups());
}

#[test]
fn a_run_that_ended_without_a_word_is_put_back_by_the_next() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (a, b) = (stage.sleeper("a"), stage.sleeper("b"));
    settled(a, "a");
    settled(b, "b");
    let one = set("0");
    affinity::set(b.leader(), &one).unwrap();
    let before = (kernel(a), kernel(b));
    let text = "rt class a: match exe @/a, on cpu 0; rt class b: match exe @/b, push equal prio;";
    let mut enforcer = stage.start(stage.plan(text, &machine(1)));
    enforcer.scan().unwrap();
    assert_eq!(kernel(b).3, machine(1).online().clone(), "push wants every thread movable");
    drop(enforcer);
    let mut next = stage.start(stage.plan("", &machine(1)));
    assert_eq!((kernel(a), kernel(b)), before);
    next.release_all();
    assert!(!stage.has_groups());
}

#[test]
fn batch_is_kept_off_a_core_that_somebody_uses() {
    let mut stage = Stage::new();
    // This host's CPUs played as siblings: with one core in all, batch must stop while web runs.
    let machine = machine(1024);
    let text = "class web: match exe @/web, prefer idle core; batch class b: match exe @/b, only when core idle;";
    let plan = stage.plan(text, &machine);
    let (web, b) = (stage.sleeper("web"), stage.spinner("b"));
    settled(web, "web");
    settled(b, "b");
    let mut enforcer = stage.start(plan);
    if !is_root() || enforcer.version() != Some(Version::V1) {
        return;
    }
    enforcer.scan().unwrap();
    assert_eq!(kernel(web).3, machine.fronts(machine.online()), "siblings are overflow");
    let used = |enforcer: &Enforcer| enforcer.procfs.schedstat(b).unwrap().run;
    // The load is played too: what else runs on this host is nobody's business here.
    let somebody =
        Load { foreign: machine.online().clone(), classes: vec![ClassLoad::default(); 2], ..Load::default() };
    assert_eq!(enforcer.respond(&somebody).failures, []);
    assert!(enforcer.assignment.classes[1].as_ref().is_some_and(|share| share.frozen));
    let state = stage.roots.cgroup.join("freezer").join(&stage.roots.group).join("b/freezer.state");
    while std::fs::read_to_string(&state).unwrap().trim() != "FROZEN" {
        std::thread::yield_now();
    }
    let stopped = used(&enforcer);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(used(&enforcer), stopped);
    for _ in 0..crate::decide::OPEN_AFTER {
        let nobody = Load { classes: vec![ClassLoad::default(); 2], ..Load::default() };
        assert_eq!(enforcer.respond(&nobody).failures, []);
    }
    assert_eq!(std::fs::read_to_string(&state).unwrap().trim(), "THAWED");
    while used(&enforcer) == stopped {
        std::thread::yield_now();
    }
    enforcer.release_all();
    assert_eq!(kernel(b), (SchedPolicy::Other, 0, 0, machine.online().clone()));
}

#[test]
fn a_tick_sees_where_a_class_runs_and_how_much() {
    let mut stage = Stage::new();
    let machine = machine(1);
    let text = "class web: match exe @/web, at least 1 core; class b: match exe @/nobody, only when core idle;";
    let mut enforcer = stage.start(stage.plan(text, &machine));
    let web = stage.spinner("web");
    settled(web, "web");
    enforcer.scan().unwrap();
    let mut look = || enforcer.load.read(&enforcer.procfs, &enforcer.plan, &enforcer.members, true, Instant::now());
    look();
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(20));
        let load = look();
        // On a busy host it may have waited all the while, which is demand as well.
        if load.classes[0].demand == 1 && load.classes[0].ran_on.len() == 1 {
            assert_eq!(load.classes[1], ClassLoad::default());
            break;
        }
    }
}
