//! What a local user can do to be a nuisance: no crash, no growth without bound, nothing printed that a terminal obeys.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use super::stage::{Stage, kernel, stage, until};

/// Needs no account.
const USER: u32 = 64_126;

/// Resident memory of a process in kilobytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The daemon answers, in JSON and for people, and neither answer nor log holds anything that a terminal obeys.
fn is_sound(stage: &Stage) -> serde_json::Value {
    let status = stage.status();
    let text = stage.ask(&["status"]);
    assert!(text.status.success(), "{text:?}");
    for text in [String::from_utf8(text.stdout).unwrap(), stage.log()] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    status
}

fn ends_well(mut stage: Stage, daemon: u32) {
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    assert!(!stage.has_groups());
}

#[test]
fn names_of_any_bytes_are_placed_and_shown_as_harmless_text() {
    let Some(mut stage) = stage() else { return };
    fs::create_dir(stage.path("odd")).unwrap();
    let policy =
        stage.policy("p.policy", "class odd: match exe @/odd/*, nice 3; class other: match exe @/calm, nice 4;");
    let names: [&[u8]; 6] = [
        b"a\n  1 init",
        b"\x1b[2J\x1b]0;x\x07",
        b"\xff\xfe\x80",
        b") R 1 (y",
        b"tab\t\"\\",
        "\u{202e}tr\u{9b}2J".as_bytes(),
    ];
    let mut pids = Vec::new();
    let mut start = |stage: &mut Stage, name: &[u8]| {
        let path = stage.path("odd").join(OsStr::from_bytes(name));
        if !path.exists() {
            fs::copy("/bin/sleep", &path).unwrap();
        }
        let pid = stage.run(Command::new(&path).arg("120").uid(USER).gid(USER));
        until("its exec", || fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == path));
        pids.push(pid);
        pid
    };
    for name in names {
        start(&mut stage, name);
    }
    let daemon = stage.daemon(&policy, &[]);
    for name in names {
        let pid = start(&mut stage, name);
        until("its place", || kernel(pid).nice == 3);
    }
    assert!(pids.iter().all(|pid| kernel(*pid).nice == 3));
    let status = is_sound(&stage);
    assert_eq!(status["classes"][0]["members"].as_array().unwrap().len(), pids.len(), "{status:#}");
    let text = String::from_utf8(stage.ask(&["status"]).stdout).unwrap();
    assert!(text.contains("a?  1 init"), "on the line of its process: {text}");
    // What the journal says of them is read by the next start.
    stage.signal(daemon, Signal::SIGKILL);
    stage.end(daemon);
    assert!(stage.ask(&["release"]).status.success());
    assert!(pids.iter().all(|pid| kernel(*pid).nice == 0));
}

#[test]
fn arguments_of_megabytes_are_looked_at_without_being_kept() {
    let Some(mut stage) = stage() else { return };
    let shell = stage.program("shell", "/bin/sh");
    let policy =
        stage.policy("p.policy", "class a: match arg cotenant-needle, nice 3; class b: match exe @/shell, nice 4;");
    let daemon = stage.daemon(&policy, &[]);
    // The kernel allows 128 KiB an argument, and 2 MiB of all.
    let long = "x".repeat(120 << 10);
    let crowd = |stage: &mut Stage| {
        for _ in 0..10 {
            let mut command = Command::new(&shell);
            command.args(["-c", "read never < $0", stage.path("pipe").to_str().unwrap()]).args(vec![&long; 14]);
            let pid = stage.run(command.arg("cotenant-needle").uid(USER).gid(USER));
            // The needle is behind what is read.
            until("its place", || kernel(pid).nice == 4);
        }
    };
    nix::unistd::mkfifo(&stage.path("pipe"), nix::sys::stat::Mode::from_bits_truncate(0o644)).unwrap();
    crowd(&mut stage);
    let before = resident(daemon);
    (0..4).for_each(|_| crowd(&mut stage));
    let grown = resident(daemon).saturating_sub(before);
    assert!(grown < 8 << 10, "40 processes with 68 MB of arguments cost the daemon {grown} kB");
    is_sound(&stage);
    ends_well(stage, daemon);
}

