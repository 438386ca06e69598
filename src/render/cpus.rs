//! Sets of CPUs in JSON documents.

use cotenant_compiler::CpuSet;
use serde::{Deserialize, Serialize};

/// A set of CPUs, as the kernel writes lists and number by number.
#[derive(Serialize, Deserialize)]
pub(super) struct Cpus {
    list: String,
    cpus: Vec<u32>,
}

impl From<&CpuSet> for Cpus {
    fn from(set: &CpuSet) -> Cpus {
        Cpus { list: set.to_string(), cpus: set.iter().map(|cpu| cpu.0).collect() }
    }
}

impl Cpus {
    /// The set that the list names.
    pub(super) fn set(&self) -> Result<CpuSet, String> {
        self.list.parse().map_err(|_| format!("`{}` is no list of CPUs", self.list))
    }
}
