//! The hands: a thread that waits for the bell and moves one thread after another.
//!
//! A move is two writes of a thread's mask: to the free core, which takes it there at once, and back to what it asked for
//! itself. That is not the effective mask, which is only what its cpuset leaves of it: a thread that got this one back would
//! stay narrowed when the cpuset widens. The program reads both when the thread begins to run, which is free of charge here;
//! where the effective one is another since, what the thread asked for is asked again. Where the mask is not the one that
//! moved it any more, somebody else has set another meanwhile, and that one stays. What the thread makes meanwhile has its
//! mask, and the program says so: [`crate::moves`].

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use cotenant_compiler::{CpuId, CpuSet};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use super::spread::{Asked, Move, Orders, orders};
use super::view::{Shape, known, look};
use crate::aide::Aide;
use crate::error::KernelError;
use crate::ids::Tid;
use crate::journal::moving::MovingFile;
use crate::moves::Moving;
use crate::sys::affinity::Alone;
use crate::sys::sensor::layout::Shared;
use crate::sys::sensor::{Asker, Memory, Ringer};

/// How long a thread that was moved stays. Without it one thread in ten is moved again at once.
const MOMENT: Duration = Duration::from_millis(1);

/// How long the core it was sent to takes no other: until it has surely begun to run there. A core that is still free then is
/// free again.
const ARRIVAL: Duration = Duration::from_micros(200);

/// Looks after one ring, before whoever else has something to do gets a chance.
const LOOKS: usize = 8;

/// What the hands did.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) moves: AtomicU64,
    pub(super) unmade: AtomicU64,
}

/// Everything that the thread has.
pub(super) struct Hands {
    pub(super) memory: Arc<Memory>,
    pub(super) shape: Arc<Shape>,
    pub(super) bell: Ringer,
    pub(super) asker: Asker,
    pub(super) file: MovingFile,
    pub(super) online: CpuSet,
    pub(super) possible: CpuSet,
    pub(super) tally: Arc<Tally>,
    /// How many children of threads being moved had been told of when they were last seen to.
    pub(super) heirs: u32,
}

/// Starts the thread, which has whatever priority a new thread of the caller has. The move that is under way when it is
/// dropped is completed first.
///
/// # Errors
/// As [`Aide::start`].
pub(super) fn start(hands: Hands) -> Result<Aide, KernelError> {
    Aide::start("cotenant-mover", move |end| serve(hands, end))
}

fn serve(mut hands: Hands, end: &EventFd) {
    let mut recent = Vec::new();
    let mut again = false;
    loop {
        let mut fds = [PollFd::new(hands.bell.as_fd(), PollFlags::POLLIN), PollFd::new(end.as_fd(), PollFlags::POLLIN)];
        // Who is stuck is looked at again after a moment, bell or no bell.
        let waited = ppoll(&mut fds, again.then(|| TimeSpec::from_duration(ARRIVAL)), None);
        let [_, ended] = fds.map(|fd| fd.any().unwrap_or(false));
        if ended || waited.is_err_and(|errno| errno != Errno::EINTR) {
            let memory = Arc::clone(&hands.memory);
            return mend_heirs(&mut hands, memory.shared(), &Alone::wait());
        }
        hands.bell.hush();
        again = answer(&mut hands, &mut recent);
    }
}

/// A thread that was moved, where to and when.
struct Moved {
    tid: Tid,
    to: usize,
    at: Instant,
}

/// Acts until nothing is left to do, and makes the bell ready last: what changes before that is seen here, and what changes
/// after it rings. Returns whether anybody is stuck.
fn answer(hands: &mut Hands, recent: &mut Vec<Moved>) -> bool {
    let memory = Arc::clone(&hands.memory);
    let shared = memory.shared();
    for _ in 0..LOOKS {
        mend_heirs(hands, shared, &Alone::wait());
        recent.retain(|moved: &Moved| moved.at.elapsed() < MOMENT);
        let Orders { moves, stuck } = now(shared, &hands.shape, recent);
        for it in &moves {
            let tried = match carry_out(hands, shared, it) {
                Done::Moved => &hands.tally.moves,
                Done::Refused => &hands.tally.unmade,
                Done::TooLate => continue,
            };
            tried.fetch_add(1, Relaxed);
            recent.push(Moved { tid: it.tid, to: it.to, at: Instant::now() });
        }
        stuck.iter().for_each(|core| mute(shared, *core));
        shared.pending.store(0, SeqCst);
        let Orders { moves, stuck } = now(shared, &hands.shape, recent);
        let is_done = moves.is_empty() && hands.heirs == shared.heirs_told.load(SeqCst);
        if is_done || shared.pending.swap(1, SeqCst) == 1 {
            // Nothing to do, or it has rung again, which is answered next.
            return !stuck.is_empty();
        }
    }
    shared.pending.store(0, SeqCst);
    true
}

