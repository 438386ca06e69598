//! Which CPUs each class may use now: every rule about SMT, as one pure function.
//!
//! # Problem
//! Classes with `prefer idle core` shall behave as if SMT were off while whole cores are free, and use siblings only as
//! overflow. Gated classes (`only when core idle`) shall stay off every core on which anybody else runs. The kernel knows
//! neither wish, but it keeps threads within sets of CPUs. So the question of one tick is: which set for which class?
//!
//! # Terms
//! * *reach*: every CPU the plan lets a class use; its *tiers* are what it fills first, what next, and last the siblings.
//! * *demand* of a class: how many CPUs' worth of work it had since the last tick, running or waiting, rounded up.
//! * *occupied by others*, for a class: CPUs on which, since the last tick, a thread of another ungated class ran, or
//!   something that belongs to no class. Gated classes never count: they give way.
//! * A core is *idle* for a class when none of its CPUs is occupied by others. A CPU is *quiet* when it has been free of
//!   ungated classes and of what belongs to none for [`OPEN_AFTER`] ticks.
//! * A gate's *unit*: one CPU, core, last-level cache or node. A CPU outside every cache is in the unit of its node.
//!
//! # Rules
//! 1. **Fixed.** A class with one tier and no gate has its whole reach. Nothing is computed for it.
//! 2. **Tiers.** The first tier of which anything is open is given whole. Of a later one as many CPUs are given as the
//!    demand exceeds the CPUs before it that nobody else occupies: a preferred part is full before the rest is touched.
//! 3. **Overflow.** Threads are taken to come one after another. One that finds `below` or more idle cores (1 unless the
//!    policy says otherwise) takes one; the others need a sibling each. So with `idle` cores the siblings wanted are
//!    `demand + below - 1 - idle`, and never more than `demand`. Open ones stay as long as nobody else is on them, because
//!    who runs where for a part of a tick is another in the next. Of closed ones those of idle cores come first, then those
//!    that are free themselves, second threads of a core before third ones.
//! 4. **Gate.** A unit is closed at once with all its CPUs when any of them is occupied by others, and opened when all of
//!    them are quiet. CPUs of the class's floor are always open. Of what is open a class with a ceiling has as many cores
//!    as that allows: its floor, what it prefers, what it had. Where nothing is open the class is frozen.
//!    A class that the kernel makes give way (a cookie and `SCHED_IDLE`) is never frozen: where nothing is open it has its
//!    whole reach and runs in the gaps that others leave. Its CPUs follow the load all the same, because the kernel leaves a
//!    thread waiting beside a busy sibling while whole cores stand idle.
//! 5. **Room.** A gated class does not only leave what others use, it makes room for what they lack: where the demand of
//!    an ungated class exceeds what it ran on, as many cores of its reach are closed as if it ran there already. A class
//!    that wants cores of its own counts cores; any other counts CPUs, those beside its own included. Threads that are
//!    held on their CPUs could not use the room, and get none.
//! 6. **Waiting.** A class that may wait at most `T` and has been frozen for that long has a turn: it may use the unit on
//!    which the fewest CPUs are occupied, for a tenth of `T` and at least [`TURN`] ticks, and then waits anew. What a
//!    stopped thread would like to do cannot be seen, so all of the time counts. The load brings the time along.
//! 7. **Hysteresis.** More CPUs are given at once; fewer only when fewer would have done for [`CALM`] ticks, because
//!    taking a CPU away moves threads and giving one does not.
//!
//! # Why overflow starts where it does
//! The language says two things: a thread gets a core of its own while one is free, and overflow starts when fewer than N
//! cores (1) are left idle. As many threads as cores leave no core idle, but none of them needs a sibling. Opening one
//! there would let the kernel put two threads on one core and leave another empty, which the first sentence forbids. So N
//! is asked of each thread as it comes, not of the cores that remain after the last one.
//!
//! # Edge cases
//! A set is never empty, because no cpuset with tasks can be: a frozen class keeps the set it had. Demand beyond the reach
//! opens all of it. Fronts on cores that others occupy stay open: two classes that avoided each other's cores would swap
//! them tick by tick. A plan for another machine never meets a load of this one: hotplug makes a new plan, new [`Rules`],
//! and a new [`Assignment::initial`].

mod close;
mod fill;
mod gate;
mod occupancy;
mod rules;

use std::time::Duration;

use cotenant_compiler::CpuSet;

pub use close::close;
use gate::{Gates, Turn};
use occupancy::{Busy, Occupancy};
use rules::Rule;
pub use rules::Rules;

/// Ticks for which a CPU must have been free of others before a gated class may use it again.
pub const OPEN_AFTER: u8 = 3;

