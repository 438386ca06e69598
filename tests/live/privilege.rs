//! The daemon with exactly the capabilities that it keeps, and with each of them taken away.
//!
//! setpriv(1) gives a daemon of root a bounding set, and one of another user ambient capabilities, as the unit in
//! `packaging/systemd` would.

use std::fs::{self, Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;

use super::stage::{IDLE, OTHER, RR, Stage, kernel, last_cpu, stage, until};

/// Capability numbers and names as of capabilities(7), and setpriv(1).
pub(crate) const KEPT: [(u32, &str); 5] =
    [(23, "sys_nice"), (19, "sys_ptrace"), (12, "net_admin"), (39, "bpf"), (38, "perfmon")];
pub(crate) const DAC_OVERRIDE: (u32, &str) = (1, "dac_override");

const ROOT: u32 = 0;
/// Whom the daemon is run as, and whose processes are placed; neither needs an account.
const DAEMON: u32 = 64_123;
const OTHER_USER: u32 = 64_124;

fn is_version_1() -> bool {
    Path::new("/sys/fs/cgroup/cpuset/cpuset.cpus").exists()
}

/// What is kept by a daemon of this user here.
fn kept(user: u32) -> Vec<(u32, &'static str)> {
    let dac = (user == ROOT && is_version_1()).then_some(DAC_OVERRIDE);
    KEPT.into_iter().chain(dac).collect()
}

/// A line of `/proc/PID/status` as a number.
fn mask(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
}

/// `enforce` by this user with these capabilities and no others.
fn enforce(stage: &Stage, user: u32, capabilities: &[&str], policy: &Path, more: &[&str]) -> Command {
    let run = stage.path("run");
    if !run.exists() {
        fs::create_dir(&run).unwrap();
        set_permissions(&run, Permissions::from_mode(0o750)).unwrap();
        chown(&run, Some(user), Some(user)).unwrap();
    }
    // Where any user may run it.
    let binary = stage.program("cotenant", env!("CARGO_BIN_EXE_cotenant"));
    set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    let set: String = capabilities.iter().map(|name| format!(",+{name}")).collect();
    let mut command = Command::new("setpriv");
    command
        .arg(format!("--bounding-set=-all{set}"))
        .arg(format!("--inh-caps=-all{}", if user == ROOT { "" } else { &set }));
    if user != ROOT {
        command.arg(format!("--ambient-caps=-all{set}")).arg("--clear-groups");
        command.args(["--reuid", &user.to_string(), "--regid", &user.to_string()]);
    }
    command
        .arg(binary)
        .arg("enforce")
        .arg(policy)
        .args(more)
        .arg("--run-dir")
        .arg(run)
        .args(["--group", stage.group()]);
    command.env("NO_COLOR", "1").env_remove("COTENANT_LOG");
    command
}

/// A sleeping process of another user.
fn stranger(stage: &mut Stage, name: &str) -> u32 {
    let program = stage.program(name, "/bin/sleep");
    let pid = stage.run(Command::new(&program).arg("120").uid(OTHER_USER).gid(OTHER_USER));
    let exe = format!("/proc/{pid}/exe");
    until("its exec", || fs::read_link(&exe).is_ok_and(|exe| exe == program));
    pid
}

fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn keeps_these_alone(daemon: u32, user: u32) {
    // What this host does not let anybody have, as in a container, the daemon has not either.
    let ours = mask(&fs::read_to_string("/proc/self/status").unwrap(), "CapBnd");
    let wanted = kept(user).iter().fold(0, |mask, (number, _)| mask | 1 << number) & ours;
    for task in fs::read_dir(format!("/proc/{daemon}/task")).unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        for (set, content) in [
            ("CapEff", wanted),
            ("CapPrm", wanted),
            ("CapBnd", wanted),
            ("CapInh", 0),
            ("CapAmb", 0),
            ("NoNewPrivs", 1),
        ] {
            assert_eq!(mask(&status, set), content, "{set} of {status}");
        }
    }
}

