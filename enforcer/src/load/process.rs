//! One process: what its clock tells of all its threads at once.
//!
//! The clock of a process (clock_getcpuclockid(3)) is one system call however many threads there are, and nothing is put into
//! words on the way. It is the sum of what `schedstat` has of each, kept up to date at the same moments: while it stands still
//! no thread's counters have moved. It says nothing of waiting, and neither do the counters before the wait is over; so a
//! process of which a thread was at work is asked thread by thread whatever its clock says.

use std::collections::BTreeMap;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};

use super::counter::{Counter, Seen};
use super::is_negligible;
use crate::ids::{Pid, Tid};
use crate::member::Member;
use crate::procfs::{Procfs, SchedStat};

/// Looks of which one asks every thread, however little its process does. Each process has its turn at another.
const TURNS: u64 = 4;

/// What is known of a process from look to look.
#[derive(Default)]
pub(super) struct Process {
    clock: Option<ClockId>,
    /// What that showed last, in nanoseconds.
    used: Option<u64>,
    pub(super) threads: BTreeMap<Tid, Counter>,
    /// The only thread that did anything when they were last asked.
    lone: Option<Tid>,
    /// Whether one was at work then.
    is_at_work: bool,
    /// The number of the last look at it.
    pub(super) seen_at: u64,
}

/// One look at all processes.
pub(super) struct Look<'a> {
    pub(super) procfs: &'a Procfs,
    /// Since the last look, in nanoseconds.
    pub(super) elapsed: u64,
    /// From 1; the first has nothing to compare with.
    pub(super) number: u64,
    /// Of how many threads the counters may be kept open, and are.
    pub(super) most_open: usize,
    pub(super) open: &'a mut usize,
}

/// What a process's clock says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// No thread has done anything.
    Stood,
    /// All together did so many nanoseconds' work.
    Moved(u64),
    /// There is nothing to compare with, or it cannot be read.
    Unknown,
}

impl Process {
    /// Tells of each thread that did something since the last look. Threads that `stay` on a CPU are asked each time.
    pub(super) fn look(
        &mut self,
        look: &mut Look<'_>,
        (pid, member): (Pid, &Member),
        stay: bool,
        tell: impl FnMut(Tid, Seen),
    ) {
        let clock = if stay { Clock::Unknown } else { self.since(pid) };
        self.look_by(clock, look, (pid, member), stay, tell);
    }

    fn look_by(
        &mut self,
        clock: Clock,
        look: &mut Look<'_>,
        (pid, member): (Pid, &Member),
        stay: bool,
        mut tell: impl FnMut(Tid, Seen),
    ) {
        self.seen_at = look.number;
        let has_its_turn = look.number.wrapping_add(u64::from(pid.0.unsigned_abs())).is_multiple_of(TURNS);
        if !self.is_at_work {
            match clock {
                Clock::Stood => return,
                Clock::Moved(run) if is_negligible(run, look.elapsed) && !has_its_turn => {
                    // Of several that did something nobody knows who did this.
                    let lone = self.lone.and_then(|tid| Some((tid, self.threads.get_mut(&tid)?.trust(run)?)));
                    if let Some((tid, seen)) = lone {
                        return tell(tid, seen);
                    }
                }
                Clock::Moved(_) | Clock::Unknown => {}
            }
        }
        if self.threads.len() > member.threads.len() || has_its_turn {
            self.threads.retain(|tid, _| member.threads.contains_key(tid));
        }
        (self.lone, self.is_at_work) = (None, false);
        let mut active = 0;
        let passes_over = member.threads.len() > 1 && !has_its_turn && !stay;
        for tid in member.threads.keys().copied() {
            if passes_over && self.threads.get(&tid).is_some_and(Counter::sleeps_soundly) {
                continue;
            }
            let Some(done) = self.done(look, pid, tid) else { continue };
            let Some(counter) = self.threads.get_mut(&tid) else { continue };
            let seen = counter.judge((look.procfs, pid, tid), done, look.elapsed, stay);
            self.is_at_work |= counter.is_at_work();
            if let Some(seen) = seen {
                active += 1;
                self.lone = (active == 1).then_some(tid);
                tell(tid, seen);
            }
        }
    }

    /// What a thread did since the last look; none where nothing is known of it or it is gone.
    fn done(&mut self, look: &mut Look<'_>, pid: Pid, tid: Tid) -> Option<SchedStat> {
        if let Some(done) = self.threads.get_mut(&tid).and_then(|counter| counter.since(look.procfs, pid, tid)) {
            return Some(done);
        }
        let (counter, seen) = Counter::new(look.procfs, pid, tid, *look.open < look.most_open)?;
        *look.open += usize::from(self.threads.insert(tid, counter).is_none());
        // One that was not there at the last look did all it did since; short-lived ones are of their class too.
        let since = |time: u64| time.min(look.elapsed);
        (look.number > 1).then(|| SchedStat { run: since(seen.run), wait: since(seen.wait), ..seen })
    }

    /// What all threads together did since the clock was last read.
    fn since(&mut self, pid: Pid) -> Clock {
        let now = self.read(pid);
        match (std::mem::replace(&mut self.used, now), now) {
            (Some(before), Some(now)) if before == now => Clock::Stood,
            // One that goes back is another process's.
            (Some(before), Some(now)) if before < now => Clock::Moved(now - before),
            _ => Clock::Unknown,
        }
    }

