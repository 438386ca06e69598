//! What a policy means on one machine: a value that says, class by class, which processes get which CPUs, by which means
//! and how strongly that holds.

mod admission;
mod build;
mod ceiling;
mod cookies;
mod cpus;
mod demands;
mod diff;
mod facilities;
mod host;
mod keep;
mod remains;
mod tiers;

pub(crate) use build::plan;
pub use cookies::Cookie;
pub use demands::{CoreSharing, Demands, Preference, Reservation};
pub use diff::{Change, diff, gone, predecessors};
pub use facilities::{CoreScheduling, Facilities};
pub use host::{Host, KernelSetting, Requirement, Unmet};
pub use remains::Astray;

use cotenant_grammar::tree::{At, ClassKind, EqualPrio, OnChange};
use cotenant_grammar::{SourceSet, Span, nearest};

use crate::selector::{Process, Selector};
use crate::topology::Topology;
use crate::{CpuId, CpuSet};

/// A checked policy on a known machine. There is no way to make one of a policy with errors.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The texts that the spans point into.
    pub sources: SourceSet,
    /// The machine it was made for.
    pub topology: Topology,
    /// The means that the host has beside sets of CPUs and the load.
    pub facilities: Facilities,
    /// What a host must be for the plan to be put in force; see [`Plan::unmet`].
    pub requirements: Vec<At<Requirement>>,
    /// Settings of the kernel, for all that runs on the host.
    pub kernel: Vec<KernelSetting>,
    /// In matching order: the first class that matches a process wins.
    pub classes: Vec<PlannedClass>,
}

/// One class of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedClass {
    /// Its name.
    pub name: String,
    /// How it is scheduled.
    pub kind: ClassKind,
    /// Its header in the policy.
    pub header: Span,
    /// Which processes it covers.
    pub selector: Selector,
    /// The `match` clause; absent where the class matches by its name.
    pub matched: Option<Span>,
    /// Whether children that no class matches by itself stay in this class.
    pub with_descendants: bool,
    /// What is done with its processes; absent for `unmanaged`.
    pub placement: Option<Placement>,
}

/// Where and how the processes of a class run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Every CPU the policy gives the class, floors of other classes aside.
    pub zone: CpuSet,
    /// CPUs of the zone that are kept for the floors of other classes.
    pub kept_for_others: CpuSet,
    /// The CPUs the class may use, in the order in which it fills them: the preferred part, the rest, and siblings where
    /// they are overflow. A later tier is opened when the ones before it are full. None is empty; they share no CPU.
    pub tiers: Vec<CpuSet>,
    /// The last tier are siblings, and is opened when fewer than this many cores of the zone are idle; absent where
    /// siblings are no overflow, and where `spread` keeps all of them open.
    pub spill_below: Option<u32>,
    /// Whether a sensor moves a thread that shares a core to one that is idle, all CPUs being open at all times.
    pub spread: bool,
    /// The most cores at a time, of all that the tiers hold; absent where the tiers hold no more than that.
    pub most_cores: Option<usize>,
    /// When the class may run at all.
    pub gate: Option<Gate>,
    /// The core-scheduling cookie of its threads; absent where it needs none or the host has none to give.
    pub cookie: Option<Cookie>,
    /// What becomes of waking threads whose CPU runs an equal.
    pub equal_prio: Option<EqualPrio>,
    /// CPUs of the cores that the class keeps under all circumstances; empty without `at least`.
    pub floor: CpuSet,
    /// Scheduling attributes; what is absent is never written.
    pub attributes: Attributes,
    /// What else the class asks for.
    pub demands: Demands,
    /// Every clause of the class, with how it is kept.
    pub clauses: Vec<KeptClause>,
}

/// A condition under which a class runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Only on CPUs on which nothing ungated runs.
    CpuIdle,
    /// Only on cores on which nothing ungated runs.
    CoreIdle,
    /// Only below last-level caches below which nothing ungated runs, kept by watching.
    LlcIdle,
    /// Only on NUMA nodes on which nothing ungated runs, kept by watching.
    NodeIdle,
}

/// What is written to each thread's scheduling state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// Scheduling policy.
    pub policy: Option<Scheduling>,
    /// Nice value, -20 to 19.
    pub nice: Option<i8>,
}

/// A scheduling policy that a class gives its threads. See sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// `SCHED_FIFO` at a priority of 1 to 99.
    Fifo(u8),
    /// `SCHED_RR` at a priority of 1 to 99.
    RoundRobin(u8),
    /// `SCHED_IDLE`.
    Idle,
}

/// A clause and the promise made for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptClause {
    /// The clause as the language writes it.
    pub text: String,
    /// Where it stands; absent for what follows from the class's kind.
    pub span: Option<Span>,
    /// What it comes to on this machine.
    pub effect: String,
    /// By what it is kept.
    pub means: Means,
    /// How strongly.
    pub strength: Strength,
}

