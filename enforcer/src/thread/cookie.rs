//! The way back of a thread's cookie.

use crate::cookies;
use crate::error::KernelError;
use crate::ids::Tid;
use crate::sys::core_sched;
use crate::thread::Touched;

impl Touched {
    /// Takes the cookie away that the thread was given, where it still has it. The calling thread has none.
    ///
    /// # Errors
    /// As [`core_sched::share_to`].
    pub fn restore_cookie(&mut self, tid: Tid) -> Result<(), KernelError> {
        let Some(given) = self.wrote.cookie else { return Ok(()) };
        if given.stands(core_sched::get(tid)?) {
            cookies::clear(tid)?;
        }
        self.wrote.cookie = None;
        Ok(())
    }
}
