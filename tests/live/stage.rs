//! Directories, processes and daemons of one test.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest that anything here may take; a test that needs it has found a mistake.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

static NUMBER: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Stage {
    directory: tempfile::TempDir,
    group: String,
    children: Vec<Child>,
    kept: Vec<Box<dyn std::any::Any>>,
}

/// What the kernel says of a process: scheduling policy and real-time priority (proc_pid_stat(5)), nice value, and the
/// CPUs it may run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) policy: u32,
    pub(crate) priority: u32,
    pub(crate) nice: i32,
    pub(crate) cpus: String,
}

pub(crate) const OTHER: u32 = 0;
pub(crate) const FIFO: u32 = 1;
pub(crate) const RR: u32 = 2;
pub(crate) const IDLE: u32 = 5;

/// None where nothing can be placed here, which is said.
pub(crate) fn stage() -> Option<Stage> {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("passed over: placing processes needs root");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    // Programs in it are run by other users too.
    fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let group = format!("cotenant-live-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    Some(Stage { directory, group, children: Vec::new(), kept: Vec::new() })
}

impl Stage {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a policy, `@` standing for the test's directory, with a mode that is trusted.
    pub(crate) fn policy(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, self.text(text)).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        path
    }

    pub(crate) fn text(&self, text: &str) -> String {
        text.replace('@', self.directory.path().to_str().unwrap())
    }

    /// A copy of a program of this host under a name of the test's own.
    pub(crate) fn program(&self, name: &str, original: &str) -> PathBuf {
        let path = self.path(name);
        if !path.exists() {
            fs::copy(original, &path).unwrap();
        }
        path
    }

    pub(crate) fn run(&mut self, command: &mut Command) -> u32 {
        self.run_at(command, Stdio::null())
    }

    /// The same where it reads from there.
    pub(crate) fn run_at(&mut self, command: &mut Command, input: Stdio) -> u32 {
        command.stdin(input);
        let child = loop {
            match command.spawn() {
                Ok(child) => break child,
                // A program just copied stays open for an instant in what another test is forking.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        };
        let pid = child.id();
        self.children.push(child);
        pid
    }

    /// A process that sleeps, started and past its exec.
    pub(crate) fn sleeper(&mut self, name: &str) -> u32 {
        let program = self.program(name, "/bin/sleep");
        let pid = self.run(Command::new(&program).arg("120"));
        let exe = format!("/proc/{pid}/exe");
        until("its exec", || fs::read_link(&exe).is_ok_and(|exe| exe.ends_with(name)));
        pid
    }

    pub(crate) fn cotenant(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cotenant"));
        command.args(arguments.first()).env("NO_COLOR", "1").env_remove("COTENANT_LOG");
        if !matches!(arguments.first(), Some(&"lint" | &"plan")) {
            command.arg("--run-dir").arg(self.path("run")).args(["--group", &self.group]);
        }
        command.args(arguments.iter().skip(1));
        command
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Output {
        self.cotenant(arguments).output().unwrap()
    }

    /// The daemon's document.
    pub(crate) fn status(&self) -> serde_json::Value {
        let output = self.ask(&["status", "--format", "json"]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// A daemon that has its policy in force.
    pub(crate) fn daemon(&mut self, policy: &Path, more: &[&str]) -> u32 {
        let command = self.cotenant(&[&["enforce", policy.to_str().unwrap()], more].concat());
        self.daemon_of(command)
    }

    /// The same of a command that starts it in a way of the test's own.
    pub(crate) fn daemon_of(&mut self, mut command: Command) -> u32 {
        let log = fs::File::create(self.path("daemon.log")).unwrap();
        let pid = self.run(command.stderr(log).stdout(Stdio::null()));
        until(&format!("the daemon: {}", self.log()), || self.log().contains("the policy is in force"));
        pid
    }

    /// What the daemon said so far.
    pub(crate) fn log(&self) -> String {
        let mut text = String::new();
        if let Ok(mut file) = fs::File::open(self.path("daemon.log")) {
            file.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// Sends a signal to a process that this test started.
    pub(crate) fn signal(&self, pid: u32, signal: nix::sys::signal::Signal) {
        assert!(self.children.iter().any(|child| child.id() == pid));
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).unwrap();
    }

    /// Waits for the end of a process that this test started, and gives its exit code.
    pub(crate) fn end(&mut self, pid: u32) -> Option<i32> {
        let child = self.children.iter_mut().find(|child| child.id() == pid).unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "process {pid} does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Keeps something that must go when the processes have ended and no sooner, after a failure too.
    pub(crate) fn keep(&mut self, guard: impl std::any::Any) {
        self.kept.push(Box::new(guard));
    }

    /// The name of this test's control group.
    pub(crate) fn group(&self) -> &str {
        &self.group
    }

    /// Whether a control group of this test is left.
    pub(crate) fn has_groups(&self) -> bool {
        ["", "cpuset", "freezer"].iter().any(|tree| Path::new("/sys/fs/cgroup").join(tree).join(&self.group).exists())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Whatever failed: a daemon is asked to go, and a dead one's leavings are put back.
        let _ = self.ask(&["release"]);
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = self.ask(&["release"]);
    }
}

/// A group that is removed when the processes in it have ended.
pub(crate) struct Group(pub(crate) PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        // What has ended leaves its group a moment later.
        let end = Instant::now() + PATIENCE;
        while fs::remove_dir(&self.0).is_err() && self.0.exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads a process back from the kernel.
pub(crate) fn kernel(pid: u32) -> Kernel {
    // A name in it may be of any bytes.
    let read = |file: &str| String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{file}")).unwrap()).into_owned();
    let stat = read("stat");
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    // Numbered from 3 in the manual: nice is 19, rt_priority 40, policy 41.
    let field = |number: usize| fields[number - 3].trim();
    let status = read("status");
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    Kernel {
        policy: field(41).parse().unwrap(),
        priority: field(40).parse().unwrap(),
        nice: field(19).parse().unwrap(),
        cpus: cpus.trim().to_owned(),
    }
}

/// The CPUs of this host, lowest first.
pub(crate) fn online() -> Vec<u32> {
    let list = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let numbers = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    };
    list.trim().split(',').flat_map(numbers).collect()
}

/// The highest CPU, as a policy and the kernel write it.
pub(crate) fn last_cpu() -> String {
    online().last().unwrap().to_string()
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
