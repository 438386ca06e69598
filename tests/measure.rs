//! `make measure`: what the project was started for, measured, without a policy and with one in the same run.
//!
//! Pages, tables and pictures go to `docs/measurements/`; nothing here asserts. `cargo test --release --test measure -- NAME…`
//! runs some of them; `SECONDS_EACH`, `WORKERS`, `CLASSES` and `HOWS` make a run shorter or narrower.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, dead_code)]

#[path = "measure/batch.rs"]
mod batch;
#[path = "vm/cpio.rs"]
mod cpio;
#[path = "measure/emulated.rs"]
mod emulated;
#[path = "measure/enforced.rs"]
mod enforced;
#[path = "measure/equals.rs"]
mod equals;
#[path = "vm/image.rs"]
mod image;
#[path = "measure/loops.rs"]
mod loops;
#[path = "vm/machine.rs"]
mod machine;
#[path = "measure/memory.rs"]
mod memory;
#[path = "vm/record.rs"]
mod record;
#[path = "measure/report.rs"]
mod report;
#[path = "measure/siblings.rs"]
mod siblings;
#[path = "measure/tbench.rs"]
mod tbench;

/// Names of the measurements, and the measurements.
const ALL: [(&str, fn()); 6] = [
    ("siblings", siblings::measure),
    ("batch", batch::measure),
    ("equals", equals::measure),
    ("loop", loops::measure),
    ("tbench", tbench::measure),
    ("memory", memory::measure),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|name| ALL.iter().all(|(known, _)| known != name)) {
        panic!("there is no measurement `{unknown}`; there are {:?}", ALL.map(|(name, _)| name));
    }
    for (name, measure) in ALL {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            measure();
        }
    }
}
