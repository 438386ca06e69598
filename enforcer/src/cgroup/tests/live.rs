//! The kernel's own tree, in groups of a name of our own that go away with the test. Skipped without root, and where the
//! hierarchy is not the one a test is about.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cotenant_compiler::CpuSet;
use nix::errno::Errno;

use super::super::*;
use crate::procfs::Procfs;
use crate::sys::sched::{self, SchedPolicy, SchedState};
use crate::testing::{Sleeper, is_root};

/// A group for one test. Declared before the processes put into it, it is dropped after they have ended.
struct Temporary {
    group: Group,
}

impl Temporary {
    fn below(root: &Group) -> Temporary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Temporary { group: root.create_child(format!("cotenant-test-{}-{number}", std::process::id())).unwrap() }
    }
}

impl Drop for Temporary {
    /// Also after a failed assertion, so that nothing here may panic a second time.
    fn drop(&mut self) {
        for name in self.group.children().unwrap_or_default() {
            assert!(self.group.child(name).and_then(|child| child.remove()).is_ok() || std::thread::panicking());
        }
        // A process leaves its group a moment after it was reaped.
        let end = Instant::now() + Duration::from_secs(5);
        while let Err(error) = self.group.remove() {
            if error.errno() != Errno::EBUSY || Instant::now() > end {
                assert!(std::thread::panicking(), "{error}");
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Thaws a group: a frozen process cannot even be killed on version 1.
struct Thaw<'a>(&'a Group);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        assert!(self.0.thaw().is_ok() || std::thread::panicking());
    }
}

fn v1() -> Option<Hierarchy> {
    let hierarchy = Hierarchy::detect(Path::new("/sys/fs/cgroup"), Magic::Check);
    (is_root() && hierarchy.version() == Some(Version::V1)).then_some(hierarchy)
}

#[test]
fn a_process_is_moved_and_follows_the_groups_cpus() {
    let Some(hierarchy) = v1() else { return };
    let root = hierarchy.cpuset_root().unwrap().unwrap();
    let temporary = Temporary::below(&root);
    let group = &temporary.group;
    let sleeper = Sleeper::start();

    let error = group.add_process(sleeper.pid()).unwrap_err();
    assert_eq!(error.errno(), Errno::ENOSPC);
    assert!(error.to_string().contains("set cpuset.cpus and cpuset.mems first"), "{error}");

    group.copy_cpuset_from(&root).unwrap();
    assert_eq!(group.cpus().unwrap(), root.cpus().unwrap());
    group.add_process(sleeper.pid()).unwrap();
    assert_eq!(group.procs().unwrap(), [sleeper.pid()]);
    assert_eq!(group.threads().unwrap(), [sleeper.pid().leader()]);

    let last: CpuSet = root.effective_cpus().unwrap().iter().last().into_iter().collect();
    group.set_cpus(&last).unwrap();
    assert_eq!((group.cpus().unwrap(), group.effective_cpus().unwrap()), (last.clone(), last.clone()));
    let proc = Procfs::new("/proc");
    assert_eq!(proc.status(sleeper.pid()).unwrap().cpus, last);
    let name = group.directory().file_name().unwrap().to_str().unwrap();
    assert_eq!(proc.cgroups(sleeper.pid()).unwrap().controller("cpuset"), Some(format!("/{name}").as_bytes()));

    let error = group.set_cpus(&CpuSet::new()).unwrap_err();
    assert_eq!(error.errno(), Errno::ENOSPC);
    assert!(error.remedy().unwrap().contains("without CPUs"));
    assert_eq!(group.remove().unwrap_err().errno(), Errno::EBUSY);

    root.add_thread(sleeper.pid().leader()).unwrap();
    assert!(group.threads().unwrap().is_empty());
}

#[test]
fn refusals_of_a_cpuset_say_why() {
    let Some(hierarchy) = v1() else { return };
    let root = hierarchy.cpuset_root().unwrap().unwrap();
    let temporary = Temporary::below(&root);
    let group = &temporary.group;
    group.copy_cpuset_from(&root).unwrap();
    let child = group.create_child("child").unwrap();
    assert_eq!(group.children().unwrap(), ["child"]);
    assert_eq!(group.create_child("child").unwrap_err().errno(), Errno::EEXIST);
    child.copy_cpuset_from(group).unwrap();

    let first: CpuSet = root.cpus().unwrap().first().into_iter().collect();
    if first != root.cpus().unwrap() {
        let error = group.set_cpus(&first).unwrap_err();
        assert_eq!(error.errno(), Errno::EBUSY);
        assert!(error.remedy().unwrap().contains("a child group"), "{error}");
        child.set_cpus(&first).unwrap();
        group.set_cpus(&first).unwrap();
        assert_eq!(child.set_cpus(&root.cpus().unwrap()).unwrap_err().errno(), Errno::EACCES);
    }
    let error = group.set_cpus(&"4000".parse().unwrap()).unwrap_err();
    assert!([Errno::EINVAL, Errno::ERANGE].contains(&error.errno()), "{error}");
    assert!(error.remedy().is_some() && error.value() == Some("4000"), "{error}");

    let error = group.add_process(crate::ids::Pid(i32::MAX)).unwrap_err();
    assert!(error.is_gone(), "{error}");
    child.remove().unwrap();
    assert!([Errno::ENODEV, Errno::ENOENT].contains(&child.cpus().unwrap_err().errno()));
}

#[test]
fn a_group_is_frozen_and_thawed() {
    let Some(root) = v1().and_then(|hierarchy| hierarchy.freezer_root().unwrap()) else { return };
    freeze_below(&root);
}

#[test]
fn a_version_2_group_is_frozen_and_thawed() {
    // Freezing is no controller: it works on version 2 wherever that is mounted.
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let Some(root) = roots.iter().find(|root| Path::new(root).join("cgroup.controllers").exists()) else { return };
    if is_root() {
        freeze_below(&Group::open(root, Version::V2).unwrap());
    }
}

fn freeze_below(root: &Group) {
    let temporary = Temporary::below(root);
    let group = &temporary.group;
    let sleeper = Sleeper::start();
    group.add_process(sleeper.pid()).unwrap();
    let _thaw = Thaw(group);
    let mut state = group.freeze().unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while state != FreezerState::Frozen {
        assert!(state == FreezerState::Freezing && Instant::now() < end);
        state = group.freezer_state().unwrap();
    }
    assert_eq!(group.thaw().unwrap(), FreezerState::Thawed);
    assert!(root.freeze().is_err(), "a root group cannot be frozen");
}

#[test]
fn a_cpu_group_without_real_time_budget_is_named_in_the_remedy() {
    let root = Path::new("/sys/fs/cgroup/cpu");
    if !is_root() || !root.join("cpu.rt_runtime_us").exists() {
        return;
    }
    let temporary = Temporary::below(&Group::open(root, Version::V1).unwrap());
    let sleeper = Sleeper::start();
    temporary.group.add_process(sleeper.pid()).unwrap();
    let rt = SchedState { priority: 1, ..SchedState::of(SchedPolicy::RoundRobin) };
    let error = sched::set(sleeper.pid().leader(), &rt).unwrap_err();
    assert_eq!(error.errno(), Errno::EPERM);
    assert!(error.to_string().contains("cpu.rt_runtime_us"), "{error}");
}
