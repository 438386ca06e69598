//! Names, selectors, topology, checks and the plan.

mod cpuset;
pub mod topology;

pub use cpuset::{CpuId, CpuSet, ParseCpuSetError};
