//! (d) What does each preference cost or gain a program that sleeps and wakes all the time?

use std::process::{Child, Command, Stdio};

use super::emulated::setting;
use super::enforced::Enforced;
use super::report::{Plot, Report, host};

/// Rounds of which the median counts; preferences take turns.
const ROUNDS: usize = 3;

const HOWS: [(&str, Option<&str>); 4] = [
    ("stock", None),
    ("prefer idle core", Some("prefer idle core")),
    ("prefer idle cpu", Some("prefer idle cpu")),
    ("prefer last cpu", Some("prefer last cpu")),
];

pub(crate) fn measure() {
    let seconds = setting("SECONDS_EACH", "5");
    let clients = [1, 2, 4, 8];
    let mut found = vec![vec![Vec::new(); clients.len()]; HOWS.len()];
    for _ in 0..ROUNDS {
        for (how, (_, clause)) in HOWS.iter().enumerate() {
            let enforced = clause.map(|clause| {
                Enforced::new(&format!("class tbench: match exe tbench or exe tbench_srv, {clause};"), &[])
            });
            let mut server = serve();
            for (at, clients) in clients.iter().enumerate() {
                found[how][at].push(bench(*clients, &seconds));
            }
            server.kill().unwrap();
            server.wait().unwrap();
            drop(enforced);
        }
    }
    let median = |of: &[(f64, f64)]| {
        let middle = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        (middle(of.iter().map(|it| it.0).collect()), middle(of.iter().map(|it| it.1).collect()))
    };
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for ((name, _), samples) in HOWS.iter().zip(&found) {
        let mut points = Vec::new();
        for ((clients, of), stock) in clients.iter().zip(samples).zip(&found[0]) {
            let ((throughput, latency), (stock, _)) = (median(of), median(stock));
            points.push((f64::from(*clients), throughput / stock));
            rows.push(vec![
                clients.to_string(),
                (*name).to_owned(),
                format!("{throughput:.0}"),
                format!("{:.2}", throughput / stock),
                format!("{latency:.2}"),
            ]);
        }
        lines.push(((*name).to_owned(), points));
    }
    Report {
        name: "tbench",
        title: "tbench under each preference",
        method: format!(
            "`tbench` against `tbench_srv` over the loopback (Debian's `dbench`), 1 to 8 clients, {seconds} s each after a \
             warm-up of a second; throughput and the longest latency are medians of {ROUNDS} rounds in which the preferences \
             take turns.\n\nMeasured on {}: no siblings, so `prefer idle core` asks for nothing there; a virtual machine on a \
             shared host.",
            host()
        ),
        columns: ["clients", "preference", "MB/s", "of stock", "longest latency, ms"].map(str::to_owned).to_vec(),
        rows,
        plot: Some(Plot { x: "clients", y: "throughput, of stock", lines }),
        findings: String::new(),
    }
    .write();
}

fn serve() -> Child {
    let server = Command::new("tbench_srv").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = server.unwrap_or_else(|error| panic!("tbench_srv: {error}; install the package `dbench`"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    server
}

/// Throughput in MB/s and the longest latency in milliseconds.
fn bench(clients: u32, seconds: &str) -> (f64, f64) {
    let output = Command::new("tbench").args(["-t", seconds, "--warmup=1", &clients.to_string(), "127.0.0.1"]).output();
    let said = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    let line = said.lines().find(|line| line.starts_with("Throughput")).unwrap_or_else(|| panic!("tbench says {said}"));
    let number = |text: &str| text.trim_end_matches(" ms").trim().parse::<f64>().unwrap();
    let latency = line.split("max_latency=").nth(1).unwrap();
    (line.split_whitespace().nth(1).unwrap().parse().unwrap(), number(latency))
}
