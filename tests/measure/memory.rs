//! (e) What does a memory walker take from another, without SMT, and what is left of it under a policy?

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::emulated::setting;
use super::enforced::{Enforced, named};
use super::report::{Report, host};

/// Rounds of which the median counts; alone, beside and kept apart take turns, so that what drifts drifts for all.
const ROUNDS: usize = 7;

pub(crate) fn measure() {
    let seconds = setting("SECONDS_EACH", "3");
    let folder = tempfile::tempdir().unwrap();
    let (web, batch) = (named(folder.path(), "web"), named(folder.path(), "batch"));
    let policy = format!(
        "class web: match exe {}; batch class batch: match exe {}, only when llc idle;",
        web.display(),
        batch.display()
    );
    let mut rows = Vec::new();
    for megabytes in ["10", "64"] {
        let steps = |cpu: &str| walk(&web, cpu, megabytes, &seconds).wait_with_output().unwrap();
        let steps = || -> f64 { String::from_utf8(steps("0").stdout).unwrap().trim().parse().unwrap() };
        let (mut alone, mut beside, mut apart) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(steps());
            let neighbour = Neighbour(walk(&batch, "1", megabytes, "3600"));
            beside.push(steps());
            let enforced = Enforced::new(&policy, &[]);
            enforced.await_members("batch", 1);
            apart.push(steps());
            drop(enforced);
            drop(neighbour);
        }
        let [alone, beside, apart] = [alone, beside, apart].map(spread);
        let slowdown = |of: [f64; 3]| format!("{:.2}", alone[1] / of[1]);
        let million = |of: [f64; 3]| format!("{:.1} ({:.1} to {:.1})", of[1] / 1e6, of[0] / 1e6, of[2] / 1e6);
        rows.push(vec![megabytes.to_owned(), "alone".to_owned(), million(alone), slowdown(alone)]);
        rows.push(vec![megabytes.to_owned(), "stock".to_owned(), million(beside), slowdown(beside)]);
        rows.push(vec![megabytes.to_owned(), "only when llc idle".to_owned(), million(apart), slowdown(apart)]);
    }
    Report {
        name: "memory",
        title: "A memory walker beside another",
        method: format!(
            "A program that follows pointers in random order through a buffer, on CPU 0, for {seconds} s: alone; beside the \
             same on CPU 1; and beside the same under `only when llc idle`. Steps done are the median of {ROUNDS} rounds in \
             which the three take turns, with the least and the most.\n\nMeasured on {}, which is a virtual machine on a \
             shared host: its CPUs may be siblings, and neighbours are not known.",
            host()
        ),
        columns: ["buffer, MB", "neighbour", "million steps", "slowdown"].map(str::to_owned).to_vec(),
        rows,
        plot: None,
    }
    .write();
}

/// Ends with whatever it is measured for.
struct Neighbour(Child);

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A walker that keeps to one CPU of its own accord.
fn walk(program: &Path, cpu: &str, megabytes: &str, seconds: &str) -> Child {
    let mut command = Command::new("taskset");
    command.args(["-c", cpu]).arg(program).args(["walk", "1", megabytes, seconds]);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// Least, median and most.
fn spread(mut samples: Vec<f64>) -> [f64; 3] {
    samples.sort_by(f64::total_cmp);
    [samples[0], samples[samples.len() / 2], samples[samples.len() - 1]]
}