/// What keeps a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Means {
    /// The set of CPUs a thread is allowed on: a cpuset or the thread's affinity.
    AllowedCpus,
    /// Each thread is allowed on one CPU.
    Pinning,
    /// `sched_setattr(2)`.
    SchedAttr,
    /// A loop that looks at the load once a tick and rewrites sets of CPUs.
    TickLoop,
    /// A look each second at what the threads have.
    Look,
    /// The kernel runs threads of one cookie only on a core at the same instant.
    Cookie,
    /// A program in the kernel that sees every switch, and a thread of the daemon that acts on what it sees.
    Sensor,
    /// Nothing needs to be done on this machine.
    Nothing,
    /// There is none: the clause is refused.
    None,
    /// There would be, with core scheduling: the clause is refused.
    NoCookies,
}

/// How strongly a clause holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strength {
    /// The kernel guarantees it.
    Strict,
    /// The kernel keeps it but for a stated share.
    Bounded,
    /// It is kept by reacting, within a time that the means say.
    Reactive,
    /// It is not kept, and the policy was warned about that.
    Refused,
}

impl Plan {
    /// The class of that name; where there is none, the name that comes nearest to it, if any does.
    ///
    /// # Errors
    /// Where there is none.
    pub fn class_named(&self, name: &str) -> Result<usize, Option<&str>> {
        let position = self.classes.iter().position(|class| class.name == name);
        position.ok_or_else(|| nearest(name, self.classes.iter().map(|class| class.name.as_str())))
    }

    /// The class of a process: the first that covers it.
    #[must_use]
    pub fn classify(&self, process: &dyn Process) -> Option<usize> {
        self.classes.iter().position(|class| class.covers(process))
    }

    /// Whether anything must be watched while the plan is in force.
    #[must_use]
    pub fn is_reactive(&self) -> bool {
        let mut placements = self.classes.iter().filter_map(|class| class.placement.as_ref());
        placements.any(|placement| placement.is_reactive() || placement.spread)
    }
}

impl PlannedClass {
    /// Whether the class covers a process: its selector matches, or for a real-time class [admits](Selector::admits) it.
    #[must_use]
    pub fn covers(&self, process: &dyn Process) -> bool {
        match self.kind {
            ClassKind::Rt | ClassKind::Deadline => self.selector.admits(process),
            _ => self.selector.matches(process),
        }
    }

    /// Whether this is what became of that class of another plan. Classes go by their names; nameless `unmanaged` ones by
    /// what they match.
    #[must_use]
    pub fn succeeds(&self, other: &PlannedClass) -> bool {
        self.name == other.name
            && (self.placement.is_some() || other.placement.is_some() || self.selector == other.selector)
    }
}

impl Placement {
    /// Whether the class's CPUs change with the load.
    #[must_use]
    pub fn is_reactive(&self) -> bool {
        let follows = self.tiers.len() > 1 && (self.spill_below.is_some() || !self.spread);
        follows || self.gate.is_some() || self.stays_on_last_cpu()
    }

    /// Whether what somebody else changes of a thread is set back.
    #[must_use]
    pub fn insists(&self) -> bool {
        self.demands.on_change == Some(OnChange::Insist)
    }

    /// Whether each of its threads is kept on the CPU where it last ran. Held threads stay anyway.
    #[must_use]
    pub fn stays_on_last_cpu(&self) -> bool {
        self.demands.preference == Some(Preference::LastCpu) && self.equal_prio.is_none()
    }

    /// Whether the class must be stopped where its gate leaves it no CPU.
    #[must_use]
    pub fn may_stop(&self) -> bool {
        self.gate.is_some() && !self.gives_way()
    }

    /// Whether the kernel itself makes the class give way on each core: nothing of another cookie runs beside it, and it
    /// runs under `SCHED_IDLE`.
    #[must_use]
    pub fn gives_way(&self) -> bool {
        self.gate == Some(Gate::CoreIdle)
            && self.cookie.is_some()
            && self.demands.wait_at_most.is_none()
            && self.attributes.policy == Some(Scheduling::Idle)
    }

    /// Every CPU the class may ever use.
    #[must_use]
    pub fn reach(&self) -> CpuSet {
        self.tiers.iter().fold(CpuSet::new(), |all, tier| all.union(tier))
    }
}

impl Scheduling {
    /// The real-time priority, 0 for others.
    #[must_use]
    pub fn priority(self) -> u8 {
        match self {
            Scheduling::Fifo(priority) | Scheduling::RoundRobin(priority) => priority,
            Scheduling::Idle => 0,
        }
    }
}

impl Means {
    /// The words printed for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Means::AllowedCpus => "allowed CPUs",
            Means::Pinning => "one CPU a thread",
            Means::SchedAttr => "sched_setattr",
            Means::TickLoop => "tick loop",
            Means::Look => "look each second",
            Means::Cookie => "core-scheduling cookie",
            Means::Sensor => "sensor",
            Means::Nothing => "nothing to do",
            Means::None | Means::NoCookies => "nothing",
        }
    }
}

impl Strength {
    /// The word printed for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Strength::Strict => "strict",
            Strength::Bounded => "bounded",
            Strength::Reactive => "reactive",
            Strength::Refused => "refused",
        }
    }
}

/// The first CPU of `set` in each core, in core order.
pub(crate) fn leaders(set: &CpuSet, topology: &Topology) -> Vec<CpuId> {
    let lead = |core: &crate::topology::Core| core.threads.iter().copied().find(|cpu| set.contains(*cpu));
    topology.cores().iter().filter_map(lead).collect()
}

#[cfg(test)]
mod tests;
