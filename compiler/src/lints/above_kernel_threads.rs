//! Priorities at which a thread keeps the kernel's own threads waiting.

use super::class::Class;
use super::mistake::Lint;

/// Threads that handle interrupts run at this priority; see `irq_thread` in the kernel and chrt(1).
const INTERRUPTS: u8 = 50;

pub(super) fn above_kernel_threads(class: &Class<'_>, report: &mut dyn FnMut(Lint)) {
    if let Some((priority, at)) = class.class.settings.priority.filter(|it| class.is_real_time() && it.0 > INTERRUPTS) {
        report(Lint::AboveKernelThreads { at, priority });
    }
}