#[test]
fn a_daemon_that_root_starts_gives_up_all_but_what_it_needs() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "batch: match exe @/batch, only when core idle;");
    // The sensor's threads and the watcher's count too.
    let daemon = stage.daemon(&policy, &["--topology", "pack:1 core:1 pu:2"]);
    keeps_these_alone(daemon, ROOT);
}

/// Real-time, masks, an idle policy and the sensor, on processes of somebody else that are there or come later.
fn places_processes_of_others(user: u32) {
    let Some(mut stage) = stage() else { return };
    let cpu = last_cpu();
    let text = format!(
        "rt class web: match exe @/web, on cpu {cpu}, priority 7;
         class nice: match exe @/nice, on cpu 0, nice -5;
         batch: match exe @/batch, only when core idle;"
    );
    let policy = stage.policy("p.policy", &text);
    let there: Vec<u32> = ["web", "nice", "batch"].iter().map(|name| stranger(&mut stage, name)).collect();
    let before: Vec<_> = there.iter().map(|pid| kernel(*pid)).collect();
    let has_sensor = {
        let probe = stage.ask(&["enforce", "/nowhere", "--eyes", "sensor"]);
        !String::from_utf8_lossy(&probe.stderr).contains("sensor's BPF program")
    };
    let names: Vec<&str> = kept(user).iter().map(|(_, name)| *name).collect();
    let command = enforce(&stage, user, &names, &policy, &["--topology", "pack:1 core:1 pu:2"]);
    let daemon = stage.daemon_of(command);
    keeps_these_alone(daemon, user);
    let [web, nice, batch] = there[..] else { unreachable!() };
    let is_web = |pid| (kernel(pid).policy, kernel(pid).priority, kernel(pid).cpus) == (RR, 7, cpu.clone());
    assert!(is_web(web), "{:?}: {}", kernel(web), stage.log());
    assert_eq!((kernel(nice).policy, kernel(nice).nice, kernel(nice).cpus.as_str()), (OTHER, -5, "0"));
    assert_eq!(kernel(batch).policy, IDLE);
    let later = stranger(&mut stage, "web");
    until("the later one", || is_web(later));
    // Only root can move other users' processes on version 1.
    let warnings = usize::from(user != ROOT && is_version_1());
    assert_eq!(stage.log().matches("WARN").count(), warnings, "{}", stage.log());
    assert_eq!(stage.log().matches("get an affinity instead").count(), warnings);
    let status = stage.status();
    assert_eq!(status["daemon"]["eyes"], if has_sensor { "sensor" } else { "tick loop" }, "{status:#}");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    assert_eq!(there.iter().map(|pid| kernel(*pid)).collect::<Vec<_>>(), before);
    assert_eq!(kernel(later), before[0]);
    assert!(!stage.has_groups());
}

#[test]
fn root_with_these_capabilities_alone_places_processes_of_others() {
    places_processes_of_others(ROOT);
}

#[test]
fn another_user_with_these_capabilities_places_processes_of_others() {
    places_processes_of_others(DAEMON);
}

