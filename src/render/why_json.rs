//! Why a process is where it is, as documents: what the daemon answers about it, and what `why --format json` prints.

use std::time::UNIX_EPOCH;

use cotenant_compiler::selector::Comparison;
use cotenant_enforcer::member::Joined;
use cotenant_enforcer::story::{Story, ThreadStory};
use cotenant_enforcer::sys::sched::SchedState;
use cotenant_enforcer::thread::Mask;
use serde::{Deserialize, Serialize};

/// All there is to say of one process.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) schema_version: u32,
    pub(crate) process: Fields,
    /// Classes in the order in which they are asked, up to the first that matches.
    pub(crate) tried: Vec<Tried>,
    /// The class that matches it by itself.
    pub(crate) matched: Option<String>,
    /// Where no class does, the one that comes nearest.
    pub(crate) nearest: Option<String>,
    /// The clause that decided, or that comes nearest.
    pub(crate) clause: Option<Site>,
    /// What a daemon did to it; null where none runs or it is in no class.
    pub(crate) enforced: Option<Enforced>,
}

/// The process as predicates see it. Bytes that are no UTF-8 are replaced.
#[derive(Debug, Serialize)]
pub(crate) struct Fields {
    pub(crate) pid: i32,
    pub(crate) comm: String,
    pub(crate) exe: Option<String>,
    pub(crate) script: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) cgroups: Vec<String>,
    pub(crate) units: Vec<String>,
    pub(crate) slices: Vec<String>,
    pub(crate) containers: Vec<String>,
    pub(crate) parent: i32,
    pub(crate) parent_comm: Option<String>,
}

/// A class that was asked.
#[derive(Debug, Serialize)]
pub(crate) struct Tried {
    pub(crate) class: String,
    pub(crate) kind: String,
    pub(crate) matches: bool,
    /// Whether it would, if what its owner can make look so was enough for a real-time class.
    pub(crate) posed: bool,
    /// The comparisons that decided.
    pub(crate) reasons: Vec<Reason>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reason {
    /// As a policy writes it.
    pub(crate) comparison: String,
    /// `parent` where it was made with the parent's field.
    pub(crate) of: Option<String>,
    pub(crate) holds: bool,
    pub(crate) seen: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Site {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What a daemon knows of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Enforced {
    pub(crate) class: String,
    /// `matched`, `forked`, `descended` or `asked`.
    pub(crate) joined: String,
    /// Its parent when it joined.
    pub(crate) parent: i32,
    /// Seconds since 1970.
    pub(crate) since: u64,
    pub(crate) place: String,
    pub(crate) group: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) cpus: Option<String>,
    pub(crate) frozen: bool,
    pub(crate) refused: Option<String>,
    pub(crate) contested: bool,
    pub(crate) threads: Vec<Thread>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Thread {
    pub(crate) tid: i32,
    pub(crate) before: State,
    /// What was written; null where nothing was.
    pub(crate) wrote: State,
    /// What the kernel says now; null where it has ended.
    pub(crate) now: Option<State>,
    /// Whether somebody else has set something since.
    pub(crate) theirs: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Policy, priority and nice value.
    pub(crate) sched: Option<String>,
    /// CPUs of its mask; `any` where it asked for none.
    pub(crate) cpus: Option<String>,
}

/// The daemon's answer, on one line; `null` for a process in no class.
pub(crate) fn story_json(story: Option<&Story>) -> String {
    // Strings, numbers and lists of them; there is nothing in it that JSON could not say.
    serde_json::to_string(&story.map(enforced)).unwrap_or_default() + "\n"
}

/// The whole answer, laid out.
pub(crate) fn why_json(answer: &Answer) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_default() + "\n"
}

impl From<Comparison> for Reason {
    fn from(it: Comparison) -> Reason {
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        Reason {
            comparison: it.text,
            of: it.of.map(|relation| relation.word().to_owned()),
            holds: it.holds,
            seen: it.seen.iter().map(text).collect(),
        }
    }
}

fn enforced(story: &Story) -> Enforced {
    Enforced {
        class: story.class.clone(),
        joined: match story.joined {
            Joined::Matched => "matched",
            Joined::Forked => "forked",
            Joined::Descended => "descended",
            Joined::Asked => "asked",
        }
        .to_owned(),
        parent: story.parent.0,
        since: story.since.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        place: story.place.to_owned(),
        group: story.group.as_ref().map(|path| path.display().to_string()),
        reason: story.reason.map(str::to_owned),
        cpus: story.cpus.as_ref().map(ToString::to_string),
        frozen: story.frozen,
        refused: story.refused.clone(),
        contested: story.contested,
        threads: story.threads.iter().map(thread).collect(),
    }
}

fn thread(thread: &ThreadStory) -> Thread {
    // A policy has no say in the slice yet.
    let sched = |state: &SchedState| SchedState { slice: 0, ..*state }.to_string();
    let mask = match &thread.before.mask {
        Mask::Any => "any".to_owned(),
        Mask::Only(cpus) => cpus.to_string(),
    };
    Thread {
        tid: thread.tid.0,
        before: State { sched: Some(sched(&thread.before.sched)), cpus: Some(mask) },
        wrote: State {
            sched: thread.wrote.sched.as_ref().map(sched),
            cpus: thread.wrote.cpus.as_ref().map(ToString::to_string),
        },
        now: thread.now.as_ref().map(|(now, cpus)| State { sched: Some(sched(now)), cpus: Some(cpus.to_string()) }),
        theirs: thread.theirs,
    }
}
