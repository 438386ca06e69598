//! A load for the emulated machine, which has no compiler, and what is measured of it: N threads each of
//! `spin N`, `sleep N`, `burst N RUN_MS REST_MS` and `work N RUN_MS REST_MS SECONDS`, which says how often it was done; and
//! `shared CLASS`, which reads a trace and says how CLASS shared cores.
//!
//! It is an example of the package so that it is built and checked with everything else. The guest runs it under the names
//! of the classes, which the kernel then has as the names of its threads too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

#[path = "trace.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod trace;

/// What is done before this is not counted: threads start, and are placed.
const WARM_UP: Duration = Duration::from_millis(500);

static DONE: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let [run, rest] = [2, 3].map(|at| Duration::from_millis(number(at).unwrap_or(5)));
    let end = Instant::now() + number(4).map_or(Duration::ZERO, Duration::from_secs) + WARM_UP;
    let work: Box<dyn Fn(u64) + Send + Sync> = match arguments.first().map(String::as_str) {
        Some("spin") => Box::new(|_| spin(Duration::MAX)),
        Some("sleep") => Box::new(|_| std::thread::sleep(Duration::MAX)),
        Some("burst") => Box::new(move |_| {
            loop {
                spin(run);
                std::thread::sleep(rest);
            }
        }),
        Some("work") => Box::new(move |seed| requests(seed, run, rest, end)),
        Some("shared") => return shared(arguments.get(1).map_or("", String::as_str)),
        _ => {
            eprintln!("usage: load spin|sleep N; burst N RUN_MS REST_MS; work N RUN_MS REST_MS SECONDS; shared CLASS");
            return ExitCode::from(2);
        }
    };
    // The first thread works as well, so that N threads are N.
    std::thread::scope(|threads| {
        for seed in 1..number(1).unwrap_or(1) {
            let work = &work;
            threads.spawn(move || work(seed));
        }
        work(0);
    });
    println!("{}", DONE.load(Ordering::Relaxed));
    ExitCode::SUCCESS
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Requests of a server: half to one and a half times `run` of CPU time each, then as much of `rest`, until `end`.
fn requests(seed: u64, run: Duration, rest: Duration, end: Instant) {
    let begin = Instant::now() + WARM_UP;
    let mut random = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed + 1);
    let mut about = |time: Duration| {
        // Marsaglia's xorshift: threads in step would all rest at once.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        time.mul_f64(0.5 + (random >> 11) as f64 / (1_u64 << 53) as f64)
    };
    while Instant::now() < end {
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

/// Says of a trace on standard input how many seconds threads of `class` ran, and for how many of them beside another such
/// thread on one core, while a whole core stood idle.
fn shared(class: &str) -> ExitCode {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let trace = trace::Trace::of_tracefs(&text);
    println!("{:.6} {:.6}", trace.ran(class), trace.crowded(class, cpus));
    ExitCode::SUCCESS
}
