//! What the shell cannot see: traces and cookies.

use std::collections::BTreeSet;
use std::process::ExitCode;

use cotenant_enforcer::ids::Pid;
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::sys::core_sched::{self, Cookie};

use super::trace::Trace;

/// Says of a trace on standard input how many seconds threads of the first class ran, for how many of them a thread of the
/// second ran on the sibling, and how many seconds threads of the second ran.
pub(crate) fn beside([class, other]: [&str; 2]) -> ExitCode {
    let trace = Trace::of_tracefs(&std::io::read_to_string(std::io::stdin()).unwrap());
    println!("{:.6} {:.6} {:.6}", trace.ran(class), trace.shared(class, other), trace.ran(other));
    ExitCode::SUCCESS
}

/// Says of a trace on standard input how many seconds threads of `class` ran, and for how many of them beside another such
/// thread on one core, while a whole core stood idle.
pub(crate) fn shared(class: &str) -> ExitCode {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let trace = Trace::of_tracefs(&text);
    println!("{:.6} {:.6}", trace.ran(class), trace.crowded(class, cpus));
    ExitCode::SUCCESS
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
