//! Processes: how they begin, become other programs and end, and what is told of it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use cotenant_compiler::CpuSet;

use super::groups::Groups;
use super::task::{Process, Task};
use crate::cgroup::Version;
use crate::events::ProcEvent;
use crate::ids::{Pid, Tid};
use crate::sys::core_sched::Cookie;
use crate::sys::sched::{SchedPolicy, SchedState};

/// The first id that is given here, for its init. No kernel gives such ones: `PID_MAX_LIMIT` is 4,194,304.
pub(crate) const FIRST: i32 = 5_000_000;

/// The process whose children orphans become.
pub(crate) const INIT: Pid = Pid(FIRST);

/// Something that happens when so many more questions were asked.
struct Interrupt {
    questions: u32,
    what: Box<dyn FnOnce(&mut Kernel) + Send>,
}

/// All there is.
pub(crate) struct Kernel {
    /// Below it are `proc` and `cgroup`.
    pub(super) mounts: PathBuf,
    pub(super) cpus: CpuSet,
    pub(super) groups: Groups,
    pub(super) tasks: BTreeMap<Tid, Task>,
    pub(super) processes: BTreeMap<Pid, Process>,
    pub(super) has_core_scheduling: bool,
    pub(super) last_cookie: u64,
    /// Of threads of this program.
    pub(super) own_cookies: BTreeMap<Tid, Cookie>,
    /// Clock ticks since boot.
    pub(super) now: u64,
    /// What was told and nobody has read yet.
    pub(crate) events: VecDeque<ProcEvent>,
    interrupts: Vec<Interrupt>,
    /// A daemon may have placed somebody already.
    pub(crate) is_late: bool,
    /// What happened, to be read where a test fails.
    pub(crate) story: Vec<String>,
}

impl Kernel {
    /// One that has booted, with nothing but an init.
    pub(crate) fn boot(mounts: PathBuf, version: Option<Version>, cpus: CpuSet) -> Kernel {
        let init = Task {
            process: INIT,
            start: 1,
            comm: "init".to_owned(),
            sched: SchedState::of(SchedPolicy::Other),
            asked: None,
            allowed: cpus.clone(),
            cookie: Cookie::NONE,
            cpuset: "/".to_owned(),
            freezer: "/".to_owned(),
            is_zombie: false,
        };
        let process = Process {
            parent: Pid(0),
            exe: "/sbin/init".to_owned(),
            has_execed: true,
            has_changed: false,
            threads: vec![INIT.leader()],
            is_estranged: false,
            is_meddled: false,
            is_unheard: false,
            is_mistakable: false,
        };
        Kernel {
            groups: Groups::new(version, &cpus),
            mounts,
            cpus,
            tasks: BTreeMap::from([(INIT.leader(), init)]),
            processes: BTreeMap::from([(INIT, process)]),
            has_core_scheduling: false,
            last_cookie: 0,
            own_cookies: BTreeMap::new(),
            now: 100,
            events: VecDeque::new(),
            interrupts: Vec::new(),
            is_late: false,
            story: Vec::new(),
        }
    }

    /// Lets it have core scheduling.
    pub(crate) fn has_core_scheduling(&mut self) {
        self.has_core_scheduling = true;
    }

    /// The same processes in the same state, in another tree of groups.
    pub(crate) fn twin(&self, mounts: PathBuf) -> Kernel {
        Kernel {
            mounts,
            cpus: self.cpus.clone(),
            groups: self.groups.clone(),
            tasks: self.tasks.clone(),
            processes: self.processes.clone(),
            own_cookies: BTreeMap::new(),
            events: VecDeque::new(),
            interrupts: Vec::new(),
            story: Vec::new(),
            ..*self
        }
    }

    /// Has something happen in the midst of what is asked later.
    pub(crate) fn meanwhile(&mut self, questions: u32, what: impl FnOnce(&mut Kernel) + Send + 'static) {
        self.interrupts.push(Interrupt { questions, what: Box::new(what) });
    }

    /// Lets happen whose time has come, before the next question is answered.
    pub(super) fn interrupt(&mut self) {
        for interrupt in &mut self.interrupts {
            interrupt.questions = interrupt.questions.saturating_sub(1);
        }
        while let Some(at) = self.interrupts.iter().position(|interrupt| interrupt.questions == 0) {
            (self.interrupts.remove(at).what)(self);
        }
    }

