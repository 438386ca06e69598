//! The unit in `packaging/systemd`: correct, confined, and the daemon works in what it leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::Signal;

use super::stage::{IDLE, RR, kernel, last_cpu, stage, until};

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/systemd/cotenant.service");

/// The highest exposure that is accepted, in tenths: `systemd-analyze security` has 0 for none and 100 for all.
const EXPOSURE: &str = "--threshold=29";

fn value(unit: &str, key: &str) -> String {
    let found = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("no {key}")).to_owned()
}

/// None where systemd's tool is not there, which is said.
fn analyze(arguments: &[&str]) -> Option<std::process::Output> {
    let output = Command::new("systemd-analyze").args(arguments).env("SYSTEMD_COLORS", "0").output();
    output.inspect_err(|error| eprintln!("passed over: systemd-analyze: {error}")).ok()
}

#[test]
fn systemd_finds_no_mistake_and_little_exposure_in_the_unit() {
    // With a program that is there.
    let directory = tempfile::tempdir().unwrap();
    let unit = directory.path().join("cotenant.service");
    let text = fs::read_to_string(UNIT).unwrap().replace("/usr/bin/cotenant", env!("CARGO_BIN_EXE_cotenant"));
    fs::write(&unit, text).unwrap();
    let unit = unit.to_str().unwrap();
    let Some(verified) = analyze(&["verify", unit]) else { return };
    assert!(verified.status.success() && verified.stderr.is_empty(), "{}", String::from_utf8_lossy(&verified.stderr));
    let security = analyze(&["security", "--offline=yes", EXPOSURE, unit]).unwrap();
    assert!(security.status.success(), "{}", String::from_utf8_lossy(&security.stdout));
}

#[test]
fn the_unit_gives_what_the_daemon_keeps() {
    let unit = fs::read_to_string(UNIT).unwrap();
    let given = value(&unit, "CapabilityBoundingSet");
    let mut given: Vec<String> = given.split(' ').map(|name| name.trim_start_matches("CAP_").to_lowercase()).collect();
    given.sort_unstable();
    let mut kept: Vec<&str> =
        super::privilege::KEPT.iter().chain([&super::privilege::DAC_OVERRIDE]).map(|it| it.1).collect();
    kept.sort_unstable();
    assert_eq!(given, kept);
    // Else the journal goes with a daemon that crashed, and the way back with it.
    assert_eq!(value(&unit, "RuntimeDirectoryPreserve"), "yes");
    assert_eq!(value(&unit, "RuntimeDirectoryMode"), "0750");
}

/// Mounts as the unit's, and its capabilities. $1 is the run directory, and the rest the command.
const CONFINE: &str = r#"set -e
run=$1; capabilities=$2; shift 2
mount --bind "$run" "$run"
mount -o remount,bind,ro /
mount -o remount,bind,ro /sys
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount --bind /dev/null /proc/kallsyms
if touch "$run/../written" 2>/dev/null; then echo "not read-only" >&2; exit 1; fi
exec setpriv --no-new-privs --inh-caps=-all "--bounding-set=-all$capabilities" "$@"
"#;

#[test]
fn the_daemon_works_with_the_mounts_capabilities_and_system_calls_of_the_unit() {
    let Some(mut stage) = stage() else { return };
    if analyze(&["syscall-filter", "@system-service"]).is_none() {
        return;
    }
    let text = format!(
        "require: linux 5.10;
         rt class web: match exe @/web, on cpu {}, priority 3;
         batch: match exe @/batch, only when core idle;",
        last_cpu()
    );
    let policy = stage.policy("p.policy", &text);
    let program = stage.program("web", "/bin/sleep");
    let web = stage.run(Command::new(&program).arg("120").uid(64_127).gid(64_127));
    until("its exec", || fs::read_link(format!("/proc/{web}/exe")).is_ok_and(|exe| exe == program));
    let batch = stage.sleeper("batch");
    let before = (kernel(web), kernel(batch));
    let run = stage.path("run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o750)).unwrap();
    let unit = fs::read_to_string(UNIT).unwrap();
    let capabilities = value(&unit, "CapabilityBoundingSet").replace("CAP_", "+").replace(' ', ",").to_lowercase();
    let filter = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/live/sandbox.py");
    let confined = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", CONFINE, "sh"]).arg(&run).arg(format!(",{capabilities}"));
        command.args(["python3", filter, UNIT]).args(arguments).env("NO_COLOR", "1");
        command
    };
    let probe = confined(&["/bin/true"]).output().unwrap();
    if !probe.status.success() {
        assert!(probe.status.code() == Some(77) || !std::path::Path::new("/usr/bin/python3").exists(), "{probe:?}");
        return eprintln!("passed over: no python3 or headers of the kernel to make a filter with");
    }
    let arguments =
        ["enforce", policy.to_str().unwrap(), "--topology", "pack:1 core:1 pu:2", "--run-dir", run.to_str().unwrap()];
    let command = confined(&[&[env!("CARGO_BIN_EXE_cotenant")], &arguments[..], &["--group", stage.group()]].concat());
    let daemon = stage.daemon_of(command);
    let status = fs::read_to_string(format!("/proc/{daemon}/status")).unwrap();
    assert!(status.contains("Seccomp:\t2\n") && status.contains("NoNewPrivs:\t1\n"), "{status}");
    assert_eq!((kernel(web).policy, kernel(web).priority, kernel(web).cpus), (RR, 3, last_cpu()), "{}", stage.log());
    assert_eq!(kernel(batch).policy, IDLE);
    assert!(!stage.log().contains("WARN"), "{}", stage.log());
    // A change of the files outside is seen inside.
    stage.policy("p.policy", &text.replace("priority 3", "priority 4"));
    until("the change", || kernel(web).priority == 4);
    stage.signal(daemon, Signal::SIGHUP);
    until("the reload", || stage.log().contains("read again"));
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    assert_eq!((kernel(web), kernel(batch)), before);
    assert!(!stage.has_groups());
}
