//! `/proc/PID/stat` and `/proc/PID/task/TID/stat`: proc_pid_stat(5).

use cotenant_compiler::CpuId;

use super::{Procfs, digits, number};
use crate::error::KernelError;
use crate::ids::{Pid, Tid};

/// Set for kernel threads, `include/linux/sched.h`.
const PF_KTHREAD: u32 = 0x0020_0000;

/// Set from a fork until the process executes a program, `include/linux/sched.h`.
const PF_FORKNOEXEC: u32 = 0x0000_0040;

/// One line of scheduling facts. In the file of a process they are the leader's, but for [`Stat::ticks`], which is the sum
/// over its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The thread, or the process's leader.
    pub tid: Tid,
    /// The name: at most 15 bytes for programs, more for some kernel threads; blanks, parentheses, any byte but NUL.
    pub comm: Vec<u8>,
    /// One letter, such as `R`, `S`, `D`, `T`, `Z`.
    pub state: u8,
    /// The parent process; 0 for what the kernel itself started.
    pub parent: Pid,
    /// The kernel's flags; see the methods.
    pub flags: u32,
    /// Time on a CPU, user and system, in clock ticks of `sysconf(_SC_CLK_TCK)`, nearly always 10 ms.
    pub ticks: u64,
    /// The nice value, −20 to 19.
    pub nice: i32,
    /// How many threads the process has.
    pub threads: u32,
    /// When it started, in clock ticks since boot. With the id it identifies a process.
    pub start: u64,
    /// The CPU where it ran last.
    pub cpu: CpuId,
}

/// Nanoseconds of a clock tick, `sysconf(_SC_CLK_TCK)` being 100 wherever Linux runs today.
pub(crate) const CLOCK_TICK: u64 = 10_000_000;

impl Stat {
    /// Whether it is a thread of the kernel.
    #[must_use]
    pub fn is_kernel_thread(&self) -> bool {
        self.flags & PF_KTHREAD != 0
    }

    /// Whether it was forked and has not executed a program since.
    #[must_use]
    pub fn has_not_execed(&self) -> bool {
        self.flags & PF_FORKNOEXEC != 0
    }

    /// Whether it has ended and waits to be reaped.
    #[must_use]
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Whether the process has ended. A leader that ended before the other threads is a zombie too, and the process lives.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_zombie() && self.threads <= 1
    }

    pub(super) fn parse(text: &[u8]) -> Option<Stat> {
        // A name may hold anything, also `) R 1 `; what follows it holds no parenthesis, so the last one is its end.
        let open = text.iter().position(|byte| *byte == b'(')?;
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let mut fields = Numbered { rest: text.get(close + 1..)?, next: 3 };
        Some(Stat {
            tid: Tid(number(text.get(..open)?)?),
            comm: text.get(open + 1..close)?.to_vec(),
            state: *fields.field(3)?.first()?,
            parent: Pid(number(fields.field(4)?)?),
            flags: number(fields.field(9)?)?,
            ticks: number::<u64>(fields.field(14)?)?.checked_add(number(fields.field(15)?)?)?,
            nice: number(fields.field(19)?)?,
            threads: number(fields.field(20)?)?,
            start: number(fields.field(22)?)?,
            cpu: CpuId(number(fields.field(39)?)?),
        })
    }
}

/// Where a thread is, of the same line, without the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whereabouts {
    /// As [`Stat::state`].
    pub(crate) state: u8,
    /// As [`Stat::cpu`].
    pub(crate) cpu: CpuId,
}

impl Whereabouts {
    pub(crate) fn parse(text: &[u8]) -> Option<Whereabouts> {
        let close = memchr::memrchr(b')', text)?;
        // The third field begins after one blank, and there is one between any two.
        let rest = text.get(close + 2..)?;
        let mut blanks = memchr::memchr_iter(b' ', rest);
        let cpu = rest.get(blanks.nth(38 - 3)? + 1..blanks.next()?)?;
        Some(Whereabouts { state: *rest.first()?, cpu: CpuId(u32::try_from(digits(cpu)?).ok()?) })
    }
}

/// The blank-separated fields after the name, by the manual's numbers, in ascending order.
struct Numbered<'a> {
    rest: &'a [u8],
    next: usize,
}

impl<'a> Numbered<'a> {
    fn field(&mut self, number: usize) -> Option<&'a [u8]> {
        loop {
            let text = self.rest.trim_ascii_start();
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            let (field, rest) = text.split_at_checked(end)?;
            self.rest = rest;
            self.next += 1;
            if field.is_empty() || self.next > number {
                return (!field.is_empty()).then_some(field);
            }
        }
    }
}

impl Procfs {
    /// The facts of a process.
    ///
    /// # Errors
    /// Gone where it has ended; `EBADMSG` for a line that cannot be read.
    pub fn stat(&self, pid: Pid) -> Result<Stat, KernelError> {
        self.of_process(pid).parse("stat", Stat::parse)
    }

    /// The facts of one thread.
    ///
    /// # Errors
    /// As [`Procfs::stat`].
    pub fn thread_stat(&self, pid: Pid, tid: Tid) -> Result<Stat, KernelError> {
        self.of_thread(pid, tid).parse("stat", Stat::parse)
    }

    /// Whether the thread of that id is the one that was started then, in clock ticks since boot: an id alone may be somebody
    /// else's by now.
    #[must_use]
    pub fn is_thread_still(&self, pid: Pid, tid: Tid, start: u64) -> bool {
        self.thread_stat(pid, tid).is_ok_and(|stat| stat.start == start)
    }
}
