//! The status of a daemon as a document: what the control socket speaks, and what `status --format json` prints.

use std::collections::BTreeMap;

use cotenant_enforcer::daemon::{Reload, Reloads, View};
use cotenant_enforcer::enforcer;
use cotenant_enforcer::sensor::Sight;
use cotenant_enforcer::status::{ClassStatus, MemberStatus};
use serde::{Deserialize, Serialize};

use super::SCHEMA_VERSION;
use crate::failure::Failure;

/// The whole document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) schema_version: u32,
    pub(super) daemon: Daemon,
    pub(super) classes: Vec<Class>,
    pub(super) failures: Vec<Refusal>,
}

impl Document {
    /// Reads a daemon's answer.
    pub(super) fn read(answer: &str) -> Result<Document, Failure> {
        serde_json::from_str(answer).map_err(|error| {
            Failure::new(format!("the daemon's answer cannot be read: {error}"))
                .help("it may be of another version; `cotenant status --format json` shows the answer as it is")
        })
    }
}

/// The daemon itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Daemon {
    pub(super) version: String,
    pub(super) pid: u32,
    pub(super) tick_ms: f64,
    pub(super) events: u64,
    pub(super) lost: u64,
    pub(super) ticks: u64,
    pub(super) placed: u64,
    pub(super) released: u64,
    /// Processes that became contested.
    #[serde(default)]
    pub(super) contested: u64,
    /// How often the policy was read again, by what came of it.
    #[serde(default)]
    pub(super) reloads: BTreeMap<String, u64>,
    /// `sensor` or `tick loop`: what watches for clauses that the kernel does not keep by itself.
    pub(super) eyes: String,
    /// What the sensor saw and did; null without one.
    pub(super) sensor: Option<Sensor>,
    /// What became of the last change to the policy; absent before there was one.
    pub(super) last_reload: Option<LastReload>,
    /// What became of it the last time that CPUs came or went and the plan was another for it; absent before.
    pub(super) last_machine: Option<LastReload>,
}

/// Counts since the start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sensor {
    pub(super) switches: u64,
    pub(super) rings: u64,
    pub(super) gate_rings: u64,
    /// Threads moved to an idle core, and those that the kernel refused to move or that set another mask meanwhile.
    pub(super) moves: u64,
    pub(super) unmade: u64,
    /// Bells that were lost, and switches to threads that it could not know.
    pub(super) lost: u64,
    pub(super) unknown: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LastReload {
    /// `unchanged`, `applied`, `refused` or `failed`.
    pub(super) outcome: String,
    /// What changed, or why nothing did.
    pub(super) detail: String,
}

/// One class of the plan in force.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) kind: String,
    /// CPUs it may use now, in the kernel's list format; absent for unmanaged classes.
    pub(super) cpus: Option<String>,
    pub(super) frozen: bool,
    pub(super) threads: usize,
    pub(super) conforming: usize,
    /// How many members are placed by each means.
    pub(super) places: BTreeMap<String, usize>,
    /// Core-scheduling cookies that the kernel shows of its threads, `0` for none; empty where the class wants none.
    pub(super) cookies: Vec<String>,
    pub(super) clauses: Vec<Clause>,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Clause {
    pub(super) text: String,
    pub(super) effect: String,
    pub(super) means: String,
    pub(super) strength: String,
}

/// One process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Member {
    pub(super) pid: i32,
    pub(super) comm: String,
    pub(super) place: String,
    pub(super) reason: Option<String>,
    /// As in the class.
    pub(super) cookies: Vec<String>,
    pub(super) threads: usize,
    pub(super) conforming: usize,
    /// Threads that have something which somebody else set after they were placed.
    #[serde(default)]
    pub(super) theirs: usize,
    /// Whether somebody else changes again and again what the class insists on.
    #[serde(default)]
    pub(super) contested: bool,
}

/// Something the kernel refused.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) pid: i32,
    pub(super) class: String,
    pub(super) error: String,
}

/// The document of a running daemon, on one line.
pub(crate) fn status_json(view: &View<'_>) -> String {
    let counters = view.counters;
    let document = Document {
        schema_version: SCHEMA_VERSION,
        daemon: Daemon {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            tick_ms: view.tick.as_secs_f64() * 1e3,
            events: counters.events,
            lost: counters.lost,
            ticks: counters.ticks,
            placed: counters.placed,
            released: counters.released,
            contested: counters.contested,
            reloads: reloads(counters.reloads),
            eyes: if view.sight.is_some() { "sensor" } else { "tick loop" }.to_owned(),
            sensor: view.sight.map(sensor),
            last_reload: view.last_reload.map(last_reload),
            last_machine: view.last_machine.map(last_reload),
        },
        classes: view.status.classes.iter().map(class).collect(),
        failures: view.status.failures.iter().map(refusal).collect(),
    };
    // Strings, numbers and lists of them; there is nothing in it that JSON could not say.
    serde_json::to_string(&document).unwrap_or_default() + "\n"
}

fn reloads(reloads: Reloads) -> BTreeMap<String, u64> {
    let Reloads { unchanged, applied, refused, failed } = reloads;
    let each = [("unchanged", unchanged), ("applied", applied), ("refused", refused), ("failed", failed)];
    each.into_iter().map(|(outcome, count)| (outcome.to_owned(), count)).collect()
}

fn sensor(sight: Sight) -> Sensor {
    let Sight { switches, rings, gate_rings, moves, unmade, lost, unknown } = sight;
    Sensor { switches, rings, gate_rings, moves, unmade, lost, unknown }
}

fn last_reload(reload: &Reload) -> LastReload {
    let (outcome, detail) = match reload {
        Reload::Unchanged => ("unchanged", String::new()),
        Reload::Applied(changes) => ("applied", changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        Reload::Refused(why) => ("refused", why.trim_end().to_owned()),
        Reload::Failed(error) => ("failed", error.to_string()),
    };
    LastReload { outcome: outcome.to_owned(), detail }
}

fn class(class: &ClassStatus) -> Class {
    let (threads, conforming) = class.threads();
    Class {
        name: class.name.clone(),
        kind: class.kind.word().to_owned(),
        cpus: class.cpus.as_ref().map(ToString::to_string),
        frozen: class.frozen,
        threads,
        conforming,
        places: class.places().into_iter().map(|(place, count)| (place.to_owned(), count)).collect(),
        cookies: class.cookies.iter().map(ToString::to_string).collect(),
        clauses: class
            .clauses
            .iter()
            .map(|clause| Clause {
                text: clause.text.clone(),
                effect: clause.effect.clone(),
                means: clause.means.words().to_owned(),
                strength: clause.strength.word().to_owned(),
            })
            .collect(),
        members: class.members.iter().map(member).collect(),
    }
}

fn member(member: &MemberStatus) -> Member {
    Member {
        pid: member.pid.0,
        comm: String::from_utf8_lossy(&member.comm).into_owned(),
        place: member.place.to_owned(),
        reason: member.reason.map(str::to_owned),
        cookies: member.cookies.iter().map(ToString::to_string).collect(),
        threads: member.threads,
        conforming: member.conforming,
        theirs: member.theirs,
        contested: member.contested,
    }
}

fn refusal(failure: &enforcer::Failure) -> Refusal {
    Refusal { pid: failure.pid.0, class: failure.class.clone(), error: failure.error.to_string() }
}
