//! (b) What does a batch that would take every CPU take from a web thread?

use super::emulated::{Guest, setting};
use super::record::Record;
use super::report::{Report, percent};

/// CPUs of the guest, and those of the core that web works on.
const CPUS: f64 = 8.0;
const OF_WEB: f64 = 2.0;

pub(crate) fn measure() {
    let seconds: f64 = setting("SECONDS_EACH", "4").parse().unwrap();
    let script =
        |hows: &str| format!("HOWS='{hows}' SECONDS_EACH='{}'\n{}", seconds as u64, include_str!("guest/batch.sh"));
    let mut rows = Vec::new();
    let guests = [
        (Guest::stock(), setting("HOWS", "stock SCHED_IDLE tick sensor")),
        (Guest::with_core_scheduling(), setting("COOKIE_HOWS", "stock cookie")),
    ];
    for (guest, hows) in &guests {
        let run = guest.boot(&script(hows));
        for line in run.all("batch") {
            let run = Record::of(line);
            let [web, beside, batch, length] = ["ran", "beside", "other", "length"].map(|key| run.number(key));
            let spins = run.text("rest") == "0";
            rows.push(vec![
                guest.name.to_owned(),
                run.text("how").to_owned(),
                format!("{} × {}", run.text("n"), if spins { "spinning" } else { "at half load" }),
                percent(web - beside, web),
                format!("{} ({}, {})", run.text("meetings"), run.text("median"), run.text("most")),
                percent(web, length * run.number("n")),
                percent(batch, length * CPUS),
                if spins { percent(batch, length * (CPUS - OF_WEB)) } else { "-".to_owned() },
                percent(run.number("daemon"), length),
            ]);
        }
    }
    Report {
        name: "batch",
        title: "What a batch on every CPU takes from a web thread",
        method: format!(
            "A fair web program (threads that spin, or that do requests of as much work as an idle machine's CPU does in \
             2.5 to 7.5 ms and rest as long) beside 8 spinning threads of a batch, on 4 cores of 2 threads, for {} s each. \
             From `sched_switch`: of the time web ran, the share in which no batch thread ran on its sibling; how often and \
             how long the two met; what web had of a CPU a thread; what batch had of all CPUs, and beside a spinning thread \
             of the CPUs of the other three cores, which are its to use.\n\n{}",
            seconds,
            guests[0].0.described()
        ),
        columns: [
            "kernel",
            "kept by",
            "web",
            "web alone on its core, %",
            "meetings (median, ninth decile, µs)",
            "web, % of a CPU a thread",
            "batch, % of all CPUs",
            "batch, % of idle cores",
            "daemon, %",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows,
        plot: None,
    }
    .write();
}
