//! What a class asks for beyond its CPUs and its scheduling policy.
//!
//! A plan carries all of it, so that whoever puts the plan in force finds it in one place. What nobody carries out yet is
//! marked [`Strength::Refused`](super::Strength::Refused) among the clauses.

use cotenant_grammar::tree::{Duration, IdleUnit, OnChange, Percent, PlaceBy, Quota, Sharer};

use crate::CpuSet;
use crate::policy::{PolicyClass, Prefer};
use crate::topology::Topology;

/// Each is absent where the policy does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demands {
    /// `SCHED_DEADLINE` and its parameters.
    pub deadline: Option<Reservation>,
    /// What a thread prefers, other than an idle core; that one and a preferred part are
    /// [`tiers`](super::Placement::tiers) too.
    pub preference: Option<Preference>,
    /// Who may run on the other threads of a core at the same instant.
    pub share_core: Option<CoreSharing>,
    /// Runs only where this is idle; a [`Gate`](super::Gate) too, where that is kept by watching.
    pub only_when_idle: Option<IdleUnit>,
    /// How long the class may be kept waiting.
    pub wait_at_most: Option<Duration>,
    /// Custom slice.
    pub slice: Option<Duration>,
    /// `cpu.weight`, 1 to 10,000.
    pub weight: Option<u16>,
    /// `cpu.max`.
    pub quota: Option<Quota>,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`.
    pub clamp: Option<(Percent, Percent)>,
    /// Most of the memory bandwidth.
    pub memory_bandwidth: Option<Percent>,
    /// Most of the last-level cache.
    pub llc_share: Option<Percent>,
    /// What to do when somebody else changes a thread.
    pub on_change: Option<OnChange>,
    /// By what to place, instead of the automatic choice.
    pub place_by: Option<PlaceBy>,
}

/// Time that the kernel keeps for each thread. See sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// How long it may run.
    pub runtime: Duration,
    /// By when, from the start of each period.
    pub deadline: Duration,
    /// How often.
    pub period: Duration,
}

/// What a thread prefers among the CPUs of its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preference {
    /// Any idle CPU, near its data: the kernel's own search.
    IdleCpu,
    /// The CPU where it last ran.
    LastCpu,
    /// These.
    Cpus(CpuSet),
}

/// Who may run on the other threads of a core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreSharing {
    /// Threads of the same class.
    pub itself: bool,
    /// Threads of these classes.
    pub classes: Vec<String>,
}

impl CoreSharing {
    /// Whether no other thread may, not even of the same class.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        !self.itself && self.classes.is_empty()
    }
}

pub(super) fn demands(class: &PolicyClass, topology: &Topology) -> Demands {
    let it = &class.settings;
    Demands {
        deadline: it.runtime.map(|([runtime, period], _)| Reservation {
            runtime: runtime.value,
            deadline: it.deadline.map_or(period.value, |(deadline, _)| deadline.value),
            period: period.value,
        }),
        preference: it.prefer.as_ref().map(|prefer| match &prefer.value {
            Prefer::IdleCpu => Preference::IdleCpu,
            Prefer::LastCpu => Preference::LastCpu,
            Prefer::Cpus(cpus) => {
                let cpus = cpus.as_ref().map(|cpus| super::cpus::evaluate(cpus, topology));
                Preference::Cpus(cpus.unwrap_or_default())
            }
        }),
        share_core: core_sharing(class),
        only_when_idle: it.core_idle.map(|_| IdleUnit::Core).or(it.unit_idle.map(|unit| unit.value)),
        wait_at_most: it.wait_at_most.map(|it| it.0.value),
        slice: it.slice.map(|it| it.0.value),
        weight: it.weight.map(|it| it.0),
        quota: it.quota.map(|it| it.0.value),
        clamp: it.clamp.map(|([low, high], _)| (low.value, high.value)),
        memory_bandwidth: it.memory_bandwidth.map(|it| it.0.value),
        llc_share: it.llc_share.map(|it| it.0.value),
        on_change: it.on_change.map(|it| it.value),
        place_by: it.place_by.map(|it| it.0),
    }
}

pub(super) fn core_sharing(class: &PolicyClass) -> Option<CoreSharing> {
    let (sharers, _) = class.settings.share_core.as_ref()?;
    let mut sharing = CoreSharing::default();
    for sharer in sharers {
        match &sharer.value {
            Sharer::Nobody => {}
            Sharer::Class(name) if name.value != class.name.value => sharing.classes.push(name.value.clone()),
            Sharer::Itself | Sharer::Class(_) => sharing.itself = true,
        }
    }
    Some(sharing)
}
