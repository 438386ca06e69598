//! Sets of CPUs in JSON documents.

use cotenant_compiler::CpuSet;
use serde::Serialize;

/// A set of CPUs, as the kernel writes lists and number by number.
#[derive(Serialize)]
pub(super) struct Cpus {
    list: String,
    cpus: Vec<u32>,
}

impl From<&CpuSet> for Cpus {
    fn from(set: &CpuSet) -> Cpus {
        Cpus { list: set.to_string(), cpus: set.iter().map(|cpu| cpu.0).collect() }
    }
}
