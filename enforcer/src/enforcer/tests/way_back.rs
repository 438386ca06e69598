//! Nothing loses the way back: forks, threads, failures, ends without a word.

use super::*;

/// A test's own cpuset group beside cotenant's; its processes go back to the root when it is dropped.
pub(super) struct Home(Option<PathBuf>);

impl Home {
    pub(super) fn name(&self) -> String {
        self.0.as_ref().and_then(|path| path.file_name()).unwrap().to_str().unwrap().to_owned()
    }

    fn narrow(&self, cpus: &str) {
        std::fs::write(self.0.as_ref().unwrap().join("cpuset.cpus"), cpus).unwrap();
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let Some(home) = &self.0 else { return };
        let root = home.parent().unwrap();
        for pid in std::fs::read_to_string(home.join("cgroup.procs")).unwrap().lines() {
            drop(std::fs::write(root.join("cgroup.procs"), pid));
        }
        std::fs::remove_dir(home).unwrap();
    }
}

impl Stage {
    /// Puts processes into a group that is not cotenant's; none is made where the host has no cpuset tree of version 1.
    pub(super) fn home(&self, pids: &[Pid]) -> Home {
        let root = self.roots.cgroup.join("cpuset");
        if !root.join("cpuset.cpus").exists() {
            return Home(None);
        }
        let home = root.join(format!("{}-home", self.roots.group));
        std::fs::create_dir(&home).unwrap();
        for file in ["cpuset.cpus", "cpuset.mems"] {
            std::fs::write(home.join(file), std::fs::read(root.join(file)).unwrap()).unwrap();
        }
        pids.iter().for_each(|pid| std::fs::write(home.join("cgroup.procs"), pid.to_string()).unwrap());
        Home(Some(home))
    }

    /// A shell that forks a subshell when the file `go` appears; both spin.
    fn forker(&mut self, name: &str) -> Pid {
        let shell = self.program(name, "/bin/sh");
        let go = self.directory.path().join("go").display().to_string();
        self.run(&shell, &["-c", &format!("while [ ! -e {go} ]; do :; done; (while :; do :; done) & wait")])
    }

    fn go(&self) {
        std::fs::write(self.directory.path().join("go"), "").unwrap();
    }

    /// Runs a Python script in a class by its argument `@/mark`; none where there is no Python.
    fn python(&mut self, script: &str) -> Option<Pid> {
        let python = PathBuf::from("/usr/bin/python3");
        let mark = self.directory.path().join("mark").display().to_string();
        python.exists().then(|| self.run(&python, &["-c", script, &mark]))
    }
}

fn child_of(parent: Pid) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.0)).unwrap();
    children.trim().parse().ok().map(Pid)
}

fn wait(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < end, "not reached in 30 s");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends with the test, whoever its parent is.
struct Ends(Pid);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0.0), nix::sys::signal::Signal::SIGKILL);
    }
}

#[test]
fn a_fork_is_in_the_journal() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let parent = stage.forker("shell");
    settled(parent, "shell");
    let mut enforcer = stage.start(stage.plan("batch class b: match exe @/shell;", &machine(1)));
    let mut connector = Connector::open(Duration::from_secs(5)).unwrap();
    enforcer.scan().unwrap();
    stage.go();
    let known = |enforcer: &Enforcer| child_of(parent).filter(|child| enforcer.members.contains_key(child));
    let end = Instant::now() + Duration::from_secs(30);
    while known(&enforcer).is_none() {
        assert!(Instant::now() < end);
        let mut events = Vec::new();
        connector.drain(&mut events).unwrap();
        events.iter().for_each(|event| drop(enforcer.follow(event)));
    }
    let child = Ends(child_of(parent).unwrap());
    assert_eq!(kernel(child.0).0, SchedPolicy::Idle);
    drop(enforcer);
    // The parent is gone, so only the journal tells of the child.
    drop(Ends(parent));
    wait(|| std::fs::read_to_string(format!("/proc/{}/stat", parent.0)).is_ok_and(|stat| stat.contains(") Z ")));
    stage.start(stage.plan("", &machine(1)));
    assert_eq!(kernel(child.0).0, SchedPolicy::Other);
}

