//! Who sees to it that the daemon's real-time priority keeps nobody from what the daemon itself waits for.
//!
//! The kernel has places where one thread waits for another without sleeping, in the belief that the other one runs. Whoever opens
//! a file of a process that is just ending waits so until that is done with its names (`shrink_dcache_parent` in
//! `fs/dcache.c`). If the one that ends is a real-time thread of lower priority and bound to the same CPU, it never is: what the
//! kernel sets aside for others from real-time threads (sched(7), "Limiting the CPU usage of real-time and deadline processes")
//! goes to fair ones. The daemon then spins for good, and not even `SIGKILL` reaches it. Seen under a churn of real-time
//! processes that are born and die on one CPU.
//!
//! So a thread of higher priority takes the daemon's away for an instant whenever a stretch of work has taken long. It sleeps
//! otherwise, and costs two settings of a timer for each time the daemon wakes.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;
use nix::sys::timerfd::TimerFd;

use super::wait;
use crate::aide::Aide;
use crate::error::KernelError;
use crate::ids::Tid;
use crate::sys::sched::{self, SchedPolicy, SchedState};

/// How long the daemon may work with its priority before others get their instant: long against everything it does at
/// events and ticks, and short against what anybody would notice of a host that stands.
const STRETCH: Duration = Duration::from_millis(100);

/// That instant: what is waited for takes microseconds.
const INSTANT: Duration = Duration::from_millis(2);

/// The thread, until it is dropped.
pub(super) struct Guard {
    timer: Arc<TimerFd>,
    thread: Aide,
}

impl Guard {
    /// Guards the calling thread, which is at work. The guard has whatever priority a new thread of the caller has, until it
    /// is given one above the caller's.
    ///
    /// # Errors
    /// As [`Aide::start`], and those of timerfd_create(2).
    pub(super) fn start() -> Result<Guard, KernelError> {
        let timer = Arc::new(wait::timer()?);
        let (clock, guarded) = (Arc::clone(&timer), Tid::current());
        let thread = Aide::start("cotenant-guard", move |end| watch(guarded, &clock, end))?;
        let guard = Guard { timer, thread };
        guard.work()?;
        Ok(guard)
    }

    /// The guard's id, for its priority.
    pub(super) fn tid(&self) -> Tid {
        self.thread.tid()
    }

    /// The guarded thread begins to work.
    ///
    /// # Errors
    /// Those of timerfd_settime(2).
    pub(super) fn work(&self) -> Result<(), KernelError> {
        wait::set(&self.timer, Some(STRETCH))
    }

    /// The guarded thread is about to sleep.
    ///
    /// # Errors
    /// Those of timerfd_settime(2).
    pub(super) fn rest(&self) -> Result<(), KernelError> {
        wait::set(&self.timer, None)
    }
}

fn watch(guarded: Tid, timer: &TimerFd, end: &EventFd) {
    loop {
        let mut fds = [PollFd::new(timer.as_fd(), PollFlags::POLLIN), PollFd::new(end.as_fd(), PollFlags::POLLIN)];
        let waited = poll(&mut fds, PollTimeout::NONE);
        let [_, ended] = fds.map(|fd| fd.any().unwrap_or(false));
        if ended || waited.is_err_and(|errno| errno != Errno::EINTR) {
            return;
        }
        // EAGAIN means that the work was over when it had rung.
        if timer.wait().is_ok() {
            give_way(guarded);
        }
    }
}

/// Makes a real-time thread an ordinary one for an instant. What it is made meanwhile, it stays.
fn give_way(guarded: Tid) {
    let Ok(before) = sched::get(guarded) else { return };
    let ordinary = SchedState { reset_on_fork: true, ..SchedState::of(SchedPolicy::Other) };
    if before.policy != SchedPolicy::Fifo || sched::set(guarded, &ordinary).is_err() {
        return;
    }
    std::thread::sleep(INSTANT);
    if sched::get(guarded).is_ok_and(|now| now.policy == SchedPolicy::Other) {
        // It is tried again whenever the policy is read; until then the daemon reacts as late as an ordinary process.
        drop(sched::set(guarded, &before));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use cotenant_compiler::CpuSet;

    use super::*;
    use crate::sys::affinity;
    use crate::testing::is_root;

    fn real_time(policy: SchedPolicy, priority: u32) -> SchedState {
        SchedState { priority, reset_on_fork: true, ..SchedState::of(policy) }
    }

    #[test]
    fn who_waits_without_sleeping_for_a_lower_thread_of_its_cpu_gets_what_it_waits_for() {
        if !is_root() {
            return;
        }
        let done = Arc::new(AtomicBool::new(false));
        let waits = Arc::clone(&done);
        let waited = std::thread::spawn(move || {
            let me = Tid::current();
            let cpu: CpuSet = affinity::get(me).unwrap().first().into_iter().collect();
            affinity::set(me, &cpu).unwrap();
            let guard = Guard::start().unwrap();
            affinity::set(guard.tid(), &affinity::get(Tid(std::process::id() as i32)).unwrap()).unwrap();
            sched::set(guard.tid(), &real_time(SchedPolicy::Fifo, 3)).unwrap();
            let (is_placed, placed) = std::sync::mpsc::channel();
            let (call, called) = std::sync::mpsc::channel();
            let ends = Arc::clone(&waits);
            let lower = std::thread::spawn(move || {
                sched::set(Tid::current(), &real_time(SchedPolicy::RoundRobin, 1)).unwrap();
                is_placed.send(()).unwrap();
                called.recv().unwrap();
                ends.store(true, Ordering::SeqCst);
            });
            placed.recv().unwrap();
            sched::set(me, &real_time(SchedPolicy::Fifo, 2)).unwrap();
            // From here on it would run, and has no CPU.
            call.send(()).unwrap();
            let begin = Instant::now();
            while !waits.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(10) {}
            let waited = waits.load(Ordering::SeqCst);
            // And has its priority again, once that instant is over.
            let is_fifo = || sched::get(me).unwrap().policy == SchedPolicy::Fifo;
            while !is_fifo() && begin.elapsed() < Duration::from_secs(20) {}
            let is_fifo = is_fifo();
            sched::set(me, &SchedState::of(SchedPolicy::Other)).unwrap();
            lower.join().unwrap();
            (waited, is_fifo)
        });
        assert_eq!(waited.join().unwrap(), (true, true));
    }
}
