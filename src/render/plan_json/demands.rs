//! What a class asks for, as values. Times are in nanoseconds, shares in per cent; null is what the policy does not say.

use cotenant_compiler::plan::{CoreSharing, Demands, Preference, Reservation};
use cotenant_grammar::tree::Percent;
use serde::Serialize;

use crate::render::cpus::Cpus;

#[derive(Serialize)]
pub(super) struct Asked<'a> {
    /// `SCHED_DEADLINE`, of each thread.
    deadline: Option<Reserved>,
    /// What a thread prefers; an idle core is told by the tiers.
    preference: Option<Preferred>,
    /// Who may run on the other threads of a core.
    share_core: Option<Sharers<'a>>,
    /// `cpu`, `core`, `llc` or `node`.
    only_when_idle: Option<&'static str>,
    wait_at_most_ns: Option<u64>,
    slice_ns: Option<u64>,
    /// `cpu.weight`.
    weight: Option<u16>,
    /// `cpu.max`, as a number of CPUs.
    quota_cpus: Option<f64>,
    clamp: Option<Clamp>,
    memory_bandwidth_percent: Option<f64>,
    llc_percent: Option<f64>,
    /// `insist` or `yield`.
    on_change: Option<&'static str>,
    /// `cgroup`, `affinity` or `move`.
    place_by: Option<&'static str>,
}

#[derive(Serialize)]
struct Reserved {
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

#[derive(Serialize)]
struct Preferred {
    /// `idle cpu`, `last cpu` or `cpus`.
    what: &'static str,
    /// Null unless these are what is preferred.
    cpus: Option<Cpus>,
}

/// Nobody, where there is neither.
#[derive(Serialize)]
struct Sharers<'a> {
    itself: bool,
    classes: Vec<&'a str>,
}

#[derive(Serialize)]
struct Clamp {
    low_percent: f64,
    high_percent: f64,
}

impl<'a> From<&'a Demands> for Asked<'a> {
    fn from(it: &'a Demands) -> Asked<'a> {
        Asked {
            deadline: it.deadline.as_ref().map(reserved),
            preference: it.preference.as_ref().map(preferred),
            share_core: it.share_core.as_ref().map(sharers),
            only_when_idle: it.only_when_idle.map(|unit| unit.word()),
            wait_at_most_ns: it.wait_at_most.map(|time| time.0),
            slice_ns: it.slice.map(|time| time.0),
            weight: it.weight,
            quota_cpus: it.quota.map(|quota| quota.0 as f64 / 1e3),
            clamp: it.clamp.map(|(low, high)| Clamp { low_percent: percent(low), high_percent: percent(high) }),
            memory_bandwidth_percent: it.memory_bandwidth.map(percent),
            llc_percent: it.llc_share.map(percent),
            on_change: it.on_change.map(|what| what.word()),
            place_by: it.place_by.map(|means| means.word()),
        }
    }
}

/// 12.5 for `12.5%`.
pub(super) fn percent(share: Percent) -> f64 {
    share.0 as f64 / 1e2
}

fn reserved(it: &Reservation) -> Reserved {
    Reserved { runtime_ns: it.runtime.0, deadline_ns: it.deadline.0, period_ns: it.period.0 }
}

fn preferred(it: &Preference) -> Preferred {
    match it {
        Preference::IdleCpu => Preferred { what: "idle cpu", cpus: None },
        Preference::LastCpu => Preferred { what: "last cpu", cpus: None },
        Preference::Cpus(cpus) => Preferred { what: "cpus", cpus: Some(cpus.into()) },
    }
}

fn sharers(it: &CoreSharing) -> Sharers<'_> {
    Sharers { itself: it.itself, classes: it.classes.iter().map(String::as_str).collect() }
}
