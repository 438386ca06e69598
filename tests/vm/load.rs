//! A load for the emulated machine, which has no compiler: `spin N`, `sleep N` or `burst N RUN_MS REST_MS`, N threads each;
//! `late N`, a spinning thread every 100 ms; `own N`, N that spin with a cookie that the program itself made. And an
//! eye that shows what the shell cannot see: `cookies PID…`, how many threads these processes have and which cookies the
//! kernel shows of them, or `cookies all`, how many threads of the host have one.
//!
//! It is an example of the package so that it is built and checked with everything else. The guest runs it under the names
//! of the classes, which the kernel then has as the names of its threads too.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a tool of tests")]

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cotenant_enforcer::ids::{Pid, Tid};
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::sys::core_sched::{self, Cookie};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    if arguments.first().map(String::as_str) == Some("cookies") {
        return cookies(&arguments[1..]);
    }
    let work: fn(Duration, Duration) = match arguments.first().map(String::as_str) {
        Some("spin") => |_, _| spin(Duration::MAX),
        Some("late") => |_, _| spin(Duration::MAX),
        Some("own") => {
            core_sched::create(Tid(0)).expect("the kernel has core scheduling");
            |_, _| spin(Duration::MAX)
        }
        Some("sleep") => |_, _| std::thread::sleep(Duration::MAX),
        Some("burst") => |run, rest| loop {
            spin(run);
            std::thread::sleep(rest);
        },
        _ => {
            eprintln!("usage: load spin|sleep|late|own N, load burst N RUN_MS REST_MS, or load cookies PID…|all");
            return ExitCode::from(2);
        }
    };
    let [run, rest] = [2, 3].map(|at| Duration::from_millis(number(at).unwrap_or(5)));
    // The first thread works as well, so that N threads are N.
    for _ in 1..number(1).unwrap_or(1) {
        if arguments.first().is_some_and(|mode| mode == "late") {
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::spawn(move || work(run, rest));
    }
    work(run, rest);
    ExitCode::SUCCESS
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn cookies(of: &[String]) -> ExitCode {
    let procfs = Procfs::new("/proc");
    let all = of.iter().any(|word| word == "all");
    let pids: Vec<Pid> = match all {
        true => procfs.processes().expect("there is a /proc"),
        false => of.iter().filter_map(|word| word.parse().ok()).map(Pid).collect(),
    };
    let threads = pids.iter().flat_map(|pid| procfs.threads(*pid).unwrap_or_default());
    let shown: Vec<Cookie> = threads.filter_map(|tid| core_sched::get(tid).ok()).collect();
    if all {
        println!("{}", shown.iter().filter(|cookie| **cookie != Cookie::NONE).count());
    } else {
        let distinct: BTreeSet<String> = shown.iter().map(Cookie::to_string).collect();
        println!("{} {}", shown.len(), distinct.into_iter().collect::<Vec<_>>().join(" "));
    }
    ExitCode::SUCCESS
}
