//! A thread beside the daemon's loop, which knows its id and ends it.

use std::sync::Arc;
use std::thread::JoinHandle;

use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::error::{KernelError, Object, errno_of};
use crate::ids::{Pid, Tid};

/// The thread, until it is dropped.
pub(crate) struct Aide {
    end: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    tid: Tid,
}

impl Aide {
    /// Starts it, with whatever priority a new thread of the caller has. It returns when the descriptor that it is given
    /// becomes readable.
    ///
    /// # Errors
    /// Where descriptors or threads are short.
    pub(crate) fn start(name: &str, run: impl FnOnce(&EventFd) + Send + 'static) -> Result<Aide, KernelError> {
        let fail = |errno| KernelError::new(Object::Process(Pid::current()), "clone", errno);
        let end = Arc::new(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC).map_err(fail)?);
        let (said, told) = std::sync::mpsc::channel();
        let ended = Arc::clone(&end);
        let run = move || {
            // Whoever started it waits for this.
            let _ = said.send(Tid::current());
            run(&ended);
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.map_err(|error| fail(errno_of(&error)))?;
        let tid = told.recv().map_err(|_| fail(nix::errno::Errno::ESRCH))?;
        Ok(Aide { end, thread: Some(thread), tid })
    }

    /// Its id, for its priority.
    pub(crate) fn tid(&self) -> Tid {
        self.tid
    }
}

impl Drop for Aide {
    fn drop(&mut self) {
        // What is under way is completed first.
        if self.end.write(1).is_ok()
            && let Some(thread) = self.thread.take()
        {
            drop(thread.join());
        }
    }
}
