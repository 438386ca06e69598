//! Classes of programs whose work is done by the programs they start.

use super::class::{Class, claimed};
use super::logic::{Atom, Kind};
use super::mistake::Lint;

/// Programs that do next to nothing themselves.
const LAUNCHERS: &[&str] = &[
    "ash",
    "bash",
    "bazel",
    "busybox",
    "cargo",
    "chrt",
    "cmake",
    "dash",
    "doas",
    "env",
    "fish",
    "flatpak",
    "gmake",
    "gradle",
    "ionice",
    "just",
    "ksh",
    "make",
    "meson",
    "mvn",
    "nice",
    "ninja",
    "nohup",
    "parallel",
    "samu",
    "scons",
    "script",
    "setpriv",
    "setsid",
    "sh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "tmux",
    "watch",
    "xargs",
    "zsh",
];

pub(super) fn launcher_without_descendants(class: &Class<'_>, report: &mut dyn FnMut(Lint)) {
    if class.class.settings.descendants.is_some() {
        return;
    }
    let program = |claim: &super::logic::Claim<'_>| match claim.atom {
        Atom::Text(Kind::Comm | Kind::ExeLast | Kind::ExePath, words) => {
            let name = words.one()?.rsplit('/').next()?;
            LAUNCHERS.contains(&name).then(|| (claim.at, name.to_owned()))
        }
        _ => None,
    };
    let mut found: Vec<_> = class.cases().iter().flat_map(claimed).filter_map(program).collect();
    found.sort();
    found.dedup();
    let mut found = found.into_iter();
    if let Some((at, program)) = found.next() {
        report(Lint::LauncherWithoutDescendants { program, at, more: found.collect() });
    }
}
