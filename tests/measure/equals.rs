//! (c) Are equals moved, and what does it cost?

use super::emulated::{Guest, setting};
use super::record::Record;
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
        let run = Record::of(line);
        if run.text("how") == "stock" {
            stock = run.number("requests");
        }
        rows.push(vec![
            run.text("n").to_owned(),
            run.text("how").to_owned(),
            run.text("moved").to_owned(),
            run.text("woken").to_owned(),
            format!("{:.1}", 1000.0 * run.number("moved") / run.number("woken")),
            format!("{:.3}", run.number("requests") / stock),
        ]);
    }
    Report {
        name: "equals",
        title: "Migrations of round-robin workers of one priority",
        method: format!(
            "`n` workers under `SCHED_RR`, priority 1, of requests, each as much work as an idle machine's CPU does in 1 to \
             3 ms, and rests of a quarter of the time it took, on 8 CPUs, for {seconds} s each: started with chrt(1) (stock), \
             under `push equal prio` and under `hold equal prio`. Migrations and wake-ups are the kernel's counts \
             (`se.nr_migrations` of `/proc/PID/sched`, `voluntary_ctxt_switches`) over all threads, after half a second to \
             settle.\n\n{}",
            guest.described()
        ),
        columns: ["n", "equals are", "migrations", "wake-ups", "migrations per 1,000 wake-ups", "requests, of stock"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        plot: None,
    }
    .write();
}
