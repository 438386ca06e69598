//! What a pod has that a host has not: a ConfigMap that is swapped, and a cgroup namespace of its own.

use std::fs::{self, Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use super::stage::{Group, RR, Stage, kernel, last_cpu, stage, until};

const TEXT: &str = "rt class web: match exe @/web, priority ";

/// Writes one version as the kubelet does: a directory of its own, then the link to it renamed over the last one, and that
/// one's directory removed. See `pkg/volume/util/atomic_writer.go` of Kubernetes.
fn project(stage: &Stage, version: &str, text: &str) {
    let volume = stage.path("policies");
    let directory = volume.join(version);
    fs::create_dir(&directory).unwrap();
    set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    fs::write(directory.join("node.policy"), stage.text(text)).unwrap();
    set_permissions(directory.join("node.policy"), Permissions::from_mode(0o644)).unwrap();
    let before = fs::read_link(volume.join("..data"));
    symlink(version, volume.join("..data_tmp")).unwrap();
    fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
    match before {
        Ok(before) => fs::remove_dir_all(volume.join(before)).unwrap(),
        Err(_) => symlink("..data/node.policy", volume.join("node.policy")).unwrap(),
    }
}

#[test]
fn a_projected_config_map_is_trusted_and_its_swaps_are_seen() {
    let Some(mut stage) = stage() else { return };
    let volume = stage.path("policies");
    fs::create_dir(&volume).unwrap();
    project(&stage, "..2026_01_01_00_00_00.1", &format!("{TEXT}3;"));
    let pid = stage.sleeper("web");
    // As the kubelet makes a `configMap` volume: everybody may put a policy there.
    set_permissions(&volume, Permissions::from_mode(0o777)).unwrap();
    let refused = stage.ask(&["enforce", volume.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("can be written by others"), "{said}");
    // And a `projected` one, which is a tmpfs.
    set_permissions(&volume, Permissions::from_mode(0o1777)).unwrap();
    stage.daemon(&volume, &[]);
    assert_eq!(kernel(pid).priority, 3);
    project(&stage, "..2026_01_01_00_01_00.2", &format!("{TEXT}4;"));
    until("the second version", || kernel(pid).priority == 4);
    // A version that is wrong changes nothing, and the one after it is seen all the same.
    project(&stage, "..2026_01_01_00_02_00.3", &format!("{TEXT}400;"));
    until("the refusal", || stage.status()["daemon"]["last_reload"]["outcome"] == "refused");
    assert_eq!(kernel(pid).priority, 4);
    project(&stage, "..2026_01_01_00_03_00.4", &format!("{TEXT}5;"));
    until("the fourth version", || kernel(pid).priority == 5);
}

/// Where version 2 of control groups is mounted; none where it is not, which is said.
fn version_2() -> Option<&'static Path> {
    let trees = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let found = trees.into_iter().map(Path::new).find(|tree| tree.join("cgroup.controllers").exists());
    found.or_else(|| {
        eprintln!("passed over: no version 2 of control groups");
        None
    })
}

/// Groups of the test's own, one for an engine and one for pods, below one whose name is given, too.
fn groups(stage: &mut Stage, tree: &Path) -> (String, PathBuf, PathBuf) {
    let above = format!("{}-pods", stage.group());
    let groups = ["engine", "burstable", ""].map(|name| tree.join(&above).join(name));
    groups.iter().for_each(|group| fs::create_dir_all(group).unwrap());
    groups.iter().for_each(|group| stage.keep(Group(group.clone())));
    let [engine, burstable, _] = groups;
    (above, engine, burstable)
}

/// `enforce` as a container engine starts it: in a group, which is then the root of its namespace.
fn contained(stage: &Stage, policy: &Path, engine: &Path, how: &[&str], prepare: &str) -> Command {
    let enforce = stage.cotenant(&["enforce", policy.to_str().unwrap()]);
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > \"$0\" && exec unshare --cgroup \"$@\""]).arg(engine.join("cgroup.procs"));
    command.args(how).args(["sh", "-c", &format!("{prepare} exec \"$@\""), "sh"]);
    command.arg(enforce.get_program()).args(enforce.get_args()).env("NO_COLOR", "1");
    command
}

const BLIND: &str = "cannot find the host's groups in /sys/fs/cgroup";