#[test]
fn what_was_forked_while_nobody_watched_goes_back_with_its_parent() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let parent = stage.forker("shell");
    settled(parent, "shell");
    let before = kernel(parent);
    let text = "batch class b: match exe @/shell, push equal prio;".replace("batch", "rt");
    let mut enforcer = stage.start(stage.plan(&text, &machine(1)));
    enforcer.scan().unwrap();
    drop(enforcer);
    stage.go();
    wait(|| child_of(parent).is_some());
    let child = Ends(child_of(parent).unwrap());
    stage.start(stage.plan("", &machine(1)));
    assert_eq!((kernel(parent), kernel(child.0)), (before.clone(), before));
}

#[test]
fn what_cannot_be_put_back_yet_is_not_forgotten() {
    let mut stage = Stage::new();
    let (a, other) = (stage.sleeper("a"), stage.sleeper("other"));
    settled(a, "a");
    settled(other, "other");
    let home = stage.home(&[a, other]);
    if !is_root() || home.0.is_none() {
        return;
    }
    affinity::set(a.leader(), &set("1")).unwrap();
    let mut enforcer = stage.start(stage.plan("rt class a: match exe @/a, on cpu 0;", &machine(1)));
    assert_eq!(enforcer.scan().unwrap().failures, []);
    assert_eq!(kernel(a).3, set("0"));
    home.narrow("0");
    assert_eq!(enforcer.release_all().failures.len(), 1, "its CPU is not to be had now");
    assert_eq!(kernel(a).0, SchedPolicy::Other, "the rest is put back all the same");
    drop(enforcer);
    let (again, recovered) = Enforcer::start(stage.roots.clone(), stage.plan("", &machine(1))).unwrap();
    assert_eq!(recovered.failures.len(), 1);
    drop(again);
    home.narrow("0-1");
    stage.start(stage.plan("", &machine(1)));
    assert_eq!(kernel(a).3, set("1"));
}

#[test]
fn an_exec_by_any_thread_keeps_what_the_process_was() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let go = stage.directory.path().join("go").display().to_string();
    let script = format!(
        "import os,sys,threading,time\n\
         def run():\n\
         \x20while not os.path.exists('{go}'): time.sleep(0.001)\n\
         \x20os.execv(sys.executable, ['after', '-c', 'import time; time.sleep(60)', sys.argv[1]])\n\
         threading.Thread(target=run).start()\n\
         time.sleep(60)\n"
    );
    let Some(pid) = stage.python(&script) else { return };
    wait(|| std::fs::read_dir(format!("/proc/{}/task", pid.0)).unwrap().count() == 2);
    let mut enforcer = stage.start(stage.plan("rt class a: match arg @/mark;", &machine(1)));
    let mut connector = Connector::open(Duration::from_secs(5)).unwrap();
    enforcer.scan().unwrap();
    stage.go();
    let after = || std::fs::read(format!("/proc/{}/cmdline", pid.0)).unwrap().starts_with(b"after");
    follow_until(&mut enforcer, &mut connector, after);
    // Until the events of the exec are followed.
    let end = Instant::now() + Duration::from_secs(30);
    while enforcer.members[&pid].threads.keys().copied().collect::<Vec<_>>() != [pid.leader()] {
        assert!(Instant::now() < end);
        follow_until(&mut enforcer, &mut connector, || true);
        let mut events = Vec::new();
        connector.drain(&mut events).unwrap();
        events.iter().for_each(|event| drop(enforcer.follow(event)));
    }
    assert_eq!(kernel(pid).0, SchedPolicy::RoundRobin);
    enforcer.release_all();
    assert_eq!(kernel(pid).0, SchedPolicy::Other);
}