fn now(shared: &Shared, shape: &Shape, recent: &[Moved]) -> Orders {
    let Some(mut moment) = look(shared, shape) else { return Orders::default() };
    for moved in recent {
        let arrives = moved.at.elapsed() < ARRIVAL;
        moment.free.iter_mut().filter(|core| core.core == moved.to).for_each(|core| core.awaits |= arrives);
        let threads = moment.crowded.iter_mut().flat_map(|core| &mut core.threads);
        threads.filter(|thread| thread.tid == moved.tid).for_each(|thread| thread.settles = true);
    }
    orders(moment)
}

/// The program leaves the core alone from its next switch on, for a millisecond.
fn mute(shared: &Shared, core: usize) {
    if let Some(core) = shared.cores.get(core) {
        core.muted.store(1, SeqCst);
    }
}

/// What came of a move.
enum Done {
    Moved,
    /// The kernel did not take it, or would not have.
    Refused,
    /// The thread sleeps already, or has ended.
    TooLate,
}

fn carry_out(hands: &mut Hands, shared: &Shared, it: &Move) -> Done {
    let Some(known) = known(shared, it.seen) else { return Done::TooLate };
    let mut masks = Alone::wait();
    let Ok(allowed) = masks.get(it.tid) else { return Done::TooLate };
    // Its cpuset may have changed since it began to run.
    let to = it.cpus.intersection(&allowed);
    if to.is_empty() {
        return Done::Refused;
    }
    let asked = known.asked.filter(|_| allowed == known.allowed.intersection(&hands.online));
    let asked = match asked.or_else(|| hands.asker.ask(it.tid)) {
        Some(Asked::Own(own)) => own,
        Some(Asked::Nothing) => hands.possible.clone(),
        // Before Linux 6.2 the effective mask is all there is.
        None => allowed.clone(),
    };
    let since = since_boot();
    let moving = Moving { process: known.process, tid: it.tid, born: known.born, since, asked, to: to.clone() };
    masks.note(moving.clone());
    shared.keep(&moving.asked, &allowed);
    shared.moved.store(it.tid.0.unsigned_abs(), SeqCst);
    shared.moving.store(1, SeqCst);
    hands.file.begin(&moving);
    let moved = masks.set(it.tid, &moving.to);
    if moved.is_ok() && masks.get(it.tid).is_ok_and(|now| now.is_subset(&moving.to)) {
        // That it has ended is no matter any more.
        drop(masks.set(it.tid, &moving.asked));
    }
    shared.moving.store(0, SeqCst);
    hands.file.end();
    match moved {
        Ok(()) => Done::Moved,
        Err(error) if error.is_gone() => Done::TooLate,
        Err(error) => {
            if error.errno() == Errno::EINVAL {
                note_offline(shared, &to);
            }
            Done::Refused
        }
    }
}

/// Gives children that were made in the middle of a move what their makers had asked for.
fn mend_heirs(hands: &mut Hands, shared: &Shared, masks: &Alone) {
    let told = shared.heirs_told.load(SeqCst);
    if std::mem::replace(&mut hands.heirs, told) == told {
        return;
    }
    let tid = |half: u64| Tid(i32::try_from(half).unwrap_or(0));
    for heir in shared.heir.iter().map(|place| place.swap(0, SeqCst)).filter(|heir| *heir != 0) {
        masks.mend_heir(tid(heir >> 32), tid(heir & u64::from(u32::MAX)));
    }
}

/// Nanoseconds by the clock that says when a thread was started.
fn since_boot() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from);
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// After a refusal: CPUs that are offline look idle, because the last that they ran was nothing.
fn note_offline(shared: &Shared, tried: &CpuSet) {
    for cpu in tried.iter().filter(|cpu| !is_online(*cpu)) {
        if let Some(word) = shared.offline.get(cpu.0 as usize / 64) {
            word.fetch_or(1 << (cpu.0 % 64), SeqCst);
        }
    }
}

/// See `Documentation/ABI/testing/sysfs-devices-system-cpu`; a CPU that cannot be switched off has no such file.
fn is_online(cpu: CpuId) -> bool {
    std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/online")).map_or(true, |text| text.trim() == "1")
}
