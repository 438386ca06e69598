//! The control socket: one request a connection, one line, one answer.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::socket::sockopt::{PeerCredentials, SndBufForce};
use nix::sys::socket::{UnixCredentials, getsockopt, setsockopt};
use nix::unistd::{getegid, geteuid};

use crate::enforcer::Pass;
use crate::error::{KernelError, errno_of};
use crate::ids::Pid;

/// How long a client may keep the daemon waiting, all its pauses together.
const PATIENCE: Duration = Duration::from_millis(100);

/// The longest request line: a class's name is the longest part that it may have.
const LONGEST: usize = 512;

/// What can be asked of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Say what is in force and how it is kept.
    Status,
    /// Hand out the policy in force: its texts, and the machine it is enforced for.
    Policy,
    /// Say all that is known of a process.
    Why(Pid),
    /// Put the process that asks into the class of that name. Root and the daemon's own user may ask.
    Exec(String),
    /// Read the policy again.
    Reload,
    /// Put everything back and end.
    Release,
}

impl Request {
    /// As it is sent.
    fn line(&self) -> String {
        match self {
            Request::Status => "status".to_owned(),
            Request::Policy => "policy".to_owned(),
            Request::Why(pid) => format!("why {pid}"),
            Request::Exec(class) => format!("exec {class}"),
            Request::Reload => "reload".to_owned(),
            Request::Release => "release".to_owned(),
        }
    }

    fn of_line(line: &str) -> Option<Request> {
        Some(match line.trim_end().split_once(' ').unwrap_or((line.trim_end(), "")) {
            ("status", "") => Request::Status,
            ("policy", "") => Request::Policy,
            ("why", pid) => Request::Why(Pid(pid.parse().ok().filter(|pid| *pid > 0)?)),
            ("exec", class) if !class.is_empty() => Request::Exec(class.to_owned()),
            ("reload", "") => Request::Reload,
            ("release", "") => Request::Release,
            _ => return None,
        })
    }
}

