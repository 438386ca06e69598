//! Work whose amount is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is done before this is not counted: threads start, and are placed.
const WARM_UP: Duration = Duration::from_millis(500);

static DONE: AtomicU64 = AtomicU64::new(0);
static MOVED: AtomicU64 = AtomicU64::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);

/// How often it was done, by all threads together.
pub(crate) fn done() -> u64 {
    DONE.load(Ordering::Relaxed)
}

/// Requests done, and how often the threads changed CPU and woke meanwhile.
pub(crate) fn counts() -> String {
    let [moved, woken] = [&MOVED, &WOKEN].map(|counter| counter.load(Ordering::Relaxed));
    format!("requests={} moved={moved} woken={woken}", done())
}

/// Requests of a server: half to one and a half times so many turns of a loop each, then rests of `rest` per cent of the time
/// that took, more or less by as much. Work and not time, because an emulated CPU has the less of it the more of them are
/// busy, and the kernel and the daemon have less of it too. Where it `traces`, tracing is on exactly while requests are counted.
pub(crate) fn requests(seed: u64, turns: u64, rest: u64, time: Duration, traces: bool) {
    let begin = Instant::now() + WARM_UP;
    // Threads in step would all rest at once.
    let mut random = xorshift(seed);
    let mut about = || 0.5 + (random() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut before = None;
    while Instant::now() < begin + time {
        let since = Instant::now();
        turn((turns as f64 * about()) as u64);
        if before.is_some() {
            DONE.fetch_add(1, Ordering::Relaxed);
        }
        std::thread::sleep(since.elapsed().mul_f64(rest as f64 / 100.0 * about()));
        if before.is_none() && Instant::now() > begin {
            before = Some(history());
            if traces {
                trace(seed, "1");
            }
        }
    }
    if traces {
        trace(seed, "0");
    }
    let ([moved_before, woken_before], [moved, woken]) = (before.unwrap_or_default(), history());
    MOVED.fetch_add(moved - moved_before, Ordering::Relaxed);
    WOKEN.fetch_add(woken - woken_before, Ordering::Relaxed);
}

/// No pause between: an emulator takes it for a reason to let another CPU have its turn, each time.
fn turn(times: u64) {
    (0..times).for_each(|turn| {
        std::hint::black_box(turn);
    });
}

/// How many turns a CPU of this machine does in a millisecond while the others are idle.
pub(crate) fn speed() -> u64 {
    const TURNS: u64 = 200_000;
    let took = (0..5).map(|_| {
        let since = Instant::now();
        turn(TURNS);
        since.elapsed()
    });
    (TURNS as f64 / took.min().unwrap_or_default().as_secs_f64() / 1000.0) as u64
}

/// One of the threads does it for all.
fn trace(seed: u64, on: &str) {
    if seed == 0 {
        std::fs::write("/sys/kernel/tracing/tracing_on", on).unwrap();
    }
}

/// How often this thread changed CPU and went to sleep so far, by the kernel's count.
fn history() -> [u64; 2] {
    let sched = std::fs::read_to_string("/proc/thread-self/sched").unwrap_or_default();
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let number = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
    };
    [number(&sched, "se.nr_migrations"), number(&status, "voluntary_ctxt_switches")]
}

/// Steps through a buffer of so many megabytes from pointer to pointer in random order, one a cache line.
pub(crate) fn walk(seed: u64, megabytes: usize, time: Duration) {
    const LINE: usize = 64 / size_of::<usize>();
    let lines = (megabytes << 20) / 64;
    // Sattolo's algorithm: one cycle through all of them.
    let mut order: Vec<usize> = (0..lines).collect();
    let mut random = xorshift(seed);
    for at in (1..lines).rev() {
        order.swap(at, (random() % at as u64) as usize);
    }
    let mut buffer = vec![0_usize; lines * LINE];
    for (at, next) in order.into_iter().enumerate() {
        buffer[at * LINE] = next * LINE;
    }
    let (mut at, mut steps) = (0, 0);
    let begin = Instant::now() + WARM_UP;
    while Instant::now() < begin + time {
        for _ in 0..10_000 {
            at = buffer[at];
        }
        if Instant::now() > begin {
            steps += 10_000;
        }
    }
    std::hint::black_box(at);
    DONE.fetch_add(steps, Ordering::Relaxed);
}

/// Marsaglia's generator.
fn xorshift(seed: u64) -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed + 1);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