    /// Lets happen what has not yet.
    pub(crate) fn catch_up(&mut self) {
        for interrupt in std::mem::take(&mut self.interrupts) {
            (interrupt.what)(self);
        }
    }

    /// Time passes: what starts later has another start time.
    pub(crate) fn pass(&mut self, ticks: u64) {
        self.now += ticks;
    }

    /// A free id; the choice begins at `from`.
    pub(crate) fn free_id(&self, from: i32, among: i32) -> Option<i32> {
        let candidates = (0..among).map(|step| FIRST + 1 + (from + step) % among);
        candidates.into_iter().find(|id| !self.tasks.contains_key(&Tid(*id)) && !self.processes.contains_key(&Pid(*id)))
    }

    pub(crate) fn fork(&mut self, maker: Tid, child: Pid) {
        let Ok(task) = self.task(maker) else { return };
        let parent = task.process;
        let task = task.copy(child, self.now);
        let Some(process) = self.processes.get(&parent) else { return };
        let process = Process { parent, has_execed: false, threads: vec![child.leader()], ..process.clone() };
        self.story.push(format!("{maker} of {parent} forks {child}"));
        self.tasks.insert(child.leader(), task);
        self.processes.insert(child, process);
        self.events.push_back(ProcEvent::Fork { parent, parent_thread: maker, child });
    }

    /// pthread_create(3).
    pub(crate) fn thread(&mut self, maker: Tid, thread: Tid) {
        let Ok(task) = self.task(maker) else { return };
        let process = task.process;
        let task = task.copy(process, self.now);
        // Which thread made it is told to nobody.
        let setup = |tid: &Tid| self.task(*tid).ok().map(|task| (task.sched, task.asked.clone()));
        let is_mistakable = self.living_threads(process).iter().any(|tid| setup(tid) != setup(&maker));
        self.story.push(format!("{maker} of {process} starts thread {thread}"));
        self.tasks.insert(thread, task);
        if let Some(process) = self.processes.get_mut(&process) {
            process.threads.push(thread);
            process.is_mistakable |= is_mistakable;
        }
        self.events.push_back(ProcEvent::Thread { process, thread });
    }

    /// execve(2): the other threads end, and the caller takes over the leader's id and start time.
    pub(crate) fn exec(&mut self, caller: Tid, program: &str) {
        let Ok(task) = self.task(caller) else { return };
        let pid = task.process;
        self.story.push(format!("{caller} of {pid} executes {program}"));
        let start = self.task(pid.leader()).map_or(self.now, |leader| leader.start);
        let setup = |tid: Tid| self.task(tid).ok().map(|task| (task.sched, task.asked.clone()));
        let is_mistakable = setup(caller) != setup(pid.leader());
        let others: Vec<Tid> = self.threads_of(pid).into_iter().filter(|tid| *tid != caller).collect();
        for tid in others {
            if self.tasks.remove(&tid).is_some_and(|task| !task.is_zombie) {
                self.events.push_back(ProcEvent::Exit { process: pid, thread: tid, status: 0 });
            }
        }
        let Some(task) = self.tasks.remove(&caller) else { return };
        let comm = program.rsplit('/').next().unwrap_or(program).to_owned();
        self.tasks.insert(pid.leader(), Task { start, comm, ..task });
        if let Some(process) = self.processes.get_mut(&pid) {
            process.has_changed |= process.has_execed;
            process.is_mistakable |= is_mistakable;
            (process.exe, process.has_execed, process.threads) = (program.to_owned(), true, vec![pid.leader()]);
        }
        self.estrange_children(pid);
        self.events.push_back(ProcEvent::Exec { process: pid });
    }

    /// `PR_SET_NAME` of prctl(2).
    pub(crate) fn rename(&mut self, tid: Tid, name: &str) {
        let Ok(task) = self.task_mut(tid) else { return };
        task.comm = name.to_owned();
        let process = task.process;
        if tid.leads(process) {
            self.estrange_children(process);
            if let Some(process) = self.processes.get_mut(&process) {
                process.is_estranged = true;
            }
        }
        self.story.push(format!("{tid} of {process} becomes {name}"));
        self.events.push_back(ProcEvent::Comm { process, thread: tid, comm: name.as_bytes().to_vec() });
    }

