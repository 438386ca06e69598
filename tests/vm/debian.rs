//! A guest that is a Debian with systemd as its first process, and has the package to install.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::cpio::Archive;
use super::deb;
use super::image::LIBRARY;

/// What nobody looks at there; it is half of all, and has to be unpacked into memory.
const LEFT_OUT: [&str; 12] = [
    "/dev",
    "/proc",
    "/sys",
    "/usr/lib/x86_64-linux-gnu/gconv",
    "/usr/share/doc",
    "/usr/share/i18n",
    "/usr/share/info",
    "/usr/share/locale",
    "/usr/share/man",
    "/usr/share/zoneinfo",
    "/var/cache",
    "/var/lib/apt",
];

/// Units that have nothing to do with it and are slow there.
const MASKED: [&str; 6] = [
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "dpkg-db-backup.timer",
    "e2scrub_reap.service",
    "getty@tty1.service",
    "serial-getty@ttyS0.service",
];

/// Runs the script as any service would be run.
const UNIT: &str = "[Unit]
After=basic.target dbus.service
[Service]
Type=oneshot
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
Environment=HOME=/root NO_COLOR=1
ExecStart=/bin/sh -c 'echo; . /lib.sh; sh /script.sh; say end $?; systemctl poweroff -ff'
";

/// The initial file system for one script; packages of these versions lie at `/root/VERSION.deb`.
pub(crate) fn initramfs(script: &str, versions: &[&str]) -> Vec<u8> {
    let mut archive = Archive::default();
    for directory in ["/dev", "/proc", "/sys", "/var/cache"] {
        archive.directory(directory);
    }
    archive.console();
    let root = deb::debian();
    add(&mut archive, &root, &root);
    archive.link("/init", "/lib/systemd/systemd");
    for unit in MASKED {
        archive.link(&format!("/etc/systemd/system/{unit}"), "/dev/null");
    }
    archive.program("/etc/systemd/system/script.service", UNIT.as_bytes());
    archive.link("/etc/systemd/system/multi-user.target.wants/script.service", "/etc/systemd/system/script.service");
    archive.program("/lib.sh", LIBRARY.as_bytes());
    archive.program("/script.sh", format!(". /lib.sh\n{script}").as_bytes());
    let work = tempfile::tempdir().unwrap();
    for version in versions {
        let file = work.path().join(version);
        deb::write_as(version, &file);
        archive.program(&format!("/root/{version}.deb"), &fs::read(file).unwrap());
    }
    archive.finish()
}

/// Adds what is in a directory, links as they are.
fn add(archive: &mut Archive, root: &Path, directory: &Path) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        let name = format!("/{}", path.strip_prefix(root).unwrap().to_str().unwrap());
        let about = path.symlink_metadata().unwrap();
        if LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        if about.is_symlink() {
            let to = fs::read_link(&path).unwrap();
            archive.link(&name, std::str::from_utf8(to.as_os_str().as_bytes()).unwrap());
        } else if about.is_dir() {
            archive.file(&name, about.mode(), &[]);
            add(archive, root, &path);
        } else if about.is_file() {
            archive.file(&name, about.mode(), &fs::read(&path).unwrap());
        }
    }
}