/// Ticks for which fewer CPUs must have been enough before some are taken back.
pub const CALM: u32 = 20;

/// The least ticks for which a class that has waited long enough runs.
pub const TURN: u32 = 5;

/// What happened since the last tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// The time since the last tick.
    pub elapsed: Duration,
    /// CPUs on which something ran that belongs to no class.
    pub foreign: CpuSet,
    /// CPUs of the cores on which a sensor saw anything for which gated classes make room; empty without one.
    pub used: CpuSet,
    /// One entry a class of the plan, in its order.
    pub classes: Vec<ClassLoad>,
}

impl Load {
    /// Whether it is another one's but for the time that it took.
    #[must_use]
    pub fn is_like(&self, other: &Load) -> bool {
        (&self.foreign, &self.used, &self.classes) == (&other.foreign, &other.used, &other.classes)
    }
}

/// What one class did since the last tick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassLoad {
    /// CPUs on which its threads ran.
    pub ran_on: CpuSet,
    /// CPUs' worth of work it had, running or waiting, rounded up.
    pub demand: usize,
}

/// The sets of CPUs in force, one entry a class of the plan, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// None for unmanaged classes.
    pub classes: Vec<Option<Share>>,
    /// For how many ticks each CPU has been free of others, by its number, up to [`OPEN_AFTER`]; empty without gates.
    quiet: Vec<u8>,
}

/// What one class may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    /// Never empty.
    pub cpus: CpuSet,
    /// Whether its threads must not run at all; then `cpus` is what they come back to.
    pub frozen: bool,
    /// For how many ticks fewer CPUs would have done.
    calm: u32,
    /// How long it has been frozen, where that is bounded.
    waited: Duration,
    /// Where and for how long it has run although its gate is closed.
    turn: Option<Turn>,
}

impl Assignment {
    /// Before anything is known of the load: gates are open, and overflow is closed.
    #[must_use]
    pub fn initial(rules: &Rules) -> Assignment {
        let share = |rule: &Option<Rule>| rule.as_ref().map(|_| Share::default());
        let nothing = Assignment { classes: rules.classes.iter().map(share).collect(), quiet: rules.all_quiet() };
        decide(rules, &Load::default(), &nothing)
    }
}

/// The sets for the next tick. `load` and `previous` must be of the plan that the rules are of; entries that are missing
/// count as idle.
#[must_use]
pub fn decide(rules: &Rules, load: &Load, previous: &Assignment) -> Assignment {
    let occupancy = Occupancy::of(rules, load);
    let quiet = gate::quiet(rules, load, &occupancy, &previous.quiet);
    let gates = Gates::of(rules, &quiet);
    let classes = rules.classes.iter().zip(&previous.classes).enumerate().map(|(at, (rule, before))| {
        let (rule, before) = (rule.as_ref()?, before.as_ref()?);
        if !rule.is_reactive {
            return Some(Share { cpus: rule.reach.clone(), ..Share::default() });
        }
        let demand = load.classes.get(at).map_or(0, |class| class.demand);
        if demand == 0 && rule.gate.is_none() && rule.at_rest.is_subset(&before.cpus) {
            // As most ticks find most classes.
            return Some(fill::rest(rule, before));
        }
        let Some(gates) = gates.as_ref().filter(|_| rule.gate.is_some()) else {
            return Some(fill::fill(rule, &rule.reach, &occupancy.for_class(at), demand, before));
        };
        let busy = occupancy.for_gated();
        Some(gated(rules, rule, gates, &busy, load.elapsed, demand, before))
    });
    Assignment { classes: classes.collect(), quiet }
}

fn gated(
    rules: &Rules,
    rule: &Rule,
    gates: &Gates,
    busy: &Busy,
    elapsed: Duration,
    demand: usize,
    before: &Share,
) -> Share {
    let open = gate::within_ceiling(rules, rule, gates.open(rule), &before.cpus);
    if !open.is_empty() {
        return fill::fill(rule, &open, busy, demand, before);
    }
    if rule.gives_way {
        return Share { cpus: rule.reach.clone(), ..Share::default() };
    }
    let (waited, turn) = gate::wait(rules, rule, busy, elapsed, before);
    match turn {
        Some(turn) => {
            let part = gate::within_ceiling(rules, rule, turn.part.clone(), &before.cpus);
            let share = fill::fill(rule, &part, busy, demand, before);
            Share { turn: Some(turn), ..share }
        }
        None => Share { cpus: before.cpus.clone(), frozen: true, waited, ..Share::default() },
    }
}

#[cfg(test)]
mod tests;
