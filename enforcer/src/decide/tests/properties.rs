//! Random machines of up to 512 CPUs, random policies, random histories of load.

use cotenant_compiler::topology::CoreKind;
use proptest::prelude::*;
use proptest::sample::select;

use super::every::holds;
use super::machines::{Core, machine};
use super::*;

const MOST_CPUS: u32 = 512;

/// Cores of 1, 2, 4 and 8 threads side by side, some threads offline, so many cores to a cache and so many caches to a node.
fn machines() -> impl Strategy<Value = Topology> {
    let cores = prop::collection::vec(select(vec![1_u32, 1, 2, 2, 2, 4, 8]), 1..128);
    let offline = prop::collection::vec(0..MOST_CPUS, 0..40);
    (cores, offline, 1..9_u32, 1..4_u32, any::<bool>()).prop_map(|(threads, offline, to_llc, to_node, caches)| {
        let core = |(at, threads): (u32, u32)| Core {
            kind: if at % 3 == 2 { CoreKind::Efficiency } else { CoreKind::Performance },
            threads,
            llc: caches.then_some(at / to_llc),
            node: at / to_llc / to_node,
        };
        let cores: Vec<Core> = (0..).zip(threads).map(core).collect();
        // Somebody must be online to decide for.
        machine(&cores, &offline.into_iter().filter(|cpu| *cpu > 0).map(CpuId).collect())
    })
}

/// One class, as text. Numbers of cores are taken modulo what the machine has.
fn classes() -> impl Strategy<Value = (Vec<&'static str>, [usize; 2])> {
    let kind = select(vec!["rt class", "fair class", "batch class"]);
    let share = select(vec![
        "",
        "prefer idle core",
        "never spill",
        "spill to siblings below 2 idle cores",
        "prefer idle core, spill to siblings below 5 idle cores",
        "prefer CORES",
        "prefer CORES, never spill",
        "prefer CORES, spill to siblings below 2 idle cores",
    ]);
    let gate =
        select(vec!["", "", "only when cpu idle", "only when core idle", "only when llc idle", "only when node idle"]);
    let bounds = select(vec!["", "", "", "at least 1 core", "at least 2 cores", "at most 1 core", "at most 3 cores"]);
    let zone = select(vec!["", "", "on CORES", "on all except CORES", "on siblings of all", "on fronts of all"]);
    let clauses = (kind, share, gate, bounds, zone).prop_map(|(kind, a, b, c, d)| vec![kind, a, b, c, d]);
    (clauses, [any::<usize>(), any::<usize>()])
}

fn text(classes: &[(Vec<&'static str>, [usize; 2])], topology: &Topology) -> String {
    let class = |(at, (clauses, [a, b])): (usize, &(Vec<&'static str>, [usize; 2]))| {
        let cores = topology.cores().len();
        let cores = format!("cores {}-{}", (a % cores).min(b % cores), (a % cores).max(b % cores));
        let said: Vec<&str> = clauses[1..].iter().copied().filter(|clause| !clause.is_empty()).collect();
        let said = if said.is_empty() { "nice 1".to_owned() } else { said.join(", ") };
        let kind = if clauses[1..].iter().all(|clause| clause.is_empty()) { "fair class" } else { clauses[0] };
        format!("{kind} c{at}: {};\n", said.replace("CORES", &cores))
    };
    classes.iter().enumerate().map(class).collect()
}

/// What ran where and how much there was to do, in a form that fits any plan: densities, and a seed for the places.
#[derive(Debug, Clone)]
struct Moment {
    foreign: (u8, u64),
    classes: Vec<(u8, u64, usize)>,
    ticks: u32,
    elapsed: u64,
}

fn moments() -> impl Strategy<Value = Moment> {
    let density = || select(vec![0_u8, 0, 1, 10, 50, 90, 100]);
    let demand = prop_oneof![0..4_usize, 0..40_usize, Just(usize::MAX)];
    let classes = prop::collection::vec((density(), any::<u64>(), demand), 6);
    ((density(), any::<u64>()), classes, 1..30_u32, 1..50_u64).prop_map(|(foreign, classes, ticks, elapsed)| Moment {
        foreign,
        classes,
        ticks,
        elapsed,
    })
}

fn some(topology: &Topology, density: u8, seed: u64) -> CpuSet {
    // Fibonacci hashing: places that look random and are the same for the same seed.
    let hash = |cpu: CpuId| (seed ^ u64::from(cpu.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    topology.online().iter().filter(|cpu| hash(*cpu) % 100 < u64::from(density)).collect()
}

impl Moment {
    fn load(&self, stage: &Stage) -> Load {
        let topology = &stage.plan.topology;
        let class = |(density, seed, demand): &(u8, u64, usize)| ClassLoad {
            ran_on: some(topology, *density, *seed),
            demand: *demand,
        };
        Load {
            elapsed: Duration::from_millis(self.elapsed),
            foreign: some(topology, self.foreign.0, self.foreign.1),
            classes: self.classes.iter().take(stage.plan.classes.len()).map(class).collect(),
            ..Load::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_promise_holds_on_every_machine_after_any_history(
        topology in machines(),
        classes in prop::collection::vec(classes(), 1..6),
        history in prop::collection::vec(moments(), 1..5),
    ) {
        let text = text(&classes, &topology);
        // Floors may leave nothing, and a zone of siblings may be empty here.
        let Some(stage) = Stage::possible(&text, &topology) else { return Ok(()) };
        let mut now = stage.initial();
        for moment in &history {
            let load = moment.load(&stage);
            now = stage.decide(&load, &now);
            holds(&stage, &load, &now, false);
            now = (1..moment.ticks).fold(now, |now, _| stage.decide(&load, &now));
            holds(&stage, &load, &now, false);
        }
        let last = history.last().map(|moment| moment.load(&stage)).unwrap_or_default();
        for _ in 0..SETTLED {
            now = stage.decide(&last, &now);
        }
        holds(&stage, &last, &now, true);
        prop_assert_eq!(stage.decide(&last, &now), now, "{}", text);
    }

    /// However the load changes, and however late a tick comes: never longer than the wait and the tick that sees it.
    #[test]
    fn nobody_waits_longer_than_it_may(
        topology in machines(),
        gate in select(vec!["cpu", "core", "llc", "node"]),
        history in prop::collection::vec(moments(), 1..30),
    ) {
        let text = format!("fair class c0: only when {gate} idle, wait at most 300ms; class c1: nice 1;");
        let stage = Stage::new(&text, &topology);
        let (mut now, mut waited) = (stage.initial(), Duration::ZERO);
        for moment in &history {
            let load = moment.load(&stage);
            for _ in 0..moment.ticks {
                let was_frozen = now.classes[0].as_ref().unwrap().frozen;
                waited = if was_frozen { waited + load.elapsed } else { Duration::ZERO };
                now = stage.decide(&load, &now);
                let frozen = now.classes[0].as_ref().unwrap().frozen;
                prop_assert!(!frozen || waited < Duration::from_millis(300), "{:?} of waiting", waited);
            }
        }
    }
}