#[test]
fn a_process_outlives_its_leader() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let go = stage.directory.path().join("go").display().to_string();
    let script = format!(
        "import ctypes,os,threading,time\n\
         threading.Thread(target=time.sleep, args=(60,)).start()\n\
         while not os.path.exists('{go}'): time.sleep(0.001)\n\
         ctypes.CDLL(None).syscall({}, 0)\n",
        libc::SYS_exit
    );
    let Some(pid) = stage.python(&script) else { return };
    let threads = || std::fs::read_dir(format!("/proc/{}/task", pid.0)).unwrap();
    wait(|| threads().count() == 2);
    let mut enforcer = stage.start(stage.plan("rt class a: match arg @/mark;", &machine(1)));
    enforcer.scan().unwrap();
    stage.go();
    wait(|| std::fs::read_to_string(format!("/proc/{}/stat", pid.0)).unwrap().contains(") Z "));
    let last = threads().map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).max().unwrap();
    enforcer.scan().unwrap();
    enforcer.release_all();
    assert_eq!(sched::get(Tid(last)).unwrap().policy, SchedPolicy::Other);
}

#[test]
fn the_journal_stays_short_however_many_come_and_go() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let a = stage.sleeper("a");
    settled(a, "a");
    let mut enforcer = stage.start(stage.plan("batch class a: match exe @/a;", &machine(1)));
    enforcer.scan().unwrap();
    let length = |stage: &Stage| std::fs::read_to_string(stage.roots.run.join("journal")).unwrap().lines().count();
    let exec = crate::events::ProcEvent::Exec { process: a };
    let exit = crate::events::ProcEvent::Exit { process: a, thread: a.leader(), status: 0 };
    for _ in 0..2_000 {
        enforcer.forget(a);
        enforcer.follow(&exec);
        enforcer.follow(&exit);
    }
    assert!(length(&stage) < 1_500, "{}", length(&stage));
}

#[test]
fn a_scan_says_what_the_events_said() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (shell, leaf) = (stage.program("shell", "/bin/sh"), stage.program("leaf", "/bin/sleep"));
    let go = stage.directory.path().join("go");
    let (go, leaf) = (go.display(), leaf.display());
    // The parent becomes another program after it has forked.
    let script = format!("(while :; do :; done) & while [ ! -e {go} ]; do :; done; exec {leaf} 60");
    let parent = stage.run(&shell, &["-c", &script]);
    wait(|| child_of(parent).is_some());
    let child = Ends(child_of(parent).unwrap());
    let mut enforcer = stage.start(stage.plan("batch class b: match exe @/shell;", &machine(1)));
    let mut connector = Connector::open(Duration::from_secs(5)).unwrap();
    assert_eq!(enforcer.scan().unwrap().placed, 2);
    stage.go();
    follow_until(&mut enforcer, &mut connector, || kernel(parent).0 == SchedPolicy::Other);
    assert_eq!(kernel(child.0).0, SchedPolicy::Idle, "a fork stays");
    assert_eq!(enforcer.scan().unwrap(), Pass::default());
    assert_eq!(kernel(child.0).0, SchedPolicy::Idle);
}

#[test]
fn what_was_done_before_a_refusal_is_undone() {
    let mut stage = Stage::new();
    let (a, other) = (stage.sleeper("a"), stage.sleeper("other"));
    settled(a, "a");
    settled(other, "other");
    let home = stage.home(&[a, other]);
    if !is_root() || home.0.is_none() {
        return;
    }
    let before = kernel(a);
    let mut plan = stage.plan("rt class a: match exe @/a, on cpu 0;", &machine(1));
    // A priority that no policy can ask for and no kernel gives.
    let placement = plan.classes[0].placement.as_mut().unwrap();
    placement.attributes.policy = Some(cotenant_compiler::plan::Scheduling::RoundRobin(100));
    let mut enforcer = stage.start(plan);
    assert_eq!(enforcer.scan().unwrap().failures.len(), 1);
    assert_eq!((kernel(a).0, kernel(a).3), (SchedPolicy::Other, set("0")));
    assert_eq!(enforcer.scan().unwrap().failures, [], "said once");
    assert_eq!(enforcer.failures().count(), 1, "and it stands");
    assert_eq!(enforcer.release_all().failures, []);
    assert_eq!(kernel(a), before);
}
