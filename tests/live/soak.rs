//! Everything at once for a long time: thousands of short processes a second, threads, reloads, kills. `make soak` runs it;
//! `DURATION` says for how many seconds.
//!
//! At the end every survivor must be as the policy wants it, and as it was when all is put back; a daemon that has warmed up must
//! take no more memory or descriptors. Rates are printed and not asserted.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::cast::{Cast, Wording};
use super::stage::{online, stage, until};

const DURATION: u64 = 600;

/// Another policy every so often.
const RELOAD: Duration = Duration::from_secs(5);

/// What a daemon has at a moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Resident and allocated memory, KiB: `VmRSS` and `VmData` of proc_pid_status(5).
    resident: u64,
    data: u64,
    files: usize,
    /// Clock ticks on a CPU, all threads.
    ticks: u64,
    at: Instant,
}

impl Sample {
    fn of(daemon: u32) -> Sample {
        let status = fs::read_to_string(format!("/proc/{daemon}/status")).unwrap();
        let kib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        let stat = fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        let field = |number: usize| fields[number - 3].parse::<u64>().unwrap();
        Sample {
            resident: kib("VmRSS:"),
            data: kib("VmData:"),
            files: fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count(),
            ticks: field(14) + field(15),
            at: Instant::now(),
        }
    }
}

/// Processes and threads that were ever made on this host: proc_stat(5).
fn made() -> u64 {
    let stat = fs::read_to_string("/proc/stat").unwrap();
    stat.lines().find_map(|line| line.strip_prefix("processes ")).unwrap().parse().unwrap()
}

/// Shells of a class that make short processes as fast as they can: three that are forks of them to one that runs a program of
/// no class. One a CPU.
fn storm(cast: &mut Cast) -> Vec<u32> {
    let (shell, tiny) = (cast.stage.program("storm", "/bin/sh"), cast.stage.program("tiny", "/bin/true"));
    let script = format!("while :; do (:); (:); (:); {}; done", tiny.display());
    online().iter().map(|_| cast.stage.run(Command::new(&shell).args(["-c", &script]))).collect()
}

/// For so long, with another policy now and then; `wording` is what is in force afterwards.
fn weather(cast: &Cast, wording: &mut Wording, lasts: Duration) {
    let end = Instant::now() + lasts;
    while Instant::now() < end {
        std::thread::sleep(RELOAD.min(lasts));
        *wording = wording.next();
        cast.policy(*wording);
    }
}

#[test]
#[ignore = "ten minutes of churn: make soak"]
fn whatever_comes_and_goes_survivors_conform_and_nothing_grows() {
    let Some(stage) = stage() else { return };
    let Some(mut cast) = Cast::new(stage) else { return };
    let seconds = std::env::var("DURATION").map_or(DURATION, |seconds| seconds.parse().unwrap());
    let (whole, begun) = (Duration::from_secs(seconds), Instant::now());
    let mut wording = Wording::One;
    cast.begin();
    let shells = storm(&mut cast);
    let start = |cast: &mut Cast, wording| {
        let policy = cast.policy(wording);
        cast.stage.daemon(&policy, &["--topology", "pack:1 core:1 pu:2"])
    };
    let made_before = made();
    // In the first part daemons are killed, the last of them lives on.
    let mut daemon = start(&mut cast, wording);
    let mut kills = 0;
    while begun.elapsed() < whole / 4 {
        weather(&cast, &mut wording, whole / 20);
        cast.stage.signal(daemon, Signal::SIGKILL);
        cast.stage.end(daemon);
        kills += 1;
        daemon = start(&mut cast, wording);
    }
    weather(&cast, &mut wording, whole / 4);
    let warm = Sample::of(daemon);
    weather(&cast, &mut wording, whole.saturating_sub(begun.elapsed()));
    let end = Sample::of(daemon);
    let rate = (made() - made_before) as f64 / begun.elapsed().as_secs_f64();
    for shell in shells {
        cast.stage.signal(shell, Signal::SIGKILL);
        cast.stage.end(shell);
    }
    cast.settle(Some(wording));
    let status = cast.stage.status();
    let count = |key: &str| status["daemon"][key].as_u64().unwrap();
    let cpu = (end.ticks - warm.ticks) as f64 / 100.0 / (end.at - warm.at).as_secs_f64();
    println!("seconds                {seconds}, {} CPUs, kills {kills}", online().len());
    println!("processes and threads  {rate:.0} a second");
    println!("events                 {}, {} placed, {} put back", count("events"), count("placed"), count("released"));
    println!("losses                 {}", count("lost"));
    println!("misses                 0 of {} threads", cast.found().len());
    println!("the daemon's CPU       {:.1} % of one", cpu * 100.0);
    println!("VmRSS                  {} KiB warm, {} KiB at the end", warm.resident, end.resident);
    println!("VmData                 {} KiB warm, {} KiB at the end", warm.data, end.data);
    println!("descriptors            {} warm, {} at the end", warm.files, end.files);
    assert_eq!(status["failures"].as_array().unwrap().len(), 0, "{status:#}");
    assert!(end.resident < warm.resident + warm.resident / 4 && end.data < warm.data + warm.data / 4);
    // Those of the load's counters come and go with the threads.
    assert!(end.files < warm.files + 64);
    let released = cast.stage.ask(&["release"]);
    assert_eq!(released.status.code(), Some(0), "{released:?}");
    assert_eq!(cast.stage.end(daemon), Some(0));
    cast.assert_untouched();
    assert!(!Path::new(&cast.stage.path("run/control.sock")).exists());
    until("an empty journal", || cast.stage.ask(&["release"]).status.code() == Some(0));
    let journal = fs::read_to_string(cast.stage.path("run/journal")).unwrap();
    assert_eq!(journal.lines().count(), 1, "{journal}");
}
