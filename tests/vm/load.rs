//! A load for the emulated machine, which has no compiler, N threads each: `spin N`, `sleep N`, `burst N RUN_MS REST_MS`;
//! `late N`, a spinning thread every 100 ms; `own N`, N that spin with a cookie that the program itself made. Two say at the
//! end what was done: `work N TURNS REST_PERCENT SECONDS [traced]`, which can switch tracing, and `walk N MB SECONDS`. `speed`
//! says how many TURNS are a millisecond.
//!
//! And eyes that the shell has not: `shared CLASS` and `beside CLASS OTHER` read a trace and say how CLASS shared cores;
//! `cookies PID…` and `cookies all` show cookies.
//!
//! It is an example of the package so that it is built and checked with everything else. The guest runs it under the names
//! of the classes, which the kernel then has as the names of its threads too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a tool of tests")]

#[path = "load/eyes.rs"]
mod eyes;
#[path = "trace.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod trace;
#[path = "load/work.rs"]
mod work;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use cotenant_enforcer::ids::Tid;
use cotenant_enforcer::sys::core_sched;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let [run, rest] = [2, 3].map(|at| Duration::from_millis(number(at).unwrap_or(5)));
    let mode = arguments.first().map_or("", String::as_str);
    let work: Box<dyn Fn(u64) + Send + Sync> = match mode {
        "spin" | "late" => Box::new(|_| spin(Duration::MAX)),
        "own" => {
            core_sched::create(Tid(0)).expect("the kernel has core scheduling");
            Box::new(|_| spin(Duration::MAX))
        }
        "sleep" => Box::new(|_| std::thread::sleep(Duration::MAX)),
        "burst" => Box::new(move |_| {
            loop {
                spin(run);
                std::thread::sleep(rest);
            }
        }),
        "work" => {
            let [turns, rest, seconds] = [2, 3, 4].map(|at| number(at).unwrap_or(1));
            let traces = arguments.get(5).is_some_and(|word| word == "traced");
            Box::new(move |seed| work::requests(seed, turns, rest, Duration::from_secs(seconds), traces))
        }
        "walk" => {
            let [megabytes, seconds] = [2, 3].map(|at| number(at).unwrap_or(1));
            Box::new(move |seed| work::walk(seed, megabytes as usize, Duration::from_secs(seconds)))
        }
        "speed" => {
            println!("{}", work::speed());
            return ExitCode::SUCCESS;
        }
        "beside" => return eyes::beside([1, 2].map(|at| arguments.get(at).map_or("", String::as_str))),
        "shared" => return eyes::shared(arguments.get(1).map_or("", String::as_str)),
        "cookies" => return eyes::cookies(&arguments[1..]),
        _ => {
            eprintln!("no such load: `{mode}`; see tests/vm/load.rs");
            return ExitCode::from(2);
        }
    };
    // The first thread works as well, so that N threads are N.
    std::thread::scope(|threads| {
        for seed in 1..number(1).unwrap_or(1) {
            if mode == "late" {
                std::thread::sleep(Duration::from_millis(100));
            }
            let work = &work;
            threads.spawn(move || work(seed));
        }
        work(0);
    });
    match mode {
        "work" => println!("{}", work::counts()),
        _ => println!("{}", work::done()),
    }
    ExitCode::SUCCESS
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
