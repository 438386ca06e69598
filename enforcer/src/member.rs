//! A process that belongs to a class.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::ids::{Pid, Tid};
use crate::thread::Touched;

/// Why a process is in its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The class's selector matched it.
    Matched,
    /// It was forked from a member and has not executed a program since.
    Forked,
    /// No class matched it, and the class it came from keeps its descendants.
    Descended,
    /// It asked for the class before it executed its program, and stays in it whatever it executes.
    Asked,
}

/// How the CPUs of a class are given to a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The class has every CPU at all times: nothing is done.
    Everywhere,
    /// It was moved into the class's own group.
    Moved(Origin),
    /// The process's own group has the class's CPUs; this is its path from the hierarchy's root.
    InPlace(PathBuf),
    /// Each thread has the class's CPUs as its affinity, for the reason given.
    Affinity(&'static str),
}

impl Place {
    /// The word printed for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Place::Everywhere => "none",
            Place::Moved(_) => "move",
            Place::InPlace(_) => "cgroup",
            Place::Affinity(_) => "affinity",
        }
    }
}

/// Where a moved process came from, as paths from the hierarchies' roots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Its cpuset.
    pub cpuset: PathBuf,
    /// Its freezer group, where it was moved in that hierarchy as well.
    pub freezer: Option<PathBuf>,
}

impl Origin {
    /// The roots of both hierarchies, where somebody in a group of cotenant's was of whom nothing else is known.
    #[must_use]
    pub fn roots() -> Origin {
        Origin { cpuset: "/".into(), freezer: Some("/".into()) }
    }
}

/// The class of a process that belongs to none any more and could not be put back yet.
pub const NO_CLASS: usize = usize::MAX;

/// One process of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Start time in clock ticks since boot; with the id it tells the process from a later one.
    pub start: u64,
    /// The class, by its place in the plan, or [`NO_CLASS`].
    pub class: usize,
    /// Why.
    pub joined: Joined,
    /// Since when it is in it.
    pub since: SystemTime,
    /// Its parent when it joined; an orphan gets another.
    pub parent: Pid,
    /// How it is placed; absent until it is.
    pub place: Option<Place>,
    /// The name of the class it was placed for; absent until it is.
    pub placed_for: Option<String>,
    /// Its threads; none are kept of a process that nothing is done to.
    pub threads: BTreeMap<Tid, Touched>,
}