    fn read(&mut self, pid: Pid) -> Option<u64> {
        let clock = match self.clock {
            Some(clock) => clock,
            // It stays the id's, whoever has that.
            None => *self.clock.insert(clock_getcpuclockid(nix::unistd::Pid::from_raw(pid.0)).ok()?),
        };
        let time = clock_gettime(clock).ok()?;
        u64::try_from(time.tv_sec().checked_mul(1_000_000_000)?.checked_add(time.tv_nsec())?).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::member::Joined;
    use crate::sys::sched;
    use crate::testing::Sleeper;
    use crate::thread::{Before, Mask, Touched, Wrote};

    /// A process with one thread whose counters say what the test says, whatever its clock does.
    struct Played {
        directory: tempfile::TempDir,
        pid: Pid,
        member: Member,
        process: Process,
        looks: u64,
    }

    impl Played {
        fn new(pid: Pid) -> Played {
            let before = Before { sched: sched::get(Tid::current()).unwrap(), mask: Mask::Any };
            let touched = Touched { start: 1, before, wrote: Wrote::default() };
            let threads = [(pid.leader(), touched)].into();
            let (joined, parent) = (Joined::Matched, Pid(1));
            let since = std::time::SystemTime::UNIX_EPOCH;
            let member = Member { start: 1, class: 0, joined, since, parent, place: None, placed_for: None, threads };
            let directory = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(directory.path().join(format!("{pid}/task/{pid}"))).unwrap();
            Played { directory, pid, member, process: Process::default(), looks: 0 }
        }

        /// Another look of 10 ms by a clock, when it has run for so long and is in that state.
        fn look(&mut self, clock: Clock, run: u64, state: char) -> Option<Seen> {
            let file = |name: &str| self.directory.path().join(format!("{0}/task/{0}/{name}", self.pid));
            std::fs::write(file("schedstat"), format!("{run} 0 1\n")).unwrap();
            std::fs::write(file("stat"), format!("8 (w) {state}{} 3 0\n", " 0".repeat(35))).unwrap();
            self.looks += 1;
            let procfs = Procfs::new(self.directory.path());
            let (elapsed, number, mut open) = (10_000_000, self.looks, self.process.threads.len());
            let mut look = Look { procfs: &procfs, elapsed, number, most_open: 9, open: &mut open };
            let mut told = Vec::new();
            self.process.look_by(clock, &mut look, (self.pid, &self.member), false, |_, seen| told.push(seen));
            assert!(told.len() <= 1);
            told.pop()
        }
    }

    #[test]
    fn the_clock_is_the_sum_of_the_counters() {
        let (mut process, pid, procfs) = (Process::default(), Pid::current(), Procfs::new("/proc"));
        assert_eq!(process.since(pid), Clock::Unknown, "there is nothing to compare with yet");
        let used = || procfs.thread_schedstat(pid, Tid::current()).unwrap().run;
        let (before, begin) = (used(), Instant::now());
        while used() - before < 20_000_000 {
            assert!(begin.elapsed().as_secs() < 60);
        }
        let Clock::Moved(moved) = process.since(pid) else { panic!("it stood still") };
        assert!(moved >= 20_000_000, "{moved}");
    }

    #[test]
    fn the_clock_of_a_sleeper_stands_still_and_nobody_has_none() {
        let (sleeper, mut process) = (Sleeper::start(), Process::default());
        let begin = Instant::now();
        // It may still be on its way to where it sleeps.
        while process.since(sleeper.pid()) != Clock::Stood {
            assert!(begin.elapsed().as_secs() < 20, "it does not fall asleep");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // No id is above 2^22 (`PID_MAX_LIMIT`).
        let (mut nobody, pid) = (Process::default(), Pid(5_000_000));
        assert_eq!([nobody.since(pid), nobody.since(pid)], [Clock::Unknown; 2]);
    }

    #[test]
    fn nobody_is_asked_whose_clock_stands_still_unless_it_was_at_work() {
        let mut played = Played::new(Pid(100));
        assert_eq!(played.look(Clock::Unknown, 0, 'S'), None, "the first look has nothing to compare with");
        assert_eq!(played.look(Clock::Stood, 5_000_000, 'R'), None);
        let seen = played.look(Clock::Moved(5_000_000), 5_000_000, 'R').unwrap();
        assert_eq!((seen.run, seen.busy), (5_000_000, 5_000_000));
        let seen = played.look(Clock::Stood, 5_000_000, 'R').unwrap();
        assert_eq!((seen.run, seen.busy), (0, 10_000_000), "it waits for a CPU, or has one without ticks");
        assert_eq!(played.look(Clock::Stood, 5_000_000, 'S'), None, "no more");
        assert_eq!(played.look(Clock::Stood, 9_000_000, 'R'), None);
    }

    #[test]
    fn one_that_hardly_works_is_asked_at_its_turn_and_counted_once() {
        let mut played = Played::new(Pid(100));
        assert_eq!(played.look(Clock::Unknown, 0, 'S'), None);
        assert_eq!(played.look(Clock::Moved(2_000_000), 2_000_000, 'S').unwrap().run, 2_000_000);
        // Its turn is at the fourth look and the eighth; the counters have more then than the clock told.
        let little = |look: u64| played.look(Clock::Moved(50_000), 2_000_000 + look * 60_000, 'S').map(|seen| seen.run);
        let runs: Vec<u64> = (1..=6).filter_map(little).collect();
        assert_eq!(
            runs,
            [50_000, 70_000, 50_000, 50_000, 80_000, 60_000],
            "where it is was asked a while ago at the last but one"
        );
    }

    #[test]
    fn one_without_a_clock_is_asked_at_each_look() {
        let mut played = Played::new(Pid(100));
        assert_eq!(played.look(Clock::Unknown, 0, 'S'), None);
        let runs = (1..9).map(|look| played.look(Clock::Unknown, look * 2_000_000, 'S').unwrap().run);
        assert_eq!(runs.collect::<Vec<_>>(), [2_000_000; 8]);
    }
}
