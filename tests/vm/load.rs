//! A load for the emulated machine, which has no compiler: `spin N`, `sleep N` or `burst N RUN_MS REST_MS`, N threads each.
//!
//! It is an example of the package so that it is built and checked with everything else. The guest runs it under the names
//! of the classes, which the kernel then has as the names of its threads too.

use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let work: fn(Duration, Duration) = match arguments.first().map(String::as_str) {
        Some("spin") => |_, _| spin(Duration::MAX),
        Some("sleep") => |_, _| std::thread::sleep(Duration::MAX),
        Some("burst") => |run, rest| loop {
            spin(run);
            std::thread::sleep(rest);
        },
        _ => {
            eprintln!("usage: load spin|sleep N, or load burst N RUN_MS REST_MS");
            return ExitCode::from(2);
        }
    };
    let [run, rest] = [2, 3].map(|at| Duration::from_millis(number(at).unwrap_or(5)));
    // The first thread works as well, so that N threads are N.
    for _ in 1..number(1).unwrap_or(1) {
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
