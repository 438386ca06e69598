//! A host that a history happens on: a kernel with a daemon on it, and the same kernel as if there were no daemon.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::super::*;
use super::history::{GROUPS, Step};
use super::policies;
use crate::events::ProcEvent;
use crate::fake::{self, Kernel, Shared};

/// Ticks without load after which nothing changes any more.
const QUIET: u32 = 2 * crate::decide::OPEN_AFTER as u32 + 2;

/// The daemon's own groups.
pub(super) const OWN: &str = "cotenant";

pub(super) struct World {
    pub(super) touched: Shared,
    /// What nobody ever touched.
    pub(super) plain: Shared,
    roots: Roots,
    pub(super) enforcer: Option<Enforcer>,
    pub(super) policy: usize,
    /// Whether a class kept its descendants at any time.
    pub(super) has_kept_descendants: bool,
    queue: VecDeque<ProcEvent>,
    /// Events that will find no room, and whether some have found none.
    losing: usize,
    has_lost: bool,
}

impl World {
    pub(super) fn new(version: Option<Version>) -> World {
        let roots = roots("touched", version);
        let mounts = mounts(&roots);
        let mut plain = Kernel::boot(mounts.clone(), version, policies::cpus());
        plain.has_core_scheduling();
        for (group, cpus) in GROUPS {
            plain.furnish(group, &set(cpus));
        }
        World::of(plain, roots, 0)
    }

    /// The same processes, as nobody has touched them yet, on a host of their own.
    pub(super) fn anew(&self) -> World {
        let plain = fake::lock(&self.plain);
        let roots = roots("anew", plain.version());
        let plain = plain.twin(mounts(&roots));
        World::of(plain, roots, self.policy)
    }

