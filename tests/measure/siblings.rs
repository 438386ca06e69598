//! (a) Do workers share a core while another stands idle?

use std::collections::BTreeMap;

use super::emulated::{Guest, setting};
use super::report::{Plot, Report, percent};

/// What one run came to.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    ran: f64,
    crowded: f64,
    requests: f64,
    /// CPU time of the daemon in seconds.
    daemon: f64,
    /// Of the program in the kernel.
    program: f64,
}

pub(crate) fn measure() {
    let seconds: f64 = setting("SECONDS_EACH", "4").parse().unwrap();
    let script = format!(
        "WORKERS='{}' SECONDS_EACH='{seconds}' HOWS='{}' CLASSES='{}'\n{}",
        setting("WORKERS", "1 2 3 4 5 6 7 8"),
        setting("HOWS", "stock tick sensor"),
        setting("CLASSES", "fair rr"),
        include_str!("guest/siblings.sh")
    );
    let guest = Guest::stock();
    let run = guest.boot(&script);
    let mut samples: BTreeMap<(String, u32, String), Sample> = BTreeMap::new();
    for line in run.all("siblings") {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let [ran, crowded, requests] = [3, 4, 5].map(number);
        let [daemon, program] = [6, 7].map(|at| number(at) / 1e9);
        let key = (words[0].to_owned(), words[1].parse().unwrap(), words[2].to_owned());
        samples.insert(key, Sample { ran, crowded, requests, daemon, program });
    }
    let mut rows = Vec::new();
    let mut lines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for ((class, n, how), sample) in &samples {
        let stock = samples.get(&(class.clone(), *n, "stock".to_owned())).copied().unwrap_or_default();
        let share = 100.0 * sample.crowded / sample.ran;
        lines.entry(format!("{class}, {how}")).or_default().push((f64::from(*n), share));
        rows.push(vec![
            class.clone(),
            n.to_string(),
            how.clone(),
            format!("{share:.2}"),
            format!("{:.3}", sample.requests / stock.requests),
            percent(sample.daemon, seconds),
            percent(sample.program, seconds),
        ]);
    }
    Report {
        name: "siblings",
        title: "Share of run time on a shared core while a core stood idle",
        method: format!(
            "`n` workers of requests of 2.5 to 7.5 ms of CPU time with rests of 0.5 to 1.5 ms between them, on 4 cores of 2 \
             threads, for {seconds} s each: without a policy (stock), and under `prefer idle core`, kept by the tick loop and \
             by the sensor. From the kernel's `sched_switch` events: of the time the workers ran, the share in which two of \
             them ran on one core while both threads of another core were idle. Requests are held against those of the stock \
             kernel in the same run; the emulation knows no contention between siblings, so no gain can show there. The \
             daemon and its program in the kernel in per cent of one emulated CPU.\n\n{}",
            guest.described()
        ),
        columns: ["class", "n", "kept by", "shared while a core is idle, %", "requests, of stock", "daemon, %", "program, %"]
            .map(str::to_owned)
            .to_vec(),
        rows,
        plot: Some(Plot { x: "workers", y: "% of their run time", lines: lines.into_iter().collect() }),
        findings: String::new(),
    }
    .write();
}
