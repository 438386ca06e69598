//! What the shell cannot see: traces and cookies.

use std::collections::BTreeSet;
use std::process::ExitCode;

use cotenant_enforcer::ids::Pid;
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::sys::core_sched::{self, Cookie};

use super::trace::Trace;

/// Says of a trace on standard input how long it is, and how many seconds of it threads of the first class ran (`ran`), a
/// thread of the second on the sibling (`beside`), threads of the second (`other`) and the daemon; and of the times that the
/// two met on a core how many there were and the median and ninth decile of their length in microseconds. `alone` is what the
/// daemon's time would be without others that take turns with it.
pub(crate) fn beside([class, other]: [&str; 2]) -> ExitCode {
    let trace = read();
    let (ran, beside, other_ran) = (trace.ran(class), trace.shared(class, other), trace.ran(other));
    let meetings = trace.meetings(class, other);
    let at = |tenths: usize| 1e6 * meetings.get(meetings.len() * tenths / 10).copied().unwrap_or(0.0);
    println!(
        "ran={ran:.6} beside={beside:.6} other={other_ran:.6} meetings={} median={:.0} most={:.0} {}",
        meetings.len(),
        at(5),
        at(9),
        all(&trace)
    );
    ExitCode::SUCCESS
}

/// Says of a trace on standard input how many seconds threads of `class` ran, and for how many of them beside another such
/// thread on one core, while a whole core stood idle (`crowded`).
pub(crate) fn shared(class: &str) -> ExitCode {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let trace = read();
    println!("ran={:.6} crowded={:.6} {}", trace.ran(class), trace.crowded(class, cpus), all(&trace));
    ExitCode::SUCCESS
}

fn read() -> Trace {
    Trace::of_tracefs(&std::io::read_to_string(std::io::stdin()).unwrap())
}

fn all(trace: &Trace) -> String {
    let [daemon, alone, length] = [trace.daemon(), trace.daemon_alone(), trace.length()];
    format!("daemon={daemon:.6} alone={alone:.6} turns={} length={length:.6}", trace.turns_of_daemon())
}

/// How many threads these processes have and which cookies the kernel shows of them; of `all`, how many threads of the host
/// have one.
pub(crate) fn cookies(of: &[String]) -> ExitCode {
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
