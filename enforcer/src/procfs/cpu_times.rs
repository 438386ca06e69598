//! The `cpu` lines of `/proc/stat`: proc_stat(5).

use std::fs::File;
use std::os::unix::fs::FileExt;

use cotenant_compiler::CpuId;

use super::{Procfs, digits};
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
        let mut fields = line.strip_prefix(b"cpu")?.split(|byte| *byte == b' ').map(digits);
        let cpu = CpuId(u32::try_from(fields.next()??).ok()?);
        let mut ticks = || fields.next()?;
        let (user, nice, system, idle) = (ticks()?, ticks()?, ticks()?, ticks()?);
        let (waiting, interrupts, soft, stolen) = (ticks()?, ticks()?, ticks()?, ticks()?);
        let busy = [nice, system, interrupts, soft].into_iter().try_fold(user, u64::checked_add)?;
        Some(CpuTimes { cpu, busy, idle: idle.checked_add(waiting)?, stolen })
    }

    pub(super) fn parse_into(text: &[u8], times: &mut Vec<CpuTimes>) -> Option<()> {
        times.clear();
        // The first line, `cpu` and a blank, is the sum. What comes behind the CPUs is longer than they are.
        let lines = text.split(|byte| *byte == b'\n').take_while(|line| line.starts_with(b"cpu"));
        for line in lines.filter(|line| !line.starts_with(b"cpu ")) {
            times.push(CpuTimes::parse(line)?);
        }
        Some(())
    }
}

/// Reads the times again and again: the file is kept open, and so is the memory for it.
#[derive(Debug, Default)]
pub struct CpuTimesReader {
    file: Option<File>,
    text: Vec<u8>,
    times: Vec<CpuTimes>,
}

impl CpuTimesReader {
    /// The times of all online CPUs, lowest number first, of the same file system each time.
    ///
    /// # Errors
    /// `EBADMSG` for a text that cannot be read.
    pub fn read(&mut self, procfs: &Procfs) -> Result<&[CpuTimes], KernelError> {
        let path = || procfs.root().join("stat");
        let fail = |operation| move |error: std::io::Error| KernelError::file(path(), operation, errno_of(&error));
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(path()).map_err(fail("open"))?,
        };
        if self.text.is_empty() {
            self.text.resize(4096, 0);
        }
        let length = loop {
            let length = file.read_at(&mut self.text, 0).map_err(fail("read"))?;
            let read = self.text.get(..length).unwrap_or_default();
            // Complete where something follows the CPUs, or nothing more came.
            let last = read.split(|byte| *byte == b'\n').rev().nth(1).unwrap_or_default();
            if length < self.text.len() || !last.starts_with(b"cpu") {
                break length;
            }
            self.text.resize(self.text.len() * 2, 0);
        };
        let read = self.text.get(..length).unwrap_or_default();
        CpuTimes::parse_into(read, &mut self.times).ok_or_else(|| KernelError::unreadable(&path(), read))?;
        self.file = Some(file);
        Ok(&self.times)
    }
}
