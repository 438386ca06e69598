//! The package that `make deb` built, and the Debian that `tests/package/prepare.sh` fetched.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package.
pub(crate) fn package() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/debian");
    let prefix = concat!("cotenant_", env!("CARGO_PKG_VERSION"), "_");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}: run `make deb`", folder.display()));
    let mut found = entries.map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(prefix);
    found.find(is_it).expect("run `make deb`")
}

/// Writes the package as if it were of that version.
pub(crate) fn write_as(version: &str, to: &Path) {
    let work = tempfile::tempdir().unwrap();
    let tree = work.path().join("tree");
    let dpkg_deb = |arguments: &[&OsStr]| {
        assert!(Command::new("dpkg-deb").args(arguments).stdout(Stdio::null()).status().unwrap().success());
    };
    dpkg_deb(&["-R".as_ref(), package().as_ref(), tree.as_ref()]);
    let control = fs::read_to_string(tree.join("DEBIAN/control")).unwrap();
    let original = format!("Version: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(control.contains(&original), "{control}");
    fs::write(tree.join("DEBIAN/control"), control.replace(&original, &format!("Version: {version}\n"))).unwrap();
    dpkg_deb(&["-Znone".as_ref(), "-b".as_ref(), tree.as_ref(), to.as_ref()]);
}

/// The root directory of the Debian.
pub(crate) fn debian() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map_or_else(home, PathBuf::from);
    let release = fs::read_to_string("/etc/os-release").unwrap();
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap();
    let root = cache.join(format!("cotenant/debian-{suite}"));
    assert!(root.exists(), "run tests/package/prepare.sh");
    root
}
