//! What the guest has: busybox, the product and the load with their shared libraries, and a script.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cpio::Archive;

/// Functions for scripts.
pub(crate) const LIBRARY: &str = include_str!("guest/lib.sh");

/// Runs before anything else; what it prints after the script's end tells an end from a crash.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
. /lib.sh
set_up
sh /script.sh
say end $?
poweroff -f
";

/// The names the load goes by: an executable's name is what policies match.
const LOADS: [&str; 4] = ["load", "web", "batch", "other"];

/// The initial file system for one script, with other files of this machine, each where it is here.
pub(crate) fn initramfs(script: &str, others: &[&Path]) -> Vec<u8> {
    let mut archive = Archive::default();
    for directory in ["bin", "dev", "proc", "sys", "tmp", "run", "etc"] {
        archive.directory(directory);
    }
    archive.console();
    let busybox = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|path| Path::new(path).exists());
    let Some(busybox) = busybox else { panic!("there is no busybox; {}", super::machine::PREPARE) };
    archive.program("bin/busybox", &read(Path::new(busybox)));
    let product = PathBuf::from(env!("CARGO_BIN_EXE_cotenant"));
    let load = load();
    archive.program("bin/cotenant", &stripped(&product));
    archive.program("bin/load", &stripped(&load));
    // Links would do for the shell but not for `/proc/PID/exe`, so each name is a file.
    for name in &LOADS[1..] {
        archive.program(&format!("bin/{name}"), &stripped(&load));
    }
    // Of util-linux, because busybox has none here.
    let chrt = Path::new("/usr/bin/chrt");
    archive.program("bin/chrt", &read(chrt));
    let programs = others.iter().copied().filter(|file| file.parent().is_some_and(|at| at.ends_with("bin")));
    let programs: Vec<&Path> = [&product, &load, chrt].into_iter().chain(programs).collect();
    let others = others.iter().map(|file| (*file).to_owned());
    let mut directories = BTreeSet::new();
    for file in shared_libraries(&programs).into_iter().chain(others) {
        for directory in file.parent().unwrap().ancestors().collect::<Vec<_>>().into_iter().rev().skip(1) {
            if directories.insert(directory.to_owned()) {
                archive.directory(directory.to_str().unwrap());
            }
        }
        archive.program(file.to_str().unwrap(), &read(&file));
    }
    archive.program("lib.sh", LIBRARY.as_bytes());
    archive.program("script.sh", format!(". /lib.sh\n{script}").as_bytes());
    archive.program("init", INIT.as_bytes());
    archive.finish()
}

/// The load, built if need be: `cargo test --test vm` alone builds no examples.
pub(crate) fn load() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let here = std::env::current_exe().unwrap();
    let profile = here.ancestors().nth(2).unwrap();
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--example", "vm-load", "--target-dir"]);
    command.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        command.arg("--release");
    }
    assert!(command.status().unwrap().success(), "the load cannot be built");
    profile.join("examples/vm-load")
}

/// Symbols make a debug build ten times larger, and the guest has to unpack it.
fn stripped(program: &Path) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let bare = directory.path().join("bare");
    match Command::new("strip").arg("-o").arg(&bare).arg(program).status() {
        Ok(status) if status.success() => read(&bare),
        _ => read(program),
    }
}

/// What ldd(1) says the programs need, the loader included, each under the path it is looked for at.
fn shared_libraries(programs: &[&Path]) -> BTreeSet<PathBuf> {
    let output = Command::new("ldd").args(programs).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let path = |line: &str| Some(PathBuf::from(line.split_whitespace().find(|word| word.starts_with('/'))?));
    let lines = text.lines().filter(|line| line.contains("(0x"));
    let found: BTreeSet<PathBuf> = lines.filter_map(path).collect();
    assert!(!found.is_empty(), "ldd says nothing of {programs:?}");
    found
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
