//! The package for Debian, in a root directory of its own: `make test-deb`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "package/deb.rs"]
mod deb;
#[path = "package/root.rs"]
mod root;

use deb::package;
use root::{Root, affinity};

/// What one CPU of this host is called.
const CPU: &str = "0";

/// A class of a program that only this test has.
fn policy(nice: i32) -> String {
    format!("class package-test: match exe /usr/local/bin/package-test, on cpu {CPU}, nice {nice};\n")
}

const POLICY: &str = "/etc/cotenant/policies/site.policy";
const BROKEN: &str = "class package-test: match exe /usr/local/bin/package-test, nise 3;\n";

#[test]
#[ignore = "make test-deb"]
fn it_is_installed_enforces_is_upgraded_removed_and_purged() {
    let mut root = Root::new();
    let before = root.files();

    let installed = root.install("0.1.0");
    assert!(!installed.contains("warning"), "{installed}");
    assert_eq!(root.run(&["cotenant", "--version"]), "cotenant 0.1.0\n");
    let enabled = root.path("/etc/systemd/system/multi-user.target.wants/cotenant.service");
    assert!(enabled.is_symlink(), "the unit is enabled");
    assert!(
        std::fs::read_dir(root.path("/etc/cotenant/policies")).unwrap().next().is_none(),
        "and nothing is enforced"
    );

    // As an administrator would, without systemd.
    root.write(POLICY, &policy(3));
    let everywhere = affinity(std::process::id());
    let member = root.member();
    assert_eq!(affinity(member), everywhere);
    let daemon = root.daemon();
    assert_eq!(affinity(member), CPU, "placed by the daemon of the package");

    // An edited policy is kept, the new version finds nothing wrong with it, and the old daemon works on.
    root.write(POLICY, &policy(4));
    let said = root.install("0.1.1");
    assert_eq!(root.read(POLICY), policy(4));
    assert!(!said.contains("see above"), "{said}");
    assert_eq!(affinity(member), CPU);
    assert!(root.runs(daemon), "{said}");

    // One that is wrong is said, with its mistake and what to do, and the package is installed all the same.
    root.write(POLICY, BROKEN);
    let said = root.install("0.1.2");
    assert!(said.contains("write `nice`") && said.contains("does not take the policies"), "{said}");
    assert!(said.contains("systemctl restart cotenant"), "{said}");
    assert_eq!(root.version(), "install ok installed 0.1.2");
    assert_eq!(root.read(POLICY), BROKEN);
    assert_eq!(affinity(member), CPU, "the plan before stays in force");

    // Removed: the daemon is gone, all is put back, and the policy stays.
    root.run(&["dpkg", "--remove", "cotenant"]);
    assert_eq!(root.end(daemon), Some(0));
    assert_eq!(affinity(member), everywhere);
    assert_eq!(root.read(POLICY), BROKEN);

    // Purged: the policy is the administrator's, and nothing else is left.
    let said = root.run(&["dpkg", "--purge", "cotenant"]);
    assert!(said.contains("left to you"), "{said}");
    assert_eq!(root.read(POLICY), BROKEN);
    root.remove("/etc/cotenant");
    assert_eq!(root.files(), before);
}

#[test]
#[ignore = "make test-deb"]
fn purged_without_a_policy_it_leaves_nothing() {
    let root = Root::new();
    let before = root.files();
    root.install("0.1.0");
    assert_ne!(root.files(), before);
    let said = root.run(&["dpkg", "--purge", "cotenant"]);
    assert!(!said.contains("cotenant:"), "nothing to tell: {said}");
    assert_eq!(root.files(), before);
}

#[test]
#[ignore = "make test-deb"]
fn it_puts_back_what_a_killed_daemon_left() {
    let mut root = Root::with_usual_group();
    root.install("0.1.0");
    root.write(POLICY, &policy(3));
    let everywhere = affinity(std::process::id());
    let member = root.member();
    let daemon = root.daemon();
    assert_eq!(affinity(member), CPU);
    root.kill(daemon);
    assert_eq!(affinity(member), CPU);
    let said = root.run(&["dpkg", "--remove", "cotenant"]);
    assert_eq!(affinity(member), everywhere, "{said}");
}

#[test]
#[ignore = "make test-deb"]
fn it_holds_what_a_package_should() {
    let root = Root::new();
    root.install("0.1.0");
    let list = root.run(&["dpkg", "--listfiles", "cotenant"]);
    for file in [
        "/usr/bin/cotenant",
        "/usr/lib/systemd/system/cotenant.service",
        "/usr/lib/tmpfiles.d/cotenant.conf",
        "/usr/share/man/man1/cotenant.1.gz",
        "/usr/share/man/man1/cotenant-enforce.1.gz",
        "/usr/share/man/man5/cotenant.policy.5.gz",
        "/usr/share/bash-completion/completions/cotenant",
        "/usr/share/zsh/vendor-completions/_cotenant",
        "/usr/share/fish/vendor_completions.d/cotenant.fish",
        "/usr/share/doc/cotenant/copyright",
        "/usr/share/doc/cotenant/examples/web-and-batch.policy",
    ] {
        assert!(list.lines().any(|line| line == file), "{file} is not in\n{list}");
    }
    let depends = root.run(&["dpkg-query", "--show", "--showformat", "${Depends}", "cotenant"]);
    for library in ["libc6 (>= ", "libhwloc15 (>= ", "libelf1 (>= "] {
        assert!(depends.contains(library), "{depends}");
    }
    assert!(root.read("/usr/share/doc/cotenant/copyright").contains("Copyright: 2026 The cotenant authors"));
    let changelog = root.run(&["zcat", "/usr/share/doc/cotenant/changelog.gz"]);
    assert!(changelog.starts_with(concat!("cotenant (", env!("CARGO_PKG_VERSION"), ") ")), "{changelog}");
    // Nobody else's name or time is in it.
    let owners =
        String::from_utf8(std::process::Command::new("dpkg-deb").arg("-c").arg(package()).output().unwrap().stdout);
    let owners = owners.unwrap();
    assert!(
        owners.lines().count() > 20
            && owners.lines().all(|line| line.contains(" root/root ") || line.contains(" 0/0 ")),
        "{owners}"
    );
    // The unit as it is installed, with the systemd of that root.
    root.run(&["systemd-analyze", "verify", "/usr/lib/systemd/system/cotenant.service"]);
    root.run(&["systemd-analyze", "security", "--offline=yes", "--threshold=29", "cotenant.service"]);
}
