//! The package on a Debian whose first process is systemd, which has the tree of control groups to itself: `make test-deb`.

use std::sync::OnceLock;

use super::debian::initramfs;
use super::machine::{Kernel, Run, Time, boot_image, skipped};

fn run() -> Option<&'static Run> {
    static RUN: OnceLock<Run> = OnceLock::new();
    let versions = ["0.1.0", "0.1.1", "0.1.2", "0.1.3"];
    let boot = || {
        let image = initramfs(include_str!("guest/systemd.sh"), &versions);
        boot_image(Time::Host, Kernel::Newer, "4,sockets=1,cores=2,threads=2", &image)
    };
    if skipped() { None } else { Some(RUN.get_or_init(boot)) }
}

/// A process as [`whole`] in the guest's script says it: policy, priority, CPUs, group, nice value.
fn fields(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
#[ignore = "make test-deb"]
fn it_is_enabled_when_it_is_installed_and_starts_when_there_is_a_policy() {
    let Some(run) = run() else { return };
    run.is("first", "systemd");
    run.is("install.enabled", "enabled");
    run.is("install.active", "inactive");
    assert!(run.get("install").contains("there is no policy yet"), "{}", run.get("install"));
    run.is("start.without", "1");
    run.is("start", "0");
    run.is("placed.status", "the policy is in force");
}

#[test]
#[ignore = "make test-deb"]
fn services_and_slices_are_placed_where_systemd_has_them() {
    let Some(run) = run() else { return };
    assert_eq!(fields(run.get("placed.web")), ["0", "0", "0-1", "/system.slice/web.service", "-3"]);
    let job = run.get("placed.job");
    assert_eq!((fields(job)[0], fields(job)[3]), ("5", "/batch.slice/job.service"), "{job}");
    run.is("placed.other", run.get("before.other"));
    // No controller is enabled in a tree that is systemd's.
    run.is("placed.controllers", run.get("before.controllers"));
    run.is("property.web", "0-1");
    run.is("restarted.web", "0-1");
}

#[test]
#[ignore = "make test-deb"]
fn what_somebody_chose_by_hand_is_left_to_him() {
    let Some(run) = run() else { return };
    run.is("handy.unit", "10");
    run.is("handy.placed", "5 0-2");
    run.is("handy.reloaded", "15 2");
    assert!(
        run.all("handy.why").iter().any(|line| line.contains("changed by somebody")),
        "{:#?}",
        run.all("handy.why")
    );
    run.is("handy.after", "15 2");
}

#[test]
#[ignore = "make test-deb"]
fn a_user_s_session_is_placed_and_gets_nothing_real_time_by_a_name() {
    let Some(run) = run() else { return };
    let group = |name: &str| fields(run.get(name))[3].to_owned();
    assert!(group("before.desk").ends_with("/user@1000.service/app.slice/desk.service"), "{}", group("before.desk"));
    let desk = run.get("session.desk");
    assert_eq!((fields(desk)[2], fields(desk)[4]), ("3", "7"), "{desk}");
    run.is("session.theirs", run.get("before.theirs"));
    let engine = run.get("session.engine");
    assert_eq!(fields(engine)[..3], ["2", "5", "1"], "{engine}");
    for name in ["desk", "theirs", "engine"] {
        run.is(&format!("session.after.{name}"), run.get(&format!("before.{name}")));
    }
}

#[test]
#[ignore = "make test-deb"]
fn a_group_with_cpus_of_systemd_s_giving_is_written_in_place_and_kept_where_a_class_insists() {
    let Some(run) = run() else { return };
    run.is("boxed.before", "0-2 0-2");
    run.is("boxed.placed", "1-2 1-2 /system.slice/boxed.service");
    // systemd writes its own again when it is reloaded and starts something; a class that yields is shown not to have its CPUs.
    run.is("boxed.reloaded", "0-2");
    assert!(run.get("boxed.status").contains("0 of 1"), "{}", run.get("boxed.status"));
    run.is("insisted.placed", "1-2 1-2");
    run.is("insisted.reloaded", "1-2 1-2");
    run.is("boxed.after", "0-2 0-2");
}

#[test]
#[ignore = "make test-deb"]
fn a_reload_is_over_when_it_is_so_or_was_refused() {
    let Some(run) = run() else { return };
    run.is("reload", "0");
    run.is("reload.web", "1");
    run.is("wrong", "1");
    run.is("wrong.web", "1");
    run.is("wrong.active", "active");
    let status = run.get("wrong.status");
    assert!(
        status.starts_with("the changed policy is wrong, keeping the one before: error[unknown-cpu-set]"),
        "{status}"
    );
    // All of it has its weight in the journal, the last line too.
    let journal = run.all("wrong.journal");
    for line in ["the changed policy is wrong, keeping the one before", "help: write `cpus`"] {
        assert!(journal.iter().any(|said| said.contains(line)), "{line}: {journal:#?}");
    }
}

#[test]
#[ignore = "make test-deb"]
fn an_upgrade_keeps_a_daemon_whose_policy_it_refuses_and_starts_another_otherwise() {
    let Some(run) = run() else { return };
    assert!(run.all("refused").iter().any(|said| said.contains("does not take the policies")), "{run:?}");
    run.is("refused.same", "yes");
    run.is("refused.web", "1");
    assert!(run.all("upgraded").is_empty(), "{:?}", run.all("upgraded"));
    run.is("upgraded.other", "yes");
    run.is("upgraded.web", "0-1");
    run.is("disabled.active", "inactive");
}

#[test]
#[ignore = "make test-deb"]
fn everything_is_as_before_when_it_is_stopped_or_removed_and_nothing_is_left_when_it_is_purged() {
    let Some(run) = run() else { return };
    // Of the service that was started anew, as the one before it.
    assert_eq!(fields(run.get("killed.web")), fields(run.get("placed.web")));
    run.is("stop", "0");
    for step in ["stopped", "removed"] {
        for name in ["web", "job", "other"] {
            run.is(&format!("{step}.{name}"), run.get(&format!("before.{name}")));
        }
    }
    run.is("again.web", "0-1");
    run.is("removed", "0");
    run.is("removed.policy", "site.policy");
    run.is("purged", "");
}
