//! Work whose amount is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// What is done before this is not counted: threads start, and are placed.
const WARM_UP: Duration = Duration::from_millis(500);

static DONE: AtomicU64 = AtomicU64::new(0);

/// How often it was done, by all threads together.
pub(crate) fn done() -> u64 {
    DONE.load(Ordering::Relaxed)
}

/// Requests of a server: half to one and a half times `run` of CPU time each, then as much of `rest`.
pub(crate) fn requests(seed: u64, run: Duration, rest: Duration, time: Duration) {
    let begin = Instant::now() + WARM_UP;
    // Threads in step would all rest at once.
    let mut random = xorshift(seed);
    let mut about = |time: Duration| time.mul_f64(0.5 + (random() >> 11) as f64 / (1_u64 << 53) as f64);
    while Instant::now() < begin + time {
        // A request takes CPU time, however long it has to wait for it.
        let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let enough = used() + about(run);
        while used() < enough {
            // No pause between: an emulator takes it for a reason to let another CPU have its turn, each time.
            (0..500_u32).for_each(|turn| {
                std::hint::black_box(turn);
            });
        }
        if Instant::now() > begin {
            DONE.fetch_add(1, Ordering::Relaxed);
        }
        std::thread::sleep(about(rest));
    }
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
