//! `spec` is the specification; everything beside it makes situations to hold against it.

mod cases;
mod every;
mod golden;
mod machines;
mod properties;
mod scene;
mod spec;
mod waiting;

use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuId, CpuSet, Plan, compile};
use cotenant_grammar::SourceSet;

use super::*;

/// Ticks after which nothing may change any more while the load stays the same: a calm, then what was quiet by then.
const SETTLED: u32 = CALM + OPEN_AFTER as u32 + 2;

/// A policy on a machine, with its rules.
struct Stage {
    plan: Plan,
    rules: Rules,
}

impl Stage {
    fn new(text: &str, topology: &Topology) -> Stage {
        Stage::possible(text, topology).unwrap_or_else(|| panic!("{text} has no plan"))
    }

    /// None where the policy asks for what the machine does not have.
    fn possible(text: &str, topology: &Topology) -> Option<Stage> {
        let plan = compile(SourceSet::one("p", text), topology).0?;
        Some(Stage { rules: Rules::of(&plan), plan })
    }

    fn initial(&self) -> Assignment {
        Assignment::initial(&self.rules)
    }

    fn decide(&self, load: &Load, before: &Assignment) -> Assignment {
        decide(&self.rules, load, before)
    }

    fn after(&self, loads: &[Load]) -> Assignment {
        loads.iter().fold(self.initial(), |before, load| self.decide(load, &before))
    }
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// A tick of 10 ms from `(ran on, demand)` a class.
fn load(foreign: &str, classes: &[(&str, usize)]) -> Load {
    let classes = classes.iter().map(|(ran_on, demand)| ClassLoad { ran_on: set(ran_on), demand: *demand });
    Load { elapsed: Duration::from_millis(10), foreign: set(foreign), classes: classes.collect(), ..Load::default() }
}

fn cpus(assignment: &Assignment, class: usize) -> String {
    assignment.classes[class].as_ref().unwrap().cpus.to_string()
}
