//! What is made while nobody looks has what its maker was given, and loses it with the class all the same.

use super::*;

/// A member that does this when it is let go, and how to see a process that comes of it.
struct Family {
    stage: Stage,
    enforcer: Enforcer,
    connector: Connector,
}

impl Family {
    /// `script` for a shell of the class, where `deep` and `other` are programs of no class.
    fn new(script: &str) -> Family {
        let mut stage = Stage::new();
        stage.program("deep", "/bin/sleep");
        stage.program("other", "/bin/sh");
        let shell = stage.program("shell", "/bin/sh");
        let directory = stage.directory.path().display().to_string();
        let script = format!("while [ ! -e @/go ]; do :; done; {script}").replace('@', &directory);
        let pid = stage.run(&shell, &["-c", &script]);
        settled(pid, "shell");
        let mut enforcer = stage.start(stage.plan("rt class b: match exe @/shell, priority 2;", &machine(1)));
        enforcer.scan().unwrap();
        assert_eq!(kernel(pid).0, SchedPolicy::RoundRobin);
        Family { stage, enforcer, connector: Connector::open(Duration::from_secs(5)).unwrap() }
    }

    /// Lets the member go and waits until the program runs; nobody follows meanwhile.
    fn deep(&self) -> Pid {
        std::fs::write(self.stage.directory.path().join("go"), "").unwrap();
        let (procfs, program) = (Procfs::new("/proc"), self.stage.directory.path().join("deep"));
        let runs = |pid: &Pid| std::fs::read_link(format!("/proc/{}/exe", pid.0)).is_ok_and(|exe| exe == program);
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            assert!(Instant::now() < end);
            if let Some(pid) = procfs.processes().unwrap().into_iter().find(runs) {
                return pid;
            }
        }
    }

    /// Follows events until this process has the policy that it had before its maker was in the class. A program can be seen
    /// to run a moment before the kernel tells of its exec, so that there may be an event left when none is to be had.
    fn follow_until_back(&mut self, pid: Pid) {
        let end = Instant::now() + Duration::from_secs(10);
        let mut events = Vec::new();
        while kernel(pid).0 != SchedPolicy::Other {
            assert!(Instant::now() < end, "{pid} has what its maker had: {events:?}");
            let before = events.len();
            self.connector.drain(&mut events).unwrap();
            events[before..].iter().for_each(|event| drop(self.enforcer.follow(event)));
        }
    }
}

/// Ends it whose parent may be anybody.
struct Ends(Pid);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0.0), nix::sys::signal::Signal::SIGKILL);
    }
}

const AN_ORPHAN: &str = "(@/deep 60 &); sleep 60";
const A_CHILD_OF_ONE_THAT_LEFT: &str = "exec @/other -c '@/deep 60 & wait'";

#[test]
fn an_orphan_whose_parent_was_over_before_it_was_heard_of_is_put_back() {
    if !is_root() {
        return;
    }
    let mut family = Family::new(AN_ORPHAN);
    let deep = Ends(family.deep());
    assert_eq!(kernel(deep.0).0, SchedPolicy::RoundRobin);
    family.follow_until_back(deep.0);
}

#[test]
fn a_child_of_one_that_left_before_it_was_heard_of_is_put_back() {
    if !is_root() {
        return;
    }
    let mut family = Family::new(A_CHILD_OF_ONE_THAT_LEFT);
    let deep = Ends(family.deep());
    assert_eq!(kernel(deep.0).0, SchedPolicy::RoundRobin);
    family.follow_until_back(deep.0);
}

#[test]
fn without_any_event_a_scan_finds_it() {
    if !is_root() {
        return;
    }
    let mut family = Family::new(A_CHILD_OF_ONE_THAT_LEFT);
    let deep = Ends(family.deep());
    family.enforcer.scan().unwrap();
    assert_eq!(kernel(deep.0).0, SchedPolicy::Other);
}

#[test]
fn without_a_scan_the_way_back_finds_it() {
    if !is_root() {
        return;
    }
    let mut family = Family::new(A_CHILD_OF_ONE_THAT_LEFT);
    let deep = Ends(family.deep());
    family.enforcer.release_all();
    assert_eq!(kernel(deep.0).0, SchedPolicy::Other);
}