#[test]
fn without_the_right_to_schedule_the_daemon_does_not_start() {
    let Some(stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web;");
    for user in [ROOT, DAEMON] {
        let output = enforce(&stage, user, &["sys_ptrace", "net_admin"], &policy, &[]).output().unwrap();
        let said = refusal(&output);
        assert!(said.contains("CAP_SYS_NICE is missing") && said.contains("AmbientCapabilities"), "{said}");
        fs::remove_dir_all(stage.path("run")).unwrap();
    }
}

#[test]
fn without_the_right_to_look_programs_of_others_match_nothing_and_that_is_said() {
    let Some(mut stage) = stage() else { return };
    let policy =
        stage.policy("p.policy", "class e: match exe @/web, nice 3; class c: match comm cotenant-test, nice 4;");
    let (by_exe, by_comm) = (stranger(&mut stage, "web"), stranger(&mut stage, "cotenant-test"));
    let command = enforce(&stage, DAEMON, &["sys_nice", "net_admin"], &policy, &[]);
    stage.daemon_of(command);
    assert_eq!((kernel(by_exe).nice, kernel(by_comm).nice), (0, 4));
    let log = stage.log();
    assert!(log.contains("match no `exe`") && log.contains("CAP_SYS_PTRACE is missing"), "{log}");
}

#[test]
fn without_the_right_to_administer_nets_the_small_buffer_is_said() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class e: match exe @/web, nice 3;");
    let web = stranger(&mut stage, "web");
    let mut command = enforce(&stage, DAEMON, &["sys_nice", "sys_ptrace"], &policy, &[]);
    // Before Linux 6.6 there are no events at all without it (drivers/connector/cn_proc.c).
    let before_6_6 = {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        (numbers.next(), numbers.next()) < (Some(6), Some(6))
    };
    if before_6_6 {
        let said = refusal(&command.output().unwrap());
        return assert!(said.contains("needs root or CAP_NET_ADMIN"), "{said}");
    }
    stage.daemon_of(command);
    assert_eq!(kernel(web).nice, 3);
    let log = stage.log();
    assert!(log.contains("CAP_NET_ADMIN is missing"), "{log}");
}

#[test]
fn without_the_right_to_override_modes_processes_stay_in_their_groups() {
    let Some(mut stage) = stage() else { return };
    if !is_version_1() {
        return eprintln!("passed over: version 2 of control groups, where nobody is moved");
    }
    let policy = stage.policy("p.policy", &format!("rt class web: match exe @/web, on cpu {};", last_cpu()));
    let web = stranger(&mut stage, "web");
    let cgroups = || fs::read_to_string(format!("/proc/{web}/cgroup")).unwrap();
    let (before, groups) = (kernel(web), cgroups());
    let names: Vec<&str> = KEPT.iter().map(|(_, name)| *name).collect();
    let command = enforce(&stage, ROOT, &names, &policy, &[]);
    let daemon = stage.daemon_of(command);
    assert_eq!((kernel(web).policy, kernel(web).cpus), (RR, last_cpu()));
    assert_eq!(cgroups(), groups);
    let log = stage.log();
    assert!(log.contains("get an affinity instead") && log.contains("needs root with CAP_DAC_OVERRIDE"), "{log}");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(web), before);
}

#[test]
fn without_the_right_to_load_programs_the_tick_loop_watches() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "batch: match exe @/batch, only when core idle;");
    for (without, rest) in [("bpf", "perfmon"), ("perfmon", "bpf")] {
        let capabilities = ["sys_nice", "sys_ptrace", "net_admin", rest];
        let command = enforce(&stage, DAEMON, &capabilities, &policy, &["--topology", "pack:1 core:1 pu:2"]);
        let daemon = stage.daemon_of(command);
        assert_eq!(stage.status()["daemon"]["eyes"], "tick loop", "without {without}");
        let log = stage.log();
        assert!(log.contains("the tick loop watches instead"), "{log}");
        stage.signal(daemon, Signal::SIGTERM);
        assert_eq!(stage.end(daemon), Some(0));
    }
}

#[test]
fn a_file_that_gives_its_privileges_to_anybody_is_refused() {
    let Some(stage) = stage() else { return };
    let policy = stage.policy("p.policy", "rt class web: match exe @/web;");
    let binary = stage.program("lent", env!("CARGO_BIN_EXE_cotenant"));
    set_permissions(&binary, Permissions::from_mode(0o4755)).unwrap();
    for arguments in
        [vec!["release"], vec!["apply", policy.to_str().unwrap()], vec!["enforce", policy.to_str().unwrap()]]
    {
        let mut command = Command::new(&binary);
        command.args(&arguments).arg("--run-dir").arg(stage.path("run")).uid(OTHER_USER).gid(OTHER_USER);
        let output = loop {
            match command.output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
                output => break output.unwrap(),
            }
        };
        let said = refusal(&output);
        assert!(said.contains("gives its privileges to whoever runs it"), "{arguments:?}: {said}");
        assert!(said.contains("setcap -r"), "{said}");
    }
    assert!(!stage.path("run").exists());
}
