//! Metrics of the daemon, for whoever scrapes them: by HTTP, or in a file that node-exporter's textfile collector reads.
//!
//! Each is a thread that asks the daemon for its status as `cotenant status` does, so that all say the same, and that neither
//! slow nor hostile clients keep the daemon from its work: one is answered at a time, and none for long.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use clap::Args;
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::roots::Roots;
use nix::sys::signal::SigSet;
use tracing::{info, warn};

use crate::failure::Failure;
use crate::render;

/// How long a client may take for its request, and how long for reading the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest request.
const LONGEST: usize = 4096;

/// Between two writes of the file.
const REFRESH: Duration = Duration::from_secs(15);

/// Enough for a page of text and its making.
const STACK: usize = 512 << 10;

/// Where metrics go.
#[derive(Debug, Args)]
pub(super) struct Metrics {
    /// Serve metrics at `http://ADDRESS:PORT/metrics`, as OpenMetrics text. Anybody who can reach the address can read names of
    /// classes and numbers, no names of processes.
    #[arg(long = "metrics", value_name = "ADDRESS:PORT", value_parser = address)]
    address: Option<SocketAddr>,
    /// Write metrics to this file each 15 s, for the textfile collector of Prometheus's node exporter: the only thing that wakes
    /// an idle daemon. It is removed at the end.
    #[arg(long = "metrics-file", value_name = "PATH.prom")]
    file: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an address of this host and a port, such as `127.0.0.1:9778`".to_owned())
}

/// A file that is there for as long as somebody keeps it true.
pub(super) struct Kept(Option<PathBuf>);

impl Drop for Kept {
    fn drop(&mut self) {
        // Old numbers would be taken for new ones.
        self.0.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

impl Metrics {
    /// Begins to serve and to write; both end with the process.
    ///
    /// # Errors
    /// Where the address is taken or is none of this host's, or the file cannot be written.
    pub(super) fn start(&self, roots: &Roots) -> Result<Kept, Failure> {
        if let Some(address) = self.address {
            let fail = |error| {
                Failure::new(format!("{address}: cannot be listened to: {error}"))
                    .help("`--metrics 127.0.0.1:9778` is reached from this host alone; port 0 takes any that is free")
            };
            let listener = TcpListener::bind(address).map_err(fail)?;
            let address = listener.local_addr().map_err(fail)?;
            let run = roots.run.clone();
            beside(move || serve(&listener, &run))?;
            info!("metrics are served at http://{address}/metrics");
        }
        if let Some(path) = &self.file {
            write(path, "# EOF\n")?;
            let (path, run) = (path.clone(), roots.run.clone());
            beside(move || keep(&path, &run))?;
        }
        Ok(Kept(self.file.clone()))
    }
}

/// Does this beside the daemon's loop, which has all signals to itself.
fn beside(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let fail = |error| Failure::new(format!("no thread for metrics: {error}"));
    let before = SigSet::all().thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK);
    let before = before.map_err(|errno| fail(errno.into()))?;
    // It inherits what is blocked.
    let started = Builder::new().name("metrics".to_owned()).stack_size(STACK).spawn(work);
    before.thread_set_mask().map_err(|errno| fail(errno.into()))?;
    started.map(drop).map_err(fail)
}

/// The metrics of now; none where the daemon does not answer yet, or no more.
fn metrics(run: &Path) -> Option<String> {
    let answer = ask(run, Request::Status).ok().flatten()?;
    render::metrics(&String::from_utf8_lossy(&answer)).ok()
}

fn serve(listener: &TcpListener, run: &Path) {
    loop {
        match listener.accept() {
            // Whoever goes away in the midst of it needs no answer.
            Ok((stream, _)) => drop(answer(&stream, run)),
            // No descriptor is free, perhaps: again later, not at once.
            Err(_) => thread::sleep(PATIENCE),
        }
    }
}

fn answer(mut stream: &TcpStream, run: &Path) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = request(stream)?;
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let wanted = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = wanted.1.split('?').next().unwrap_or_default();
    let (status, text) = match (wanted.0, path) {
        ("GET" | "HEAD", "/metrics") => match metrics(run) {
            Some(text) => ("200 OK", text),
            None => ("503 Service Unavailable", "the daemon does not answer\n".to_owned()),
        },
        ("GET" | "HEAD", _) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "metrics can be read: GET /metrics\n".to_owned()),
    };
    let kind = if status.starts_with('2') { "application/openmetrics-text; version=1.0.0" } else { "text/plain" };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    if wanted.0 == "HEAD" { Ok(()) } else { stream.write_all(text.as_bytes()) }
}

/// Reads up to the empty line that ends a request.
fn request(mut stream: &TcpStream) -> std::io::Result<String> {
    let (end, mut request) = (Instant::now() + PATIENCE, Vec::new());
    while !request.windows(4).any(|four| four == b"\r\n\r\n") && request.len() < LONGEST {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut some = [0_u8; 512];
        match stream.read(&mut some)? {
            0 => break,
            length => request.extend_from_slice(some.get(..length).unwrap_or_default()),
        }
    }
    Ok(String::from_utf8_lossy(&request).into_owned())
}

fn keep(path: &Path, run: &Path) {
    let mut was_refused = false;
    loop {
        // The first time the daemon may not listen yet.
        let pause = match metrics(run).map(|text| write(path, &text)) {
            None => Duration::from_millis(200),
            Some(written) => {
                let refused = written.err();
                // Once, and not each time.
                refused.iter().filter(|_| !was_refused).for_each(|failure| warn!("{}", failure.text()));
                was_refused = refused.is_some();
                REFRESH
            }
        };
        thread::sleep(pause);
    }
}

/// Puts a new file in the place of the old one, so that nobody reads half of it.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(format!("{}: cannot be written: {error}", path.display()))
            .help("name a file in a directory that is there and writable, such as node-exporter's textfile directory")
    };
    let directory = path.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let file = tempfile::Builder::new().permissions(mode).suffix(".new").tempfile_in(directory);
    let mut file = file.map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.persist(path).map(drop).map_err(|error| fail(error.error))
}