    /// One thread ends. The last takes its process with it; a leader that is not the last stays as a zombie.
    pub(crate) fn exit(&mut self, tid: Tid) {
        let Ok(task) = self.task_mut(tid) else { return };
        if std::mem::replace(&mut task.is_zombie, true) {
            return;
        }
        let process = task.process;
        self.story.push(format!("{tid} of {process} ends"));
        self.events.push_back(ProcEvent::Exit { process, thread: tid, status: 0 });
        if !tid.leads(process) {
            self.tasks.remove(&tid);
            if let Some(process) = self.processes.get_mut(&process) {
                process.threads.retain(|thread| *thread != tid);
            }
        }
        if self.is_over(process) {
            self.orphan_children(process);
        }
    }

    /// exit_group(2).
    pub(crate) fn exit_group(&mut self, pid: Pid) {
        for tid in self.threads_of(pid).into_iter().rev() {
            self.exit(tid);
        }
    }

    /// wait(2).
    pub(crate) fn reap(&mut self, pid: Pid) {
        if self.is_over(pid) && self.processes.remove(&pid).is_some() {
            self.tasks.remove(&pid.leader());
        }
    }

    /// Whether a process has ended; a zombie may be left.
    pub(crate) fn is_over(&self, pid: Pid) -> bool {
        self.threads_of(pid).iter().all(|tid| self.tasks.get(tid).is_none_or(|task| task.is_zombie))
    }

    pub(crate) fn threads_of(&self, pid: Pid) -> Vec<Tid> {
        self.processes.get(&pid).map_or_else(Vec::new, |process| process.threads.clone())
    }

    /// Those that live, but for the init.
    pub(crate) fn living(&self) -> Vec<Pid> {
        self.processes.keys().copied().filter(|pid| *pid != INIT && !self.is_over(*pid)).collect()
    }

    /// The threads of a process that have not ended.
    pub(crate) fn living_threads(&self, pid: Pid) -> Vec<Tid> {
        let lives = |tid: &Tid| self.tasks.get(tid).is_some_and(|task| !task.is_zombie);
        self.threads_of(pid).into_iter().filter(lives).collect()
    }

    pub(crate) fn process(&self, pid: Pid) -> Option<&Process> {
        self.processes.get(&pid)
    }

    /// Notes that a process, and whoever it makes from now on, was changed by hand.
    pub(crate) fn meddle(&mut self, pid: Pid) {
        // Nor can be told whether a child was forked before.
        for (_, process) in self.processes.iter_mut().filter(|(its, process)| **its == pid || process.parent == pid) {
            process.is_meddled |= self.is_late;
        }
    }

    /// Notes that nobody was told of the fork of a process.
    pub(crate) fn keep_secret(&mut self, pid: Pid) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.is_unheard |= self.is_late;
        }
    }

    /// Notes that a daemon lost the news of an exec: when it was, and by which thread, it cannot know.
    pub(crate) fn lose_exec(&mut self, pid: Pid) {
        if let Some(process) = self.processes.get_mut(&pid) {
            process.is_estranged = true;
            process.is_mistakable |= process.threads.len() > 1 || process.has_changed;
        }
        self.estrange_children(pid);
    }

    /// Notes that all processes were looked at: what a secret child has shows in its parent, if that is what it was. A daemon
    /// that is new does not know what the parent was.
    pub(crate) fn look_around(&mut self, by_new_daemon: bool) {
        loop {
            let can_be_known = |process: &Process| {
                let parent = self.processes.get(&process.parent);
                process.is_unheard
                    && process.parent != INIT
                    && !(by_new_daemon && process.is_estranged)
                    && parent.is_some_and(|parent| !parent.is_unheard)
            };
            let known = self.processes.iter().find(|(_, process)| can_be_known(process)).map(|(pid, _)| *pid);
            let Some(process) = known.and_then(|pid| self.processes.get_mut(&pid)) else { return };
            process.is_unheard = false;
        }
    }

    fn estrange_children(&mut self, pid: Pid) {
        let children: Vec<Pid> =
            self.processes.iter().filter(|(_, process)| process.parent == pid).map(|(pid, _)| *pid).collect();
        for child in children {
            if let Some(process) = self.processes.get_mut(&child) {
                process.is_estranged = true;
            }
            self.estrange_children(child);
        }
    }

    fn orphan_children(&mut self, pid: Pid) {
        self.estrange_children(pid);
        let children: Vec<Pid> =
            self.processes.iter().filter(|(_, process)| process.parent == pid).map(|(pid, _)| *pid).collect();
        for child in children {
            if let Some(process) = self.processes.get_mut(&child) {
                process.parent = INIT;
            }
            // The init waits for everybody.
            self.reap(child);
        }
    }
}
