//! Any bytes, read as a policy.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../grammar/tests/fuzz/invariants.rs"]
mod invariants;

fuzz_target!(|bytes: &[u8]| invariants::check(&String::from_utf8_lossy(bytes)));
