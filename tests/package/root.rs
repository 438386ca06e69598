//! A Debian in a directory, with the host's processes and control groups, in mounts of its own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::deb::{debian, write_as};

/// The longest that anything here may take; a test that needs it has found a mistake.
const PATIENCE: Duration = Duration::from_secs(60);

/// What dpkg and its helpers write of every package, and what this test itself brings.
const OF_DPKG: [&str; 4] = ["/var/lib/dpkg/", "/var/log/", "/var/cache/", "/usr/local/bin/"];

pub(crate) struct Root {
    directory: tempfile::TempDir,
    /// Holds the mounts: they go when it does.
    holder: Child,
    children: Vec<Child>,
    /// The control group of its daemons.
    group: String,
}

/// The CPUs a process may have, by the kernel's word.
pub(crate) fn affinity(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    line.trim().to_owned()
}

/// What the group is called where nobody says otherwise.
const USUAL_GROUP: &str = "cotenant";

/// Mounts, and a process that keeps them.
const HOLD: &str = r#"set -e
mount --rbind /proc "$1/proc"; mount --rbind /sys "$1/sys"
echo ready; exec sleep infinity"#;

impl Root {
    /// A fresh copy.
    pub(crate) fn new() -> Root {
        assert!(nix::unistd::geteuid().is_root(), "dpkg and placing need root");
        let directory = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").args(["-a", "-T"]).arg(debian()).arg(directory.path().join("root")).status();
        assert!(copied.unwrap().success());
        let mut holder = Command::new("unshare");
        holder.args(["--mount", "sh", "-c", HOLD, "sh"]).arg(directory.path().join("root"));
        let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.take().unwrap()), &mut line).unwrap();
        assert_eq!(line, "ready\n", "the mounts");
        let group = format!("cotenant-package-{}", holder.id());
        Root { directory, holder, children: Vec::new(), group }
    }

    /// With the control group that the package's own commands know of, which must not be in use here.
    pub(crate) fn with_usual_group() -> Root {
        let trees = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/freezer"];
        let used = trees.iter().find(|tree| Path::new(tree).join(USUAL_GROUP).exists());
        assert!(used.is_none(), "a daemon works on this host, or `cotenant release` is due: {used:?}");
        let mut root = Root::new();
        root.group = USUAL_GROUP.to_owned();
        root
    }

    /// Where a file of it is on the host.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        // In one step: a daemon that watches sees all of it or nothing.
        let new = self.path("/root/new");
        fs::write(&new, text).unwrap();
        fs::rename(&new, self.path(path)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_dir_all(self.path(path)).unwrap();
    }

    /// All that is there with its kind and mode, but for what dpkg keeps of its own.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        let mut open = vec![self.path("")];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
                let (path, about) = (entry.path(), entry.path().symlink_metadata().unwrap());
                let name = format!("/{}", path.strip_prefix(self.path("")).unwrap().display());
                if name == "/proc" || name == "/sys" || OF_DPKG.iter().any(|other| name.starts_with(other)) {
                    continue;
                }
                files.insert(format!("{:o} {name}", about.mode()));
                if about.is_dir() {
                    open.push(path);
                }
            }
        }
        files
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--mount", "chroot"]).arg(self.path(""));
        command.args(arguments).stdin(Stdio::null()).env_clear();
        command
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("NO_COLOR", "1")
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    /// Runs a command to its good end, and gives all it said.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let said = String::from_utf8([stdout, stderr].concat()).unwrap();
        assert!(status.success(), "{arguments:?}: {status}\n{said}");
        said
    }

    /// Installs the package as if it were of that version.
    pub(crate) fn install(&self, version: &str) -> String {
        let deb = self.path("/root/cotenant.deb");
        write_as(version, &deb);
        let said = self.run(&["dpkg", "--install", "/root/cotenant.deb"]);
        fs::remove_file(deb).unwrap();
        said
    }

    /// State and version, as dpkg has them.
    pub(crate) fn version(&self) -> String {
        self.run(&["dpkg-query", "--show", "--showformat", "${Status} ${Version}", "cotenant"])
    }

    /// A process of a program that is in this root alone.
    pub(crate) fn member(&mut self) -> u32 {
        let program = "/usr/local/bin/package-test";
        fs::copy(self.path("/usr/bin/sleep"), self.path(program)).unwrap();
        let mut command = self.command(&[program, "600"]);
        let pid = self.start(&mut command);
        self.until("its exec", || {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "package-test\n")
        });
        pid
    }

    /// The daemon as the unit starts it, when its policy is in force.
    pub(crate) fn daemon(&mut self) -> u32 {
        let log = fs::File::create(self.directory.path().join("log")).unwrap();
        let group = self.group.clone();
        let mut command = self.command(&["cotenant", "enforce", "/etc/cotenant/policies", "--group", &group]);
        let pid = self.start(command.stderr(log));
        self.until("the daemon", || {
            let log = fs::read_to_string(self.directory.path().join("log")).unwrap();
            assert!(!log.contains("error"), "{log}");
            log.contains("the policy is in force")
        });
        pid
    }

    fn start(&mut self, command: &mut Command) -> u32 {
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        self.children.push(child);
        pid
    }

    /// Waits for the end of a process that this test started, and gives its exit code.
    pub(crate) fn end(&mut self, pid: u32) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        while self.runs(pid) {
            assert!(Instant::now() < end, "process {pid} does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        let child = self.children.iter_mut().find(|child| child.id() == pid).unwrap();
        child.wait().unwrap().code()
    }

    /// Whether a process that this test started has not ended.
    pub(crate) fn runs(&mut self, pid: u32) -> bool {
        let child = self.children.iter_mut().find(|child| child.id() == pid).unwrap();
        child.try_wait().unwrap().is_none()
    }

    /// Kills a process that this test started, without giving it time for anything.
    pub(crate) fn kill(&mut self, pid: u32) {
        let child = self.children.iter_mut().find(|child| child.id() == pid).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !so() {
            assert!(Instant::now() < end, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Whatever failed: what a daemon did is undone, also where the package is not there any more.
        let mut release = Command::new(env!("CARGO_BIN_EXE_cotenant"));
        let run = self.path("/run/cotenant");
        if run.exists() {
            let _ = release.args(["release", "--group", &self.group, "--run-dir"]).arg(run).output();
        }
        for child in self.children.iter_mut().chain([&mut self.holder]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
