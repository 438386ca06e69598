//! Turns of a victim alone and beside a neighbour, until their median stands.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use cotenant_compiler::{CpuId, CpuSet};
use cotenant_enforcer::error::KernelError;
use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::procfs::{CpuTimesReader, Procfs};
use cotenant_enforcer::sys::affinity;
use nix::time::{ClockId, clock_gettime};

use super::work::Worker;
use super::{Cost, Spot, Work};

/// How hard to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How long one turn takes.
    pub(crate) turn: Duration,
    /// Fewest and most turns that count.
    pub(crate) turns: (usize, usize),
}

/// A spread that is small enough to stop at, as a part of the median.
const STEADY: f64 = 0.02;

/// A part of a turn that may be stolen by the hypervisor.
const STOLEN: f64 = 0.02;

/// Measures one pair. `None` where the hypervisor took the CPUs away in nearly every turn.
///
/// # Errors
/// Where a thread cannot be put on its CPU.
pub(crate) fn measure(
    procfs: &Procfs,
    victim: (CpuId, Work),
    neighbour: (Spot, Work),
    effort: Effort,
) -> Result<Option<Cost>, KernelError> {
    let (quit, go) = (AtomicBool::new(false), AtomicBool::new(false));
    let (begin, end) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let (failed, failure) = mpsc::channel();
        let (quit, go, begin, end) = (&quit, &go, &begin, &end);
        scope.spawn(move || {
            let mut worker = Worker::new(neighbour.1);
            if let Err(error) = on(neighbour.0.cpu) {
                drop(failed.send(error));
            }
            // It sleeps while the victim is alone, and that begins when it does.
            loop {
                begin.wait();
                if quit.load(Ordering::Acquire) {
                    return;
                }
                while go.load(Ordering::Acquire) {
                    worker.portion();
                }
                end.wait();
            }
        });
        let outcome = take_turns(procfs, victim, neighbour, effort, &mut |is_busy| {
            go.store(is_busy, Ordering::Release);
            if is_busy {
                begin.wait()
            } else {
                end.wait()
            };
        });
        quit.store(true, Ordering::Release);
        begin.wait();
        match failure.try_recv() {
            Ok(error) => Err(error),
            Err(_) => outcome,
        }
    })
}

fn take_turns(
    procfs: &Procfs,
    (cpu, victim): (CpuId, Work),
    (spot, neighbour): (Spot, Work),
    effort: Effort,
    set: &mut dyn FnMut(bool),
) -> Result<Option<Cost>, KernelError> {
    let before = affinity::get(Tid::current())?;
    on(cpu)?;
    let mut worker = Worker::new(victim);
    let mut clock = Thieves { procfs, reader: CpuTimesReader::default(), cpus: [cpu, spot.cpu] };
    let (mut slowdowns, mut stolen) = (Vec::new(), 0);
    let (least, most) = effort.turns;
    let outcome = loop {
        let begun = Instant::now();
        let was = clock.stolen()?;
        let alone = rate(&mut worker, effort.turn);
        set(true);
        let beside = rate(&mut worker, effort.turn);
        set(false);
        let lost = (clock.stolen()? - was) / begun.elapsed().as_secs_f64();
        // The first warms caches and clocks up.
        if lost > STOLEN {
            stolen += 1;
        } else if alone > 0.0 && beside > 0.0 {
            slowdowns.push(alone / beside);
        }
        let counted = slowdowns.get(1..).unwrap_or_default();
        if let Some((slowdown, spread)) = summary(counted).filter(|(slowdown, spread)| {
            counted.len() >= most || counted.len() >= least && *spread <= STEADY * slowdown
        }) {
            let turns = counted.len();
            break Some(Cost { distance: spot.distance, victim, neighbour, slowdown, spread, turns, stolen });
        }
        if stolen > most * 2 {
            break None;
        }
    };
    affinity::set(Tid::current(), &before)?;
    Ok(outcome)
}

/// Puts this thread on a CPU.
fn on(cpu: CpuId) -> Result<(), KernelError> {
    affinity::set(Tid::current(), &[cpu].into_iter().collect::<CpuSet>())
}

/// Portions a second of this thread's CPU time, in a turn of that length.
fn rate(worker: &mut Worker, turn: Duration) -> f64 {
    let (end, begun) = (Instant::now() + turn, spent());
    let mut portions = 0_u32;
    while Instant::now() < end {
        worker.portion();
        portions += 1;
    }
    let spent = spent().saturating_sub(begun).as_secs_f64();
    if spent > 0.0 { f64::from(portions) / spent } else { 0.0 }
}

/// CPU time of this thread.
fn spent() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// What a hypervisor takes.
struct Thieves<'a> {
    procfs: &'a Procfs,
    reader: CpuTimesReader,
    cpus: [CpuId; 2],
}

impl Thieves<'_> {
    /// Seconds stolen from the two CPUs since boot.
    fn stolen(&mut self) -> Result<f64, KernelError> {
        let times = self.reader.read(self.procfs)?;
        let ticks: u64 = times.iter().filter(|it| self.cpus.contains(&it.cpu)).map(|it| it.stolen).sum();
        Ok(ticks as f64 / 100.0)
    }
}

/// The median, and half of the range of the middle half.
fn summary(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: usize| sorted.get((sorted.len().saturating_sub(1)) * part / 4).copied();
    Some((at(2)?, (at(3)? - at(1)?) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_not_moved_by_one_turn_that_went_wrong() {
        assert_eq!(
            summary(&[1.0, 1.2, 9.0, 1.1, 1.3]),
            Some((1.2, 0.1 + f64::EPSILON / 2.0)).map(|_| (1.2, (1.3 - 1.1) / 2.0))
        );
        assert_eq!(summary(&[2.0]), Some((2.0, 0.0)));
        assert_eq!(summary(&[]), None);
    }
}