#[test]
fn groups_have_their_paths_on_the_host_in_a_cgroup_namespace_too() {
    let (Some(mut stage), Some(tree)) = (stage(), version_2()) else { return };
    let (above, engine, burstable) = groups(&mut stage, tree);
    let (there, elsewhere) = (stage.sleeper("web"), stage.sleeper("web"));
    fs::write(burstable.join("cgroup.procs"), there.to_string()).unwrap();
    let text = format!("class web: match exe @/web and cgroup \"/{above}/burstable\", nice 3;");
    let policy = stage.policy("p.policy", &text);
    let command = contained(&stage, &policy, &engine, &[], "");
    let daemon = stage.daemon_of(command);
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/cgroup")).unwrap();
    assert_ne!(namespace(&daemon.to_string()), namespace("self"));
    assert_eq!((kernel(there).nice, kernel(elsewhere).nice), (3, 0));
    let why = stage.ask(&["why", &there.to_string()]);
    assert!(String::from_utf8_lossy(&why.stdout).contains(&format!("/{above}/burstable")), "{why:?}");
    assert!(!stage.log().contains(BLIND), "{}", stage.log());
}

#[test]
fn a_container_that_does_not_see_the_hosts_groups_is_told_so() {
    let (Some(mut stage), Some(tree)) = (stage(), version_2()) else { return };
    let (above, engine, burstable) = groups(&mut stage, tree);
    let (web, batch) = (stage.sleeper("web"), stage.sleeper("batch"));
    fs::write(burstable.join("cgroup.procs"), web.to_string()).unwrap();
    let text = format!(
        "class web: match exe @/web and cgroup \"/{above}/**\", nice 3; class other: match exe @/batch, nice 4;"
    );
    let policy = stage.policy("p.policy", &text);
    // What an engine mounts for a container by itself: the namespace's own groups.
    let tree = tree.display();
    let mount = format!("umount -l {tree} && mount -t cgroup2 cgroup2 {tree} &&");
    let command = contained(&stage, &policy, &engine, &["--mount"], &mount);
    stage.daemon_of(command);
    assert_eq!((kernel(web).nice, kernel(batch).nice), (0, 4));
    let log = stage.log();
    assert!(log.contains(BLIND) && log.contains("mount the host's /sys/fs/cgroup"), "{log}");
}

/// Names of the capabilities that the manifest adds, as setpriv(1) has them.
fn given() -> String {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/kubernetes/base/daemon-set.yaml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let added = manifest.split("add:\n").nth(1).unwrap().lines().map_while(|line| line.trim().strip_prefix("- "));
    added.map(|name| format!(",+{}", name.to_lowercase())).collect()
}

#[test]
fn the_daemon_works_with_what_the_pod_gives_it_and_finds_what_the_last_pod_left() {
    let (Some(mut stage), Some(tree)) = (stage(), version_2()) else { return };
    let (above, engine, burstable) = groups(&mut stage, tree);
    let web = stage.sleeper("web");
    fs::write(burstable.join("cgroup.procs"), web.to_string()).unwrap();
    let before = kernel(web);
    let text =
        format!("rt class web: match exe @/web and cgroup \"/{above}/burstable\", on cpu {}, priority 3;", last_cpu());
    let policy = stage.policy("p.policy", &text);
    let run = stage.path("run");
    fs::create_dir(&run).unwrap();
    set_permissions(&run, Permissions::from_mode(0o755)).unwrap();
    // A root that is read-only but for what is mounted from the host, and the capabilities of the manifest.
    let run = run.display();
    let prepare = format!(
        "mount --bind {run} {run} && mount -o remount,bind,ro / && \
         set -- setpriv --no-new-privs --inh-caps=-all --bounding-set=-all{} \"$@\" &&",
        given()
    );
    let pod = |stage: &mut Stage| {
        let command = contained(stage, &policy, &engine, &["--mount"], &prepare);
        stage.daemon_of(command)
    };
    let placed = |stage: &Stage| {
        let there = kernel(web);
        assert_eq!((there.policy, there.priority, there.cpus), (RR, 3, last_cpu()), "{}", stage.log());
        assert!(!stage.log().contains("WARN"), "{}", stage.log());
    };
    let killed = pod(&mut stage);
    placed(&stage);
    stage.signal(killed, Signal::SIGKILL);
    stage.end(killed);
    // What it did stands, and the pod that comes next knows of it by the node's directory.
    assert_eq!(kernel(web).priority, 3);
    let daemon = pod(&mut stage);
    placed(&stage);
    // The probes of the manifest.
    assert_eq!(stage.ask(&["status"]).status.code(), Some(0));
    // As the kubelet ends it.
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0), "{}", stage.log());
    assert_eq!(kernel(web), before);
    assert_eq!(stage.ask(&["status"]).status.code(), Some(2));
}
