//! What can happen.

use std::fmt;

use nix::errno::Errno;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::set;
use super::policies;
use crate::fake::{INIT, Kernel};
use crate::ids::{Pid, Tid};
use crate::sys::sched::{SchedPolicy, SchedState};

/// No more processes at a time, and threads of one: more show nothing new.
const PROCESSES: usize = 7;
const THREADS: usize = 3;

/// Ids that are given in turn, so that they are used again.
const IDS: i32 = 30;

/// What happens, a step a line.
#[derive(Clone)]
pub(super) struct History(pub(super) Vec<Step>);

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "\n    {step:?},"))
    }
}

/// One step of a history. Numbers choose among what there is, the rest of a division by how many there are.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Something happens.
    Then(Act),
    /// Something happens in the midst of what the daemon does next, after so many questions to the kernel.
    Meanwhile(u32, Act),
    /// The daemon starts, or starts anew where it was killed, with this policy.
    Start(usize),
    /// It is killed.
    Kill,
    /// It puts everything back and ends.
    Release,
    /// Its policy is another.
    Reload(usize),
    /// It hears of the oldest events.
    Hear(usize),
    /// The next events find no room.
    Lose(usize),
    /// Others run there for a tick.
    Load(&'static str),
}

/// What processes do, or somebody else does to them.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A process is started: what it runs, its group, how somebody set it up before, and from where its id is sought.
    Run(&'static str, &'static str, By, i32),
    /// A thread of a process forks.
    Fork(usize, usize, i32),
    /// A thread of a process starts another.
    Thread(usize, usize, i32),
    /// A thread of a process executes a program.
    Exec(usize, usize, &'static str),
    /// A thread takes another name.
    Rename(usize, usize, &'static str),
    /// A thread ends.
    Quit(usize, usize),
    /// A process ends, and is waited for or not.
    Exit(usize, bool),
    /// Somebody changes a thread.
    Change(usize, usize, By),
    /// Time passes.
    Pass,
}

/// What somebody does to a thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// Nothing.
    Nobody,
    /// renice(1).
    Nice(i32),
    /// taskset(1).
    Mask(&'static str),
    /// chrt(1).
    Policy(SchedPolicy, u32, i32, bool),
}

pub(super) const GROUPS: [(&str, &str); 3] = [("/one", "0-7"), ("/two", "0-7"), ("/narrow", "0-6")];

/// Histories of up to some thirty steps.
pub(super) fn steps() -> impl Strategy<Value = History> {
    let policy = 0..policies::COUNT;
    let step = prop_oneof![
        16 => act().prop_map(Step::Then),
        // Not in the midst of something: what is changed between a look and a write is lost, whoever writes.
        1 => change().prop_map(Step::Then),
        4 => (1..120_u32, act()).prop_map(|(questions, act)| Step::Meanwhile(questions, act)),
        3 => policy.clone().prop_map(Step::Start),
        1 => Just(Step::Kill),
        1 => Just(Step::Release),
        2 => policy.prop_map(Step::Reload),
        5 => (1..8_usize).prop_map(Step::Hear),
        1 => (1..6_usize).prop_map(Step::Lose),
        1 => select(vec!["", "0", "0-1,4", "0-7"]).prop_map(Step::Load),
    ];
    prop::collection::vec(step, 0..32).prop_map(History)
}

fn act() -> impl Strategy<Value = Act> {
    let program = select(vec!["/bin/a", "/bin/a", "/bin/b", "/bin/b", "/bin/c", "/bin/d"]);
    let group = select(vec!["/", "/", "/", "/one", "/one", "/two", "/narrow"]);
    let before = select(vec![
        By::Nobody,
        By::Nobody,
        By::Nobody,
        By::Nice(3),
        By::Mask("0,2"),
        By::Mask("5-7"),
        By::Policy(SchedPolicy::Batch, 0, 2, true),
        By::Policy(SchedPolicy::RoundRobin, 5, 0, true),
        By::Policy(SchedPolicy::Fifo, 9, 0, false),
    ]);
    let one = || (0..PROCESSES, 0..THREADS);
    prop_oneof![
        4 => (program.clone(), group, before, 0..IDS).prop_map(|(exe, group, by, id)| Act::Run(exe, group, by, id)),
        4 => (one(), 0..IDS).prop_map(|((process, thread), id)| Act::Fork(process, thread, id)),
        2 => (one(), 0..IDS).prop_map(|((process, thread), id)| Act::Thread(process, thread, id)),
        4 => (one(), program).prop_map(|((process, thread), exe)| Act::Exec(process, thread, exe)),
        1 => (one(), select(vec!["x", "y"])).prop_map(|((process, thread), name)| Act::Rename(process, thread, name)),
        1 => one().prop_map(|(process, thread)| Act::Quit(process, thread)),
        2 => (0..PROCESSES, any::<bool>()).prop_map(|(process, reaped)| Act::Exit(process, reaped)),
        1 => Just(Act::Pass),
    ]
}

fn change() -> impl Strategy<Value = Act> {
    let by = select(vec![By::Nice(6), By::Mask("1,3,5"), By::Mask("2-4"), By::Policy(SchedPolicy::Batch, 0, 8, false)]);
    (0..PROCESSES, 0..THREADS, by).prop_map(|(process, thread, by)| Act::Change(process, thread, by))
}

impl Act {
    /// Does it to the kernel that a daemon works on and to the one that nobody touches.
    pub(super) fn befall(&self, touched: &mut Kernel, plain: &mut Kernel) {
        if let Act::Change(process, thread, by) = self {
            // What is refused because of the daemon's doing is not done where there is none.
            if let Some((pid, tid)) = choose(plain, *process, *thread)
                && by.change(touched, tid).is_ok()
            {
                by.change(plain, tid).unwrap();
                plain.meddle(pid);
            }
            return;
        }
        if let Some(deed) = self.deed(touched, plain) {
            deed(touched);
            deed(plain);
        }
    }

    /// The same for both; none where nobody is there to do it, or whoever is there is stopped.
    fn deed(&self, touched: &Kernel, plain: &Kernel) -> Option<Deed> {
        let has_room = plain.living().len() < PROCESSES;
        if let Act::Run(program, group, by, id) = *self {
            // In a group that is narrowed for a class already, nothing tells of a mask that is wider.
            let by = if group != "/" && matches!(by, By::Mask(_)) { By::Nobody } else { by };
            let id = plain.free_id(id, IDS).filter(|_| has_room)?;
            return Some(Box::new(move |kernel| {
                kernel.fork(INIT.leader(), Pid(id));
                by.change(kernel, Tid(id)).unwrap();
                kernel.put_into(group, Pid(id)).unwrap();
                kernel.exec(Tid(id), program);
            }));
        }
        let (process, thread) = match *self {
            Act::Fork(process, thread, _)
            | Act::Thread(process, thread, _)
            | Act::Exec(process, thread, _)
            | Act::Rename(process, thread, _)
            | Act::Quit(process, thread) => (process, thread),
            Act::Exit(process, _) => (process, 0),
            _ => return Some(Box::new(|kernel| kernel.pass(1))),
        };
        let (pid, tid) = choose(plain, process, thread).filter(|(_, tid)| !touched.is_frozen(*tid))?;
        let has_few = plain.living_threads(pid).len() < THREADS;
        Some(match *self {
            Act::Fork(_, _, id) => {
                let child = plain.free_id(id, IDS).filter(|_| has_room)?;
                Box::new(move |kernel| kernel.fork(tid, Pid(child)))
            }
            Act::Thread(_, _, id) => {
                let new = plain.free_id(id, IDS).filter(|_| has_few)?;
                Box::new(move |kernel| kernel.thread(tid, Tid(new)))
            }
            Act::Exec(_, _, program) => Box::new(move |kernel| kernel.exec(tid, program)),
            Act::Rename(_, _, name) => Box::new(move |kernel| kernel.rename(tid, name)),
            Act::Exit(_, reaped) => Box::new(move |kernel| {
                kernel.exit_group(pid);
                if reaped {
                    kernel.reap(pid);
                }
                kernel.pass(1);
            }),
            _ => Box::new(move |kernel| {
                kernel.exit(tid);
                kernel.pass(1);
            }),
        })
    }
}

/// What is done to a kernel.
type Deed = Box<dyn Fn(&mut Kernel)>;

/// A living thread, and its process.
fn choose(kernel: &Kernel, process: usize, thread: usize) -> Option<(Pid, Tid)> {
    let living = kernel.living();
    let pid = *living.get(process % living.len().max(1))?;
    let threads = kernel.living_threads(pid);
    Some((pid, *threads.get(thread % threads.len().max(1))?))
}

impl By {
    fn change(self, kernel: &mut Kernel, tid: Tid) -> Result<(), Errno> {
        match self {
            By::Nobody => Ok(()),
            By::Nice(nice) => kernel.set_nice(tid, nice),
            By::Mask(cpus) => kernel.set_affinity(tid, &set(cpus)),
            By::Policy(policy, priority, nice, reset_on_fork) => {
                kernel.set_sched(tid, &SchedState { priority, nice, reset_on_fork, ..SchedState::of(policy) })
            }
        }
    }
}
