//! What does the tick loop itself cost?

use super::emulated::{Guest, setting};
use super::record::Record;
use super::report::{Report, percent};

/// In seconds, as the policy is enforced with.
const TICK: f64 = 0.01;

pub(crate) fn measure() {
    let seconds = setting("SECONDS_EACH", "4");
    let script = format!("SECONDS_EACH='{seconds}'\n{}", include_str!("guest/loop.sh"));
    let guest = Guest::stock();
    let run = guest.boot(&script);
    let mut rows = Vec::new();
    for line in run.all("loop") {
        let run = Record::of(line);
        let load = match run.text("load") {
            "asleep" => "one works a little, the others sleep",
            "little" => "each works a little",
            _ => "all CPUs busy",
        };
        let [daemon, alone, length] = ["daemon", "alone", "length"].map(|key| run.number(key));
        rows.push(vec![
            load.to_owned(),
            run.text("ticks").to_owned(),
            percent(daemon, length),
            format!("{:.0}", 1e6 * alone / (length / TICK)),
            percent(alone, length),
        ]);
    }
    Report {
        name: "loop",
        title: "What the tick loop costs",
        method: format!(
            "Twenty classes under `prefer idle core`, a thread each, and a batch of one thread under `only when core idle`, kept \
             by the tick loop every 10 ms on 4 cores of 2 threads, for {seconds} s: with one thread that does requests of a \
             millisecond and rests nineteen times as long while all others sleep; with all of them doing that beside a batch \
             that spins; and with eight of them resting a quarter only. The daemon's time on a CPU is of `sched_switch`; its \
             ticks are those of the whole run, half a second longer. Instructions are of that time, each moment divided by \
             how many CPUs were busy in it, since these take turns: what a tick takes whatever else is busy, the kernel's part \
             included, and in the last column the share of a CPU that executes one a nanosecond and waits for \
             nobody.\n\n{}",
            guest.described()
        ),
        columns: [
            "load",
            "ticks",
            "daemon, % of a CPU there",
            "thousand instructions a tick",
            "daemon, % of a CPU of its own",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows,
        plot: None,
    }
    .write();
}
