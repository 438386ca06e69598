//! The machine and the policies that histories are about.

use std::sync::LazyLock;

use super::super::set;
use cotenant_compiler::topology::{CoreKind, CpuPlace, Topology};
use cotenant_compiler::{CpuId, CpuSet, Plan, compile};
use cotenant_grammar::SourceSet;

/// What they say, from one clause each to classes that bear on each other.
const TEXTS: [&str; 8] = [
    "rt class a: match exe /bin/a, on cpus 0-3, fifo, priority 7; class b: match exe /bin/b, nice 5;",
    "class a: match exe /bin/a with descendants, on cpus 4-7, nice 4; \
     rt class b: match exe /bin/b, on cpus 2-3, push equal prio;",
    "batch class b: match exe /bin/b, only when core idle; class a: match exe /bin/a, prefer idle core;",
    "unmanaged: match exe /bin/b; class a: match exe /bin/a or comm x, on cpus 0-1; \
     batch class c: match exe /bin/c with descendants;",
    "require: core scheduling; class a: match exe /bin/a, share core with itself, class b; \
     class b: match exe /bin/b, on cpus 0-3; class c: match exe /bin/c, share core with nobody;",
    "rt class a: match exe /bin/a, on cpus 4-5, priority 3; rt class b: match exe /bin/b, on cpus 4-5, priority 3;",
    "rt class b: match exe /bin/b, on cpus 0-3, hold equal prio; class c: match exe /bin/c, on cpu 6;",
    "",
];

pub(super) const COUNT: usize = TEXTS.len();

/// Cores of two threads, side by side.
static MACHINE: LazyLock<Topology> = LazyLock::new(|| {
    let place = |cpu: CpuId| CpuPlace {
        cpu,
        online: true,
        core: cpu.0 / 2,
        llc: Some(0),
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&cpus().iter().map(place).collect::<Vec<_>>())
});

static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
    let plan = |text: &&str| {
        let (plan, diagnostics) = compile(SourceSet::one("p", *text), &MACHINE);
        plan.unwrap_or_else(|| panic!("{diagnostics:#?}"))
    };
    TEXTS.iter().map(plan).collect()
});

pub(super) fn cpus() -> CpuSet {
    set("0-7")
}

pub(super) fn plan(policy: usize) -> Plan {
    PLANS[policy % COUNT].clone()
}

pub(super) fn keeps_descendants(plan: &Plan) -> bool {
    plan.classes.iter().any(|class| class.with_descendants)
}
