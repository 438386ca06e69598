//! (d) What does each preference cost or gain a program that sleeps and wakes all the time?

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use super::emulated::{Guest, setting};
use super::enforced::Enforced;
use super::record::Record;
use super::report::{Plot, Report, host};

/// Rounds of which the median counts; preferences take turns.
const ROUNDS: usize = 3;

const CLIENTS: [u32; 4] = [1, 2, 4, 8];

/// Preferences: how the guest's script calls them, and as they are written.
const HOWS: [(&str, Option<&str>); 4] = [
    ("stock", None),
    ("core", Some("prefer idle core")),
    ("cpu", Some("prefer idle cpu")),
    ("last", Some("prefer last cpu")),
];

/// Throughput in MB/s and the longest latency in milliseconds.
type Sample = (f64, f64);

/// By preference and number of clients.
type Samples = BTreeMap<(&'static str, u32), Vec<Sample>>;

pub(crate) fn measure() {
    let seconds = setting("SECONDS_EACH", "4");
    assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 1), "in less than two seconds tbench says nothing");
    let guest = Guest::stock();
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (machine, samples) in [("host", on_host(&seconds)), ("4 × 2", in_guest(&guest, &seconds))] {
        for (how, clause) in HOWS {
            let name = clause.unwrap_or("stock");
            let mut points = Vec::new();
            for clients in CLIENTS {
                let of = |how: &'static str| median(&samples[&(how, clients)]);
                let ((throughput, latency), (stock, _)) = (of(how), of("stock"));
                points.push((f64::from(clients), throughput / stock));
                rows.push(vec![
                    machine.to_owned(),
                    clients.to_string(),
                    name.to_owned(),
                    format!("{throughput:.0}"),
                    format!("{:.2}", throughput / stock),
                    format!("{latency:.2}"),
                ]);
            }
            if clause.is_some() {
                lines.push((format!("{machine}, {name}"), points));
            }
        }
    }
    Report {
        name: "tbench",
        title: "tbench under each preference",
        method: format!(
            "`tbench` against `tbench_srv` over the loopback (Debian's `dbench`), 1 to 8 clients, {seconds} s each after its \
             own warm-up.\n\nOn the host ({}): throughput and the longest latency are medians of {ROUNDS} rounds in \
             which the preferences take turns. No siblings, so `prefer idle core` asks for nothing there; a virtual machine \
             on a shared host.\n\nOn 4 cores of 2 threads, one round: {}",
            host(),
            guest.described()
        ),
        columns: ["machine", "clients", "preference", "MB/s", "of stock", "longest latency, ms"].map(str::to_owned).to_vec(),
        rows,
        plot: Some(Plot { x: "clients", y: "throughput, of stock", lines }),
    }
    .write();
}

fn on_host(seconds: &str) -> Samples {
    let mut samples = Samples::new();
    for _ in 0..ROUNDS {
        for (how, clause) in HOWS {
            let enforced = clause.map(|clause| {
                Enforced::new(&format!("class tbench: match exe tbench or exe tbench_srv, {clause};"), &[])
            });
            let server = serve();
            for clients in CLIENTS {
                samples.entry((how, clients)).or_default().push(bench(clients, seconds));
            }
            drop(server);
            drop(enforced);
        }
    }
    samples
}

fn in_guest(guest: &Guest, seconds: &str) -> Samples {
    let clients = CLIENTS.map(|clients| clients.to_string()).join(" ");
    let script = format!("SECONDS_EACH='{seconds}' CLIENTS='{clients}'\n{}", include_str!("guest/tbench.sh"));
    let others = ["/usr/bin/tbench", "/usr/bin/tbench_srv", "/usr/share/dbench/client.txt"];
    let run = guest.boot_with(&script, &others);
    let mut samples = Samples::new();
    for run in run.all("tbench").iter().map(|line| Record::of(line)) {
        let (how, _) = HOWS.into_iter().find(|(how, _)| *how == run.text("how")).unwrap();
        let sample = (run.number("throughput"), run.number("latency"));
        samples.entry((how, run.text("n").parse().unwrap())).or_default().push(sample);
    }
    samples
}

fn median(of: &[Sample]) -> Sample {
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    (middle(of.iter().map(|it| it.0).collect()), middle(of.iter().map(|it| it.1).collect()))
}

/// The other end; ends with whatever it is measured for.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve() -> Server {
    let server = Command::new("tbench_srv").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = server.unwrap_or_else(|error| panic!("tbench_srv: {error}; install the package `dbench`"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    Server(server)
}

/// Throughput in MB/s and the longest latency in milliseconds.
fn bench(clients: u32, seconds: &str) -> (f64, f64) {
    let output = Command::new("tbench").args(["-t", seconds, &clients.to_string(), "127.0.0.1"]).output();
    let said = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    let line = said.lines().find(|line| line.starts_with("Throughput")).unwrap_or_else(|| panic!("tbench says {said}"));
    let number = |text: &str| text.trim_end_matches(" ms").trim().parse::<f64>().unwrap();
    let latency = line.split("max_latency=").nth(1).unwrap();
    (line.split_whitespace().nth(1).unwrap().parse().unwrap(), number(latency))
}
