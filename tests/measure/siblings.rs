//! (a) Do workers share a core while another stands idle?

use std::collections::BTreeMap;

use super::emulated::{Guest, setting};
use super::record::Record;
use super::report::{Plot, Report, percent};

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
    let mut runs: Vec<Record> = run.all("siblings").iter().map(|line| Record::of(line)).collect();
    let key = |run: &Record| ["class", "n", "how"].map(|key| run.text(key).to_owned());
    runs.sort_by_key(key);
    let mut rows = Vec::new();
    let mut lines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for run in &runs {
        let [class, n, how] = key(run);
        let stock =
            runs.iter().find(|it| key(it) == [&class, &n, "stock"]).map_or(f64::NAN, |it| it.number("requests"));
        let share = 100.0 * run.number("crowded") / run.number("ran");
        lines.entry(format!("{class}, {how}")).or_default().push((n.parse().unwrap(), share));
        rows.push(vec![
            class,
            n,
            how,
            format!("{share:.2}"),
            format!("{:.3}", run.number("requests") / stock),
            percent(run.number("daemon"), run.number("length")),
            percent(run.number("program") / 1e9, seconds + 0.5),
        ]);
    }
    Report {
        name: "siblings",
        title: "Share of run time on a shared core while a core stood idle",
        method: format!(
            "`n` workers of requests, each as much work as an idle machine's CPU does in 2.5 to 7.5 ms, with rests of an eighth \
             to three eighths of the time it took between them, on 4 cores of 2 threads, for {seconds} s each: without a policy (stock), and under `prefer idle core`, kept by the tick loop and \
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
    }
    .write();
}
