//! `make measure`: what the project was started for, measured, each stock kernel against policy in one run.
//!
//! `measure/README` in `docs/measurements/` is written from what is found; nothing here asserts. Run one of them with
//! `cargo test --test measure -- NAME`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, dead_code)]

#[path = "vm/cpio.rs"]
mod cpio;
#[path = "vm/image.rs"]
mod image;
#[path = "vm/machine.rs"]
mod machine;
#[path = "measure/siblings.rs"]
mod siblings;

fn main() {
    siblings::measure();
}
