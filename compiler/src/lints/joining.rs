//! Who can get into a real-time class. Its threads run before everybody else's, so that is a question of trust.
//!
//! Decided case by case: a class is as open as the easiest way into it.

use super::class::{Class, claimed, place};
use super::logic::{Atom, Case, Kind};
use super::mistake::Lint;
use crate::selector::{Account, Selector};

/// Directories in which only root creates programs, by the Filesystem Hierarchy Standard and the custom of distributions.
const ROOTS_OWN: &[&str] = &[
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/opt/",
    "/etc/",
    "/boot/",
    "/snap/",
    "/nix/store/",
    "/gnu/store/",
    "/run/current-system/",
];

/// Programs that run what somebody else wrote.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "busybox", "dash", "fish", "java", "ksh", "lua", "mono", "node", "perl", "php", "python", "python2",
    "python3", "ruby", "sh", "tclsh", "wine", "wine64", "zsh",
];

/// What stands between a user and a class, by one way into it.
enum Way {
    /// An account, a unit, a path: something that is not the user's to choose.
    Guarded,
    /// All processes of root.
    Root,
    Interpreter(String),
    Argument,
    Open,
}

/// `rt-by-name`, `rt-interpreter`, `rt-for-root` and `arg-alone`: at most one of them a class, for the widest way into it.
pub(super) fn joining(class: &Class<'_>, report: &mut dyn FnMut(Lint)) {
    if !class.is_real_time() {
        return;
    }
    let ways = class.cases().iter().map(|case| (way(case), place(case, class.part.at)));
    let Some((way, at)) = ways.max_by_key(|(way, _)| width(way)) else { return };
    let name = class.name();
    match way {
        Way::Guarded => {}
        Way::Root => report(Lint::RtForRoot { class: name, at }),
        Way::Interpreter(program) => report(Lint::RtInterpreter { class: name, at, program }),
        Way::Argument => report(Lint::ArgAlone { class: name, at }),
        Way::Open => report(Lint::RtByName { class: name, at }),
    }
}

fn width(way: &Way) -> u8 {
    match way {
        Way::Guarded => 0,
        Way::Root => 1,
        Way::Interpreter(_) => 2,
        Way::Open => 3,
        Way::Argument => 4,
    }
}

fn way(case: &Case<'_>) -> Way {
    let only_root = claimed(case).all(|claim| matches!(claim.atom, Atom::User(account) if is_root(account)));
    if only_root && claimed(case).next().is_some() {
        return Way::Root;
    }
    let guarded = |atom: &Atom<'_>| match atom {
        Atom::User(_) | Atom::Group(_) => true,
        Atom::Opaque(selector) => !matches!(selector, Selector::Policy(_)),
        Atom::Text(Kind::ScriptPath, words) => only_root_writes(words.text()),
        Atom::Text(kind, _) => matches!(kind, Kind::Cgroup | Kind::Unit | Kind::Slice),
    };
    if claimed(case).any(|claim| guarded(&claim.atom)) {
        return Way::Guarded;
    }
    let mut paths = claimed(case).filter_map(|claim| match claim.atom {
        Atom::Text(Kind::ExePath, words) if only_root_writes(words.text()) => Some(words.text()),
        _ => None,
    });
    match paths.next() {
        Some(path) => interpreter(path).map_or(Way::Guarded, Way::Interpreter),
        None if only_arguments(case) => Way::Argument,
        None => Way::Open,
    }
}

fn is_root(account: &Account) -> bool {
    match account {
        Account::Id(id) => *id == 0,
        Account::Name(name) => name == "root",
    }
}

/// Whether every path that the glob covers lies in a directory of root's. A part that `..` leads out of is resolved by the
/// kernel before anybody compares it.
fn only_root_writes(glob: &str) -> bool {
    let fixed = glob.split(['*', '?', '[', '{']).next().unwrap_or("");
    ROOTS_OWN.iter().any(|directory| fixed.starts_with(directory))
}

fn interpreter(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    // `python3.12` and `python3*` are `python3`.
    let stem = name.split(['*', '?', '[', '.']).next()?;
    INTERPRETERS.contains(&stem).then(|| name.to_owned())
}

fn only_arguments(case: &Case<'_>) -> bool {
    let is_argument = |atom: &Atom<'_>| matches!(atom, Atom::Text(Kind::Arg, _));
    claimed(case).next().is_some() && claimed(case).all(|claim| is_argument(&claim.atom))
}
