//! A thread that keeps one cookie alive and gives it to others.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use nix::errno::Errno;

use crate::error::{KernelError, Object, errno_of};
use crate::ids::{Pid, Tid};
use crate::sys::core_sched::{self, Cookie};
use crate::sys::sched;

/// It calls the kernel and nothing else.
const STACK: usize = 64 << 10;

/// The thread, as those who ask it see it. It ends when this value does.
pub(super) struct Holder {
    tid: Tid,
    cookie: Cookie,
    asks: Option<Sender<Tid>>,
    answers: Receiver<Result<(), KernelError>>,
    thread: Option<JoinHandle<()>>,
}

impl Holder {
    /// Starts one, with a cookie that no other thread has.
    ///
    /// # Errors
    /// Where no thread can be started; as [`core_sched::create`].
    pub(super) fn start() -> Result<Holder, KernelError> {
        let maker = Tid::current();
        let (ready, made) = channel();
        let (asks, asked) = channel::<Tid>();
        let (answer, answers) = channel();
        #[cfg(test)]
        let played = crate::fake::installed();
        let hold = move || {
            #[cfg(test)]
            crate::fake::install(played);
            let own = Tid::current();
            // Whoever asks waits for the answer, so it must not come later than its asker would: reset-on-fork has taken the
            // asker's priority from it. Where that is refused, answers are late on a busy host and right all the same.
            drop(sched::get(maker).and_then(|state| sched::set(own, &state)));
            let cookie = core_sched::create(own).and_then(|()| core_sched::get(own));
            let is_made = cookie.is_ok();
            if ready.send(cookie.map(|cookie| (own, cookie))).is_err() || !is_made {
                return;
            }
            // Until the asker is gone.
            for tid in asked {
                if answer.send(core_sched::share_to(tid)).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("cookie".to_owned()).stack_size(STACK).spawn(hold);
        let fail = |errno| KernelError::new(Object::Process(Pid::current()), "clone", errno);
        let thread = thread.map_err(|error| fail(errno_of(&error)))?;
        let (tid, cookie) = made.recv().unwrap_or_else(|_| Err(fail(Errno::EIO)))?;
        Ok(Holder { tid, cookie, asks: Some(asks), answers, thread: Some(thread) })
    }

    /// What the kernel says of its cookie.
    pub(super) fn cookie(&self) -> Cookie {
        self.cookie
    }

    /// Gives its cookie to a thread.
    ///
    /// # Errors
    /// As [`core_sched::share_to`]; `EIO` where the holder has ended.
    pub(super) fn give(&self, tid: Tid) -> Result<(), KernelError> {
        let ended = || KernelError::new(Object::Thread(self.tid), "ask the holder of a cookie", Errno::EIO);
        self.asks.as_ref().and_then(|asks| asks.send(tid).ok()).ok_or_else(ended)?;
        self.answers.recv().unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It waits for questions, and ends when none can come.
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both outcomes are asserted: which one it is depends on the kernel.
    #[test]
    fn a_holder_has_a_cookie_to_give_or_the_kernel_has_none() {
        match Holder::start() {
            Ok(holder) => {
                let ((known, knows), (done, end)) = (channel(), channel::<()>());
                let other = thread::spawn(move || {
                    known.send(Tid::current()).unwrap();
                    let _ = end.recv();
                });
                let tid = knows.recv().unwrap();
                holder.give(tid).unwrap();
                assert_eq!(core_sched::get(tid).unwrap(), holder.cookie());
                drop(done);
                other.join().unwrap();
                assert_eq!(core_sched::get(Tid::current()).unwrap(), Cookie::NONE, "the asker stays without");
            }
            Err(error) => assert!([Errno::EINVAL, Errno::ENODEV].contains(&error.errno()), "{error}"),
        }
    }
}
