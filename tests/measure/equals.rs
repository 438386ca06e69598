//! (c) Are equals moved, and what does it cost?

use super::emulated::{Guest, setting};
use super::report::Report;

pub(crate) fn measure() {
    let seconds = setting("SECONDS_EACH", "6");
    let script = format!(
        "WORKERS='{}' SECONDS_EACH='{seconds}'\n{}",
        setting("WORKERS", "6 8 12 16"),
        include_str!("guest/equals.sh")
    );
    let guest = Guest::stock();
    let run = guest.boot(&script);
    let mut rows = Vec::new();
    let mut stock = f64::NAN;
    for line in run.all("equals") {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap();
        if words[1] == "stock" {
            stock = number(4);
        }
        rows.push(vec![
            words[0].to_owned(),
            words[1].to_owned(),
            words[2].to_owned(),
            words[3].to_owned(),
            format!("{:.1}", 1000.0 * number(2) / number(3)),
            format!("{:.3}", number(4) / stock),
        ]);
    }
    Report {
        name: "equals",
        title: "Migrations of round-robin workers of one priority",
        method: format!(
            "`n` workers under `SCHED_RR`, priority 1, of requests of 2.5 to 7.5 ms of CPU time and rests of 0.5 to 1.5 ms, \
             on 8 CPUs, for {seconds} s each: started with chrt(1) (stock), under `push equal prio` and under `hold equal \
             prio`. Migrations and wake-ups are the kernel's counts (`se.nr_migrations` of `/proc/PID/sched`, \
             `voluntary_ctxt_switches`) over all threads, after half a second to settle.\n\n{}",
            guest.described()
        ),
        columns: ["n", "equals are", "migrations", "wake-ups", "migrations per 1,000 wake-ups", "requests, of stock"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        plot: None,
        findings: String::new(),
    }
    .write();
}
