//! A plan as a document for programs. The fields are ours, so that the compiler knows no format.

mod demands;
mod host;

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{self, KeptClause, Placement, PlannedClass, Scheduling};
use cotenant_grammar::SourceSet;
use cotenant_grammar::tree::EqualPrio;
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::cpus::Cpus;
use super::place::Place;
use super::plan::gate;
use super::topology_json::Machine;
use demands::Asked;
use host::{Required, Setting, required, setting};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    machine: Machine,
    files: Vec<&'a str>,
    /// Whether something must be watched while the plan is in force.
    reactive: bool,
    /// What a host must have for the plan to be put in force, as a policy writes it.
    requires: Vec<String>,
    /// The same, to be told apart without reading words.
    requirements: Vec<Required<'a>>,
    /// Settings of the kernel.
    kernel: Vec<Setting<'a>>,
    /// In matching order.
    classes: Vec<Class<'a>>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    kind: &'static str,
    header: Place<'a>,
    /// The processes, as a policy would write them.
    r#match: String,
    with_descendants: bool,
    /// Null for what is never touched.
    placement: Option<Placed<'a>>,
}

#[derive(Serialize)]
struct Placed<'a> {
    zone: Cpus,
    /// In filling order.
    tiers: Vec<Cpus>,
    /// The last tier are siblings and opens when fewer cores than this are idle; null where siblings are no overflow.
    spill_below: Option<u32>,
    /// Whether the sensor moves threads that share a core to one that is idle.
    spread: bool,
    /// The most cores at a time, of all in the tiers; null where that is all of them.
    most_cores: Option<usize>,
    /// `only when core idle` and the like; null where the class always runs.
    gate: Option<&'static str>,
    /// The core-scheduling cookie of its threads; null where they have none.
    cookie: Option<Cookie<'a>>,
    /// `push` or `hold`; null where the policy does not say.
    equal_prio: Option<&'static str>,
    floor: Cpus,
    kept_for_others: Cpus,
    scheduling: Attributes,
    /// What else the class asks for, whether it is carried out or refused.
    demands: Asked<'a>,
    clauses: Vec<Clause<'a>>,
}

/// Threads of equal cookies run on one core at the same instant, and no others.
#[derive(Serialize)]
struct Cookie<'a> {
    /// `thread` where each has one of its own, `classes` where it is common to all threads of these.
    of: &'static str,
    classes: &'a [String],
}

/// What is null is left as it is.
#[derive(Serialize)]
struct Attributes {
    policy: Option<&'static str>,
    priority: Option<u8>,
    nice: Option<i8>,
}

#[derive(Serialize)]
struct Clause<'a> {
    text: &'a str,
    effect: &'a str,
    means: &'static str,
    strength: &'static str,
    source: Option<Place<'a>>,
}

/// The plan as one JSON document.
pub(crate) fn plan_json(plan: &Plan) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        machine: Machine::from(&plan.topology),
        files: plan.sources.iter().map(|(_, source)| source.name()).collect(),
        reactive: plan.is_reactive(),
        requires: plan.requirements.iter().map(|required| required.value.to_string()).collect(),
        requirements: plan.requirements.iter().map(|it| required(it, &plan.sources)).collect(),
        kernel: plan.kernel.iter().map(|it| setting(it, &plan.sources)).collect(),
        classes: plan.classes.iter().map(|it| class(it, &plan.sources)).collect(),
    };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn class<'a>(class: &'a PlannedClass, sources: &'a SourceSet) -> Class<'a> {
    Class {
        name: &class.name,
        kind: class.kind.word(),
        header: Place::new(class.header, sources),
        r#match: class.selector.to_string(),
        with_descendants: class.with_descendants,
        placement: class.placement.as_ref().map(|it| placed(it, sources)),
    }
}

fn placed<'a>(placement: &'a Placement, sources: &'a SourceSet) -> Placed<'a> {
    Placed {
        zone: (&placement.zone).into(),
        tiers: placement.tiers.iter().map(Cpus::from).collect(),
        spill_below: placement.spill_below,
        most_cores: placement.most_cores,
        spread: placement.spread,
        gate: placement.gate.map(gate),
        cookie: placement.cookie.as_ref().map(|cookie| match cookie {
            plan::Cookie::Each => Cookie { of: "thread", classes: &[] },
            plan::Cookie::Common(classes) => Cookie { of: "classes", classes },
        }),
        equal_prio: placement.equal_prio.map(|mode| match mode {
            EqualPrio::Push => "push",
            EqualPrio::Hold => "hold",
        }),
        floor: (&placement.floor).into(),
        kept_for_others: (&placement.kept_for_others).into(),
        scheduling: attributes(placement),
        demands: Asked::from(&placement.demands),
        clauses: placement.clauses.iter().map(|it| clause(it, sources)).collect(),
    }
}

fn attributes(placement: &Placement) -> Attributes {
    let policy = placement.attributes.policy;
    Attributes {
        policy: policy.map(|policy| match policy {
            Scheduling::Fifo(_) => "SCHED_FIFO",
            Scheduling::RoundRobin(_) => "SCHED_RR",
            Scheduling::Idle => "SCHED_IDLE",
        }),
        priority: policy.map(Scheduling::priority).filter(|priority| *priority > 0),
        nice: placement.attributes.nice,
    }
}

fn clause<'a>(clause: &'a KeptClause, sources: &'a SourceSet) -> Clause<'a> {
    Clause {
        text: &clause.text,
        effect: &clause.effect,
        means: clause.means.words(),
        strength: clause.strength.word(),
        source: clause.span.map(|span| Place::new(span, sources)),
    }
}
