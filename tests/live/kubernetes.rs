//! What a pod has that a host has not: a ConfigMap that is swapped, and a cgroup namespace of its own.

use std::fs::{self, Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use super::stage::{Group, Stage, kernel, stage, until};

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

#[test]
fn groups_have_their_paths_on_the_host_in_a_cgroup_namespace_too() {
    let Some(mut stage) = stage() else { return };
    let trees = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let Some(tree) = trees.into_iter().map(Path::new).find(|tree| tree.join("cgroup.controllers").exists()) else {
        return eprintln!("passed over: no version 2 of control groups");
    };
    let above = format!("{}-pods", stage.group());
    let groups = ["engine", "burstable", ""].map(|name| tree.join(&above).join(name));
    groups.iter().for_each(|group| fs::create_dir_all(group).unwrap());
    groups.iter().for_each(|group| stage.keep(Group(group.clone())));
    let [engine, burstable, _] = &groups;
    let (there, elsewhere) = (stage.sleeper("web"), stage.sleeper("web"));
    fs::write(burstable.join("cgroup.procs"), there.to_string()).unwrap();
    let text = format!("class web: match exe @/web and cgroup \"/{above}/burstable\", nice 3;");
    let policy = stage.policy("p.policy", &text);
    // As a container engine starts it: in a group, which is then the root of its namespace.
    let enforce = stage.cotenant(&["enforce", policy.to_str().unwrap()]);
    let mut command = Command::new("sh");
    command.args(["-c", "echo $$ > \"$0\" && exec unshare --cgroup \"$@\""]).arg(engine.join("cgroup.procs"));
    command.arg(enforce.get_program()).args(enforce.get_args()).env("NO_COLOR", "1");
    let daemon = stage.daemon_of(command);
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/cgroup")).unwrap();
    assert_ne!(namespace(&daemon.to_string()), namespace("self"));
    assert_eq!((kernel(there).nice, kernel(elsewhere).nice), (3, 0));
    let why = stage.ask(&["why", &there.to_string()]);
    assert!(String::from_utf8_lossy(&why.stdout).contains(&format!("/{above}/burstable")), "{why:?}");
}