    fn of(plain: Kernel, roots: Roots, policy: usize) -> World {
        World {
            touched: Arc::new(Mutex::new(plain.twin(mounts(&roots)))),
            plain: Arc::new(Mutex::new(plain)),
            roots,
            enforcer: None,
            policy,
            has_kept_descendants: false,
            queue: VecDeque::new(),
            losing: 0,
            has_lost: false,
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        fake::install(Some(Arc::clone(&self.touched)));
        if !matches!(step, Step::Then(_)) {
            fake::lock(&self.touched).story.push(format!("-- {step:?}"));
        }
        match step {
            Step::Then(act) => {
                act.befall(&mut fake::lock(&self.touched), &mut fake::lock(&self.plain));
            }
            Step::Meanwhile(questions, act) => {
                let (act, plain) = (act.clone(), Arc::clone(&self.plain));
                let happen = move |touched: &mut Kernel| act.befall(touched, &mut fake::lock(&plain));
                fake::lock(&self.touched).meanwhile(*questions, happen);
            }
            Step::Start(policy) if self.enforcer.is_none() => {
                self.policy = *policy;
                self.start();
            }
            Step::Kill => self.enforcer = None,
            Step::Release => {
                self.hear(usize::MAX);
                if let Some(mut enforcer) = self.enforcer.take() {
                    enforcer.release_all();
                }
            }
            Step::Reload(policy) => {
                if let Some(enforcer) = &mut self.enforcer {
                    self.policy = *policy;
                    let plan = policies::plan(*policy);
                    self.has_kept_descendants |= policies::keeps_descendants(&plan);
                    enforcer.adopt(plan).unwrap();
                }
            }
            Step::Hear(events) => self.hear(*events),
            Step::Lose(events) => self.losing = *events,
            Step::Load(foreign) => self.load(foreign),
            Step::Start(_) => {}
        }
        self.collect();
        fake::install(None);
    }

    fn start(&mut self) {
        // The connector is open before anything is looked at.
        fake::lock(&self.plain).is_late = true;
        let plan = policies::plan(self.policy);
        self.has_kept_descendants |= policies::keeps_descendants(&plan);
        let (enforcer, _) = Enforcer::start(self.roots.clone(), plan).unwrap();
        fake::lock(&self.plain).look_around(true);
        self.enforcer.insert(enforcer).scan().unwrap();
    }

    /// What the kernel told meanwhile waits to be heard, where anybody listens.
    fn collect(&mut self) {
        let told = std::mem::take(&mut fake::lock(&self.touched).events);
        if self.enforcer.is_none() {
            (self.losing, self.has_lost) = (0, false);
            self.queue.drain(..).chain(told).for_each(|event| keep_secret(&self.plain, &event));
            return;
        }
        for event in told {
            match self.losing {
                0 => self.queue.push_back(event),
                _ => {
                    if let ProcEvent::Exec { process } = event {
                        fake::lock(&self.plain).lose_exec(process);
                    }
                    keep_secret(&self.plain, &event);
                    self.losing -= 1;
                    self.has_lost = true;
                }
            }
        }
    }

    fn hear(&mut self, events: usize) {
        let Some(enforcer) = &mut self.enforcer else { return };
        for event in self.queue.drain(..events.min(self.queue.len())) {
            enforcer.follow(&event);
        }
        if self.queue.is_empty() && std::mem::take(&mut self.has_lost) {
            enforcer.scan().unwrap();
            fake::lock(&self.plain).look_around(false);
        }
    }

    fn load(&mut self, foreign: &str) {
        let Some(enforcer) = self.enforcer.as_mut().filter(|enforcer| enforcer.is_reactive_now()) else { return };
        let classes = vec![ClassLoad::default(); enforcer.plan.classes.len()];
        let elapsed = Duration::from_millis(10);
        enforcer.respond(&Load { elapsed, foreign: set(foreign), classes, ..Load::default() });
    }

    /// Lets everything happen and be heard that is under way, with a daemon that runs, until nothing changes any more.
    pub(super) fn settle(&mut self) {
        fake::install(Some(Arc::clone(&self.touched)));
        fake::lock(&self.touched).catch_up();
        self.collect();
        if self.enforcer.is_none() {
            self.start();
            self.collect();
        }
        self.hear(usize::MAX);
        for _ in 0..QUIET {
            self.load("");
        }
        fake::install(None);
    }

    /// Runs something on the daemon.
    pub(super) fn with<T>(&mut self, what: impl FnOnce(&mut Enforcer) -> T) -> Option<T> {
        fake::install(Some(Arc::clone(&self.touched)));
        let done = self.enforcer.as_mut().map(what);
        fake::install(None);
        done
    }

    /// Whether groups of the daemon's own are there.
    pub(super) fn has_own_groups(&self) -> bool {
        ["cpuset", "freezer"].iter().any(|tree| self.roots.cgroup.join(tree).join(OWN).exists())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A failed assertion may have left one installed, and its directories.
        fake::install(None);
        for tree in ["cpuset", "freezer"] {
            let own = self.roots.cgroup.join(tree).join(OWN);
            if own.exists() {
                std::fs::remove_dir_all(own).unwrap();
            }
        }
        if self.roots.run.exists() {
            std::fs::remove_dir_all(&self.roots.run).unwrap();
        }
    }
}

/// Nobody hears of this.
fn keep_secret(plain: &Shared, event: &ProcEvent) {
    if let ProcEvent::Fork { parent, child, .. } = event
        && *parent != fake::INIT
    {
        fake::lock(plain).keep_secret(*child);
    }
}

fn mounts(roots: &Roots) -> PathBuf {
    roots.proc.parent().unwrap().to_owned()
}

/// The directories of one kind of host; made once for each thread of the test, since a history leaves none of its own.
fn roots(name: &'static str, version: Option<Version>) -> Roots {
    thread_local! {
        static HOSTS: RefCell<BTreeMap<(&'static str, String), tempfile::TempDir>> = const { RefCell::new(BTreeMap::new()) };
    }
    HOSTS.with_borrow_mut(|hosts| {
        let host = hosts.entry((name, format!("{version:?}"))).or_insert_with(|| host(version));
        let at = |path: &str| host.path().join(path);
        let group = OWN.to_owned();
        Roots { proc: at("proc"), sys: at("sys"), cgroup: at("cgroup"), run: at("run"), group }
    })
}

/// What is asked of files that never change.
fn host(version: Option<Version>) -> tempfile::TempDir {
    // In memory where it can be.
    let memory = Path::new("/dev/shm");
    let host = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let mut files = vec![
        ("proc/self/status", "CapEff:\t000001ffffffffff\n"),
        ("proc/sys/kernel/random/boot_id", "00000000-0000-0000-0000-000000000001\n"),
        ("sys/devices/system/cpu/possible", "0-7\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
    ];
    match version {
        Some(Version::V1) => {
            files.extend([
                ("cgroup/cpuset/cpuset.cpus", ""),
                ("cgroup/cpuset/tasks", ""),
                ("cgroup/freezer/tasks", ""),
            ]);
        }
        Some(Version::V2) => files.push(("cgroup/cgroup.controllers", "cpuset\n")),
        None => {}
    }
    for (path, text) in files {
        let path = host.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tree = match version {
        Some(Version::V1) => "cgroup/cpuset",
        Some(Version::V2) => "cgroup",
        None => return host,
    };
    for (group, _) in GROUPS {
        std::fs::create_dir(host.path().join(tree).join(group.trim_start_matches('/'))).unwrap();
    }
    host
}
