//! The `cpu` lines of `/proc/stat`: proc_stat(5).

use std::fs;

use cotenant_compiler::CpuId;

use super::{Procfs, number};
use crate::error::{KernelError, errno_of};

/// What one CPU did since boot, in clock ticks of `sysconf(_SC_CLK_TCK)`, nearly always 10 ms. Differences of two reads
/// have a grain of one tick, and idle time can go back by a little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    /// The CPU.
    pub cpu: CpuId,
    /// Running anything: user, nice, system, interrupts. Guests' time is in user time already.
    pub busy: u64,
    /// Running nothing, with or without input and output under way.
    pub idle: u64,
    /// Wanted to run and was not let by the hypervisor.
    pub stolen: u64,
}

impl CpuTimes {
    fn parse(line: &[u8]) -> Option<CpuTimes> {
        let mut fields = line.strip_prefix(b"cpu")?.split(u8::is_ascii_whitespace);
        let cpu = CpuId(number(fields.next()?)?);
        let mut ticks = || number::<u64>(fields.next()?);
        let (user, nice, system, idle) = (ticks()?, ticks()?, ticks()?, ticks()?);
        let (waiting, interrupts, soft, stolen) = (ticks()?, ticks()?, ticks()?, ticks()?);
        let busy = [nice, system, interrupts, soft].into_iter().try_fold(user, u64::checked_add)?;
        Some(CpuTimes { cpu, busy, idle: idle.checked_add(waiting)?, stolen })
    }

    pub(super) fn parse_all(text: &[u8]) -> Option<Vec<CpuTimes>> {
        // The first line, `cpu` and a blank, is the sum.
        let is_cpu = |line: &&[u8]| line.strip_prefix(b"cpu").is_some_and(|rest| !rest.starts_with(b" "));
        text.split(|byte| *byte == b'\n').filter(is_cpu).map(CpuTimes::parse).collect()
    }
}

impl Procfs {
    /// The times of all online CPUs, lowest number first.
    ///
    /// # Errors
    /// `EBADMSG` for a text that cannot be read.
    pub fn cpu_times(&self) -> Result<Vec<CpuTimes>, KernelError> {
        let path = self.root.join("stat");
        let text = fs::read(&path).map_err(|error| KernelError::file(&path, "read", errno_of(&error)))?;
        CpuTimes::parse_all(&text).ok_or_else(|| KernelError::unreadable(&path, &text))
    }
}