/// The daemon's end.
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Listens in the run directory, which the caller has locked: a socket that lies there belongs to nobody any more.
    ///
    /// # Errors
    /// Where the socket cannot be made.
    pub fn listen(run: &Path) -> Result<Control, KernelError> {
        let path = socket(run);
        let fail = |operation| {
            let path = path.clone();
            move |error: std::io::Error| KernelError::file(path, operation, errno_of(&error))
        };
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail("unlink")(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(fail("bind"))?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).map_err(fail("chmod"))?;
        listener.set_nonblocking(true).map_err(fail("fcntl"))?;
        Ok(Control { listener, path })
    }

    /// The next request that waits and whom to answer; requests that make no sense are answered with nothing.
    #[must_use]
    pub fn next(&self) -> Option<(Request, Client)> {
        loop {
            let (stream, _) = self.listener.accept().ok()?;
            let Ok(peer) = getsockopt(&stream, PeerCredentials) else { continue };
            if let Some(request) = read(&stream, &peer) {
                return Some((request, Client { stream, process: Pid(peer.pid()) }));
            }
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Nobody answers there any more, and the next daemon removes what is left.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Somebody who waits for an answer.
pub struct Client {
    stream: UnixStream,
    process: Pid,
}

impl Client {
    /// The process that asks, by the kernel's word.
    #[must_use]
    pub fn process(&self) -> Pid {
        self.process
    }

    /// Answers and hangs up. A client that has gone away needs no answer.
    ///
    /// The kernel is asked to hold the whole answer, so that the daemon does not wait for the client to read it: see
    /// `SO_SNDBUFFORCE` in socket(7). Without CAP_NET_ADMIN a slow client gets as much as it reads in time.
    pub fn answer(self, text: &[u8]) {
        // The kernel counts its own overhead in as well, for which it doubles the number; refused, it leaves all as it is.
        let _ = setsockopt(&self.stream, SndBufForce, &text.len());
        let (mut stream, end, mut left) = (&self.stream, Instant::now() + PATIENCE, text);
        while let Some(patience) = until(end).filter(|_| !left.is_empty()) {
            let written = stream.set_write_timeout(Some(patience)).and_then(|()| stream.write(left));
            match written {
                Ok(written) => left = left.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// What is left until then; none where nothing is.
fn until(end: Instant) -> Option<Duration> {
    Some(end.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

/// The answer to a request to release: how many processes were put back, and a line for each thing that was refused.
#[must_use]
pub fn released(pass: &Pass) -> Vec<u8> {
    let mut text = format!("{}\n", pass.released);
    for failure in &pass.failures {
        text.push_str(&format!("{failure}\n"));
    }
    text.into_bytes()
}

fn read(stream: &UnixStream, peer: &UnixCredentials) -> Option<Request> {
    // The mode of the socket says the same; this holds wherever the directory was mounted or passed on to.
    let is_ours = peer.uid() == 0 || peer.uid() == geteuid().as_raw();
    if !is_ours && peer.gid() != getegid().as_raw() {
        return None;
    }
    stream.set_nonblocking(false).ok()?;
    let (mut stream, end) = (stream, Instant::now() + PATIENCE);
    let mut line = Vec::new();
    loop {
        stream.set_read_timeout(Some(until(end)?)).ok()?;
        let mut some = [0_u8; LONGEST];
        match stream.read(&mut some) {
            Ok(0) => break,
            Ok(length) => line.extend_from_slice(some.get(..length)?),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if line.len() > LONGEST {
            return None;
        }
    }
    // Whoever gets into a class by asking may be anybody: the group is not enough for that.
    Request::of_line(std::str::from_utf8(&line).ok()?).filter(|request| is_ours || !matches!(request, Request::Exec(_)))
}

/// Asks the daemon of this run directory; none where nobody listens there. A request that the daemon does not know is
/// answered with nothing.
///
/// # Errors
/// Where the socket is there and cannot be used.
pub fn ask(run: &Path, request: Request) -> Result<Option<Vec<u8>>, KernelError> {
    let path = socket(run);
    let fail = |operation| move |error: std::io::Error| KernelError::file(socket(run), operation, errno_of(&error));
    let mut stream = match UnixStream::connect(&path) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => return Ok(None),
        Err(error) => return Err(fail("connect")(error)),
    };
    stream.write_all(request.line().as_bytes()).map_err(fail("write"))?;
    stream.shutdown(std::net::Shutdown::Write).map_err(fail("write"))?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(fail("read"))?;
    Ok(Some(answer))
}

fn socket(run: &Path) -> PathBuf {
    run.join("control.sock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_and_nonsense_is_not() {
        let run = tempfile::tempdir().unwrap();
        assert_eq!(ask(run.path(), Request::Status).unwrap(), None, "nobody listens");
        let control = Control::listen(run.path()).unwrap();
        let path = run.path().to_owned();
        let client = std::thread::spawn(move || ask(&path, Request::Reload).unwrap());
        let mut nonsense = UnixStream::connect(socket(run.path())).unwrap();
        nonsense.write_all(b"open the pod bay doors").unwrap();
        nonsense.shutdown(std::net::Shutdown::Write).unwrap();
        // One that sends a byte now and then is given up all the same.
        let mut slow = UnixStream::connect(socket(run.path())).unwrap();
        std::thread::spawn(move || {
            while slow.write_all(b"s").is_ok() {
                std::thread::sleep(PATIENCE / 2);
            }
        });
        let (request, from) = loop {
            if let Some(next) = control.next() {
                break next;
            }
            std::thread::yield_now();
        };
        assert_eq!(request, Request::Reload);
        from.answer(b"done");
        assert_eq!(client.join().unwrap(), Some(b"done".to_vec()));
        drop(control);
        assert!(!socket(run.path()).exists());
    }

    #[test]
    fn requests_are_told_apart_and_nothing_else_is_one() {
        let exec = Request::Exec("web front".to_owned());
        for request in
            [Request::Status, Request::Policy, Request::Why(Pid(12)), exec, Request::Reload, Request::Release]
        {
            assert_eq!(Request::of_line(&format!("{}\n", request.line())), Some(request));
        }
        for nonsense in
            ["", "why", "exec", "exec ", "why 0", "why -3", "why x", "why 1 2", "status 1", "Status", "releasenow"]
        {
            assert_eq!(Request::of_line(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_large_answer_does_not_wait_for_its_reader() {
        if !crate::testing::is_root() {
            return;
        }
        let run = tempfile::tempdir().unwrap();
        let control = Control::listen(run.path()).unwrap();
        let mut client = UnixStream::connect(socket(run.path())).unwrap();
        client.write_all(b"policy\n").unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let (request, from) = control.next().unwrap();
        assert_eq!(request, Request::Policy);
        // Nobody reads before all is written; ordinary buffers hold some 200 kB.
        let text: Vec<u8> = (0..8 << 20).map(|at| b'a' + (at % 26) as u8).collect();
        from.answer(&text);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert_eq!(answer.len(), text.len());
        assert!(answer == text);
    }
}