#[test]
fn programs_that_execute_each_other_end_where_they_belong() {
    let Some(mut stage) = stage() else { return };
    let (a, b) = (stage.program("ping", "/bin/sh"), stage.program("pong", "/bin/sh"));
    let policy = stage.policy("p.policy", "class a: match exe @/ping, nice 3; class b: match exe @/pong, nice 4;");
    let daemon = stage.daemon(&policy, &[]);
    // $0 is the script, $1 what to execute next, $2 what after that, $3 how often.
    let script = stage.path("turn");
    fs::write(&script, "[ $3 = 0 ] && while :; do sleep 60; done\nexec $1 $0 $2 $1 $(($3 - 1))\n").unwrap();
    let turns = |stage: &mut Stage, times: u32| {
        stage.run(Command::new(&a).arg(&script).arg(&b).arg(&a).arg(times.to_string()).uid(USER).gid(USER))
    };
    let pids: Vec<(u32, i32)> = (0..6).map(|n| (turns(&mut stage, 400 + n), if n % 2 == 0 { 3 } else { 4 })).collect();
    for (pid, nice) in &pids {
        let end = if *nice == 3 { &a } else { &b };
        let last = || {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
            line.ends_with(b"\x000\0") && fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == *end)
        };
        until("the last exec", last);
        until("its place", || kernel(*pid).nice == *nice);
    }
    let journal = fs::metadata(stage.path("run/journal")).unwrap().len();
    assert!(journal < 1 << 20, "{journal} bytes of journal");
    assert!(stage.log().lines().count() < 50, "{}", stage.log());
    is_sound(&stage);
    ends_well(stage, daemon);
}

#[test]
fn two_thousand_threads_are_placed_and_put_back() {
    let Some(mut stage) = stage() else { return };
    let Some(python) = ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists())
    else {
        return eprintln!("passed over: no python3 to make threads with");
    };
    let script = "import threading, time\n\
        threading.stack_size(65536)\n\
        [threading.Thread(target=time.sleep, args=(600,), daemon=True).start() for _ in range(2000)]\n\
        time.sleep(600)\n";
    let policy = stage.policy("p.policy", "class many: match arg @/mark, on cpu 0, nice 3;");
    let daemon = stage.daemon(&policy, &[]);
    let pid = stage.run(Command::new(python).args(["-c", script]).arg(stage.path("mark")).uid(USER).gid(USER));
    let tids = || -> Vec<u32> {
        let entries = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    };
    until("its threads", || tids().len() == 2001);
    let placed = |tid: &u32| kernel(*tid).nice == 3 && kernel(*tid).cpus == "0";
    until("their places", || tids().iter().all(placed));
    let class = is_sound(&stage)["classes"][0].clone();
    assert_eq!((&class["threads"], &class["conforming"]), (&2001.into(), &2001.into()));
    let memory = resident(daemon);
    assert!(memory < 64 << 10, "{memory} kB");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    let before = kernel(std::process::id());
    assert!(tids().iter().all(|tid| kernel(*tid).nice == 0 && kernel(*tid).cpus == before.cpus));
}

/// Groups one in the other, removed from the innermost on, also where making them failed.
struct Nested {
    groups: Vec<PathBuf>,
}

impl Nested {
    /// Names of 250 bytes that a terminal would obey, as deep as a path may be: 4,096 bytes (PATH_MAX of limits.h).
    fn make(root: &Path, own: &str) -> Nested {
        let mut nested = Nested { groups: vec![root.join(format!("{own}-deep"))] };
        fs::create_dir(&nested.groups[0]).unwrap();
        fs::write(nested.groups[0].join("cgroup.clone_children"), "1").unwrap();
        for file in ["cpuset.cpus", "cpuset.mems"] {
            fs::write(nested.groups[0].join(file), fs::read(root.join(file)).unwrap()).unwrap();
        }
        let name = format!("\u{1b}[2J\t{}", "n".repeat(244));
        while nested.groups.last().unwrap().as_os_str().len() < 3_700 {
            let next = nested.groups.last().unwrap().join(&name);
            fs::create_dir(&next).unwrap();
            nested.groups.push(next);
        }
        nested
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        for group in self.groups.iter().rev() {
            // A process that was just ended leaves its group a moment later.
            let end = std::time::Instant::now() + super::stage::PATIENCE;
            while fs::remove_dir(group).is_err() && group.exists() && std::time::Instant::now() < end {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
    }
}

#[test]
fn a_path_of_groups_as_long_as_can_be_is_worked_with() {
    let root = Path::new("/sys/fs/cgroup/cpuset");
    if !root.join("cpuset.cpus").exists() {
        return eprintln!("passed over: no cpuset tree of version 1 to nest groups in");
    }
    let Some(mut stage) = stage() else { return };
    let nested = Nested::make(root, stage.group());
    let innermost = nested.groups.last().unwrap().clone();
    stage.keep(nested);
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    fs::write(innermost.join("cgroup.procs"), pid.to_string()).unwrap();
    let policy =
        stage.policy("p.policy", "class web: match exe @/web, on cpu 0, nice 3; class c: match cgroup \"/**/no\";");
    let daemon = stage.daemon(&policy, &[]);
    assert_eq!((kernel(pid).nice, kernel(pid).cpus.as_str()), (3, "0"), "{}", stage.log());
    is_sound(&stage);
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    assert_eq!(kernel(pid), before);
    let lists = fs::read_to_string(format!("/proc/{pid}/cgroup"));
    assert!(lists.is_err() || lists.unwrap().contains("-deep/"), "nobody moved it");
}
