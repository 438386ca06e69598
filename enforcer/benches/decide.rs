//! What one decision costs, from a laptop to the largest machines, from one class to more than anybody has.
//!
//! `cargo bench -p cotenant-enforcer --bench decide`. The load is a busy one: every class has work, ungated ones ran on
//! a fifth of the CPUs each, and something foreign runs on every tenth.

#![allow(clippy::expect_used, reason = "a benchmark that cannot begin has nothing to say")]

use std::fmt::Write;
use std::time::Duration;

use cotenant_compiler::topology::{CoreKind, CpuPlace, Topology};
use cotenant_compiler::{CpuId, CpuSet, compile};
use cotenant_enforcer::decide::{Assignment, ClassLoad, Load, Rules, decide};
use cotenant_grammar::SourceSet;

const CPUS: [u32; 5] = [2, 16, 128, 512, 1024];
const CLASSES: [usize; 4] = [1, 5, 20, 50];

fn main() {
    divan::main();
}

/// Cores of two threads, eight to a cache and 64 to a node.
fn machine(cpus: u32) -> Topology {
    let place = |cpu: u32| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: cpu / 2,
        llc: Some(cpu / 16),
        node: cpu / 128,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&(0..cpus).map(place).collect::<Vec<_>>())
}

/// All of the clauses that follow the load, in turn.
fn policy(classes: usize) -> String {
    let clauses = [
        "prefer idle core",
        "only when core idle",
        "spill to siblings below 2 idle cores",
        "never spill",
        "only when llc idle, wait at most 1s",
        "prefer core 0",
    ];
    clauses.iter().cycle().take(classes).enumerate().fold(String::new(), |mut text, (at, clause)| {
        writeln!(text, "fair class c{at}: {clause};").expect("a string has room");
        text
    })
}

fn load(classes: usize, cpus: u32) -> Load {
    let every = |n: u32, from: u32| (0..cpus).filter(|cpu| cpu % n == from % n).map(CpuId).collect::<CpuSet>();
    let class = |at: usize| ClassLoad { ran_on: every(5, at as u32), demand: cpus as usize / 4 + at };
    let classes = (0..classes).map(class).collect();
    Load { elapsed: Duration::from_millis(10), foreign: every(10, 7), classes, ..Load::default() }
}

#[divan::bench(args = CPUS, consts = CLASSES)]
fn one_tick<const CLASSES: usize>(bencher: divan::Bencher<'_, '_>, cpus: u32) {
    let (plan, _) = compile(SourceSet::one("bench", policy(CLASSES)), &machine(cpus));
    let rules = Rules::of(&plan.expect("the policy has a plan"));
    let load = load(CLASSES, cpus);
    let before = decide(&rules, &load, &Assignment::initial(&rules));
    bencher.bench(|| decide(&rules, divan::black_box(&load), divan::black_box(&before)));
}
