//! Trees as the parser makes them: no damage, no double negation, no chain of one.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::Span;
use crate::tree::*;

fn at<T>(value: T) -> At<T> {
    At { value, span: Span::default() }
}

pub(super) fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let statement = prop_oneof![
        6 => class().prop_map(Statement::Class),
        1 => (name(), cpus()).prop_map(|(name, body)| Statement::Zone(Definition { name, body })),
        1 => (name(), processes()).prop_map(|(name, body)| Statement::Processes(Definition { name, body })),
        1 => pattern().prop_map(|pattern| Statement::Include(Include { pattern })),
        1 => vec(condition().prop_map(at), 1..4).prop_map(Statement::Require),
        1 => vec(knob().prop_map(at), 1..4).prop_map(Statement::Kernel),
    ];
    vec(statement, 0..5)
}

fn class() -> impl Strategy<Value = Class> {
    let kind =
        select(vec![ClassKind::Rt, ClassKind::Deadline, ClassKind::Fair, ClassKind::Batch, ClassKind::Unmanaged]);
    (kind, name(), any::<bool>(), vec(clause(), 1..6)).prop_map(|(kind, name, named, clauses)| {
        let name = if named { name } else { at(kind.word().to_owned()) };
        let clauses = clauses.into_iter().map(at).collect();
        Class { kind: at(kind), name, named, header: at(()), clauses, damaged: false }
    })
}

/// Words that mean something elsewhere are names, too.
fn name() -> impl Strategy<Value = Name> {
    let word = prop_oneof![
        4 => "[a-zé_][a-z0-9_-]{0,6}x",
        1 => select(vec!["core", "idle", "linux", "nice", "zone", "match", "on"]).prop_map(|word| format!("{word}-1")),
        1 => select(vec!["fifo", "itself", "share", "web"]).prop_map(str::to_owned),
    ];
    word.prop_map(at)
}

fn pattern() -> impl Strategy<Value = At<String>> {
    prop_oneof!["[a-z*./]{1,9}", "[a-z \"\\\\,;#()é\n\t]{0,9}", "\\PC{1,5}"].prop_map(at)
}

fn duration() -> impl Strategy<Value = At<Duration>> {
    prop_oneof![0..5_000_u64, (0..100_000_u64).prop_map(|it| it * 1000), any::<u32>().prop_map(u64::from)]
        .prop_map(|it| at(Duration(it)))
}

fn percent() -> impl Strategy<Value = At<Percent>> {
    (0..20_000_u64).prop_map(|it| at(Percent(it)))
}

fn clause() -> impl Strategy<Value = Clause> {
    let number = || any::<u32>().prop_map(at);
    let integer = || any::<i32>().prop_map(|it| at(i64::from(it)));
    let fixed = select(vec![
        Clause::PreferIdleCore,
        Clause::PreferIdleCpu,
        Clause::PreferLastCpu,
        Clause::NeverSpill,
        Clause::Spill { below: None },
        Clause::EqualPrio(EqualPrio::Push),
        Clause::EqualPrio(EqualPrio::Hold),
        Clause::Fifo,
        Clause::RoundRobin,
        Clause::WithDescendants,
        Clause::OnChange(OnChange::Insist),
        Clause::OnChange(OnChange::Yield),
    ]);
    let units = select(vec![IdleUnit::Cpu, IdleUnit::Core, IdleUnit::Llc, IdleUnit::Node]);
    let places = select(vec![PlaceBy::Cgroup, PlaceBy::Affinity, PlaceBy::Move]);
    let sharer = prop_oneof![Just(Sharer::Nobody), Just(Sharer::Itself), name().prop_map(Sharer::Class),];
    let placed = prop_oneof![
        3 => processes().prop_map(Clause::Match),
        3 => cpus().prop_map(Clause::On),
        1 => cpus().prop_map(Clause::PreferCpus),
        4 => fixed,
        1 => number().prop_map(|below| Clause::Spill { below: Some(below) }),
        2 => vec(sharer.prop_map(at), 1..4).prop_map(Clause::ShareCore),
        1 => units.prop_map(|unit| Clause::OnlyWhenIdle(at(unit))),
        1 => duration().prop_map(Clause::WaitAtMost),
        1 => number().prop_map(Clause::AtLeastCores),
        1 => number().prop_map(Clause::AtMostCores),
        1 => percent().prop_map(Clause::AtMostShare),
    ];
    let scheduled = prop_oneof![
        integer().prop_map(Clause::Priority),
        (duration(), duration()).prop_map(|(runtime, every)| Clause::Runtime { runtime, every }),
        duration().prop_map(Clause::Deadline),
        integer().prop_map(Clause::Nice),
        duration().prop_map(Clause::Slice),
        integer().prop_map(Clause::Weight),
        (0..100_000_u64).prop_map(|it| Clause::Quota(at(Quota(it)))),
        (percent(), percent())
            .prop_map(|(a, b)| Clause::Clamp { low: at(a.value.min(b.value)), high: at(a.value.max(b.value)) }),
        percent().prop_map(Clause::MemoryBandwidth),
        percent().prop_map(Clause::LlcShare),
        places.prop_map(|place| Clause::PlaceBy(at(place))),
    ];
    prop_oneof![2 => placed, 1 => scheduled]
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        (0..9_u32, 0..99_u32).prop_map(|(major, minor)| Condition::Linux(at(LinuxVersion { major, minor }))),
        Just(Condition::Smt),
        Just(Condition::CoreScheduling),
        Just(Condition::CgroupV2),
        any::<u32>().prop_map(|it| Condition::AtLeastCores(at(it))),
        pattern().prop_map(Condition::Host),
    ]
}

fn knob() -> impl Strategy<Value = Knob> {
    prop_oneof![
        (name(), any::<bool>()).prop_map(|(name, on)| Knob::Feature { name, on }),
        percent().prop_map(Knob::RtRuntime),
        any::<bool>().prop_map(Knob::Autogroup),
    ]
}

fn cpus() -> impl Strategy<Value = CpuExpr> {
    let unit = select(vec![Unit::Cpu, Unit::Core, Unit::Llc, Unit::Node, Unit::Package]);
    let leaf = prop_oneof![
        Just(CpuExpr::All(at(()))),
        (unit, 0..9_u32, 0..9_u32).prop_map(|(unit, first, more)| CpuExpr::Units(at(Units {
            unit,
            first,
            last: first + more
        }))),
        select(vec![CoreKind::Performance, CoreKind::Efficiency]).prop_map(|kind| CpuExpr::KindCores(at(kind))),
        name().prop_map(CpuExpr::Zone),
    ];
    let operator = || select(vec![CpuOperator::And, CpuOperator::Within, CpuOperator::Except]).prop_map(at);
    let parts = || vec(select(vec![Part::Fronts, Part::Siblings]).prop_map(at), 1..3);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        // A part of a part is one list of parts.
        let part = (parts(), inner.clone()).prop_map(|(mut parts, of)| match of {
            CpuExpr::Part(mut more, of) => {
                parts.append(&mut more);
                CpuExpr::Part(parts, of)
            }
            of => CpuExpr::Part(parts, Box::new(of)),
        });
        let chain = (inner.clone(), vec((operator(), inner), 1..3))
            .prop_map(|(first, rest)| CpuExpr::Chain(Box::new(first), rest));
        prop_oneof![part, chain]
    })
}

fn processes() -> impl Strategy<Value = ProcessExpr> {
    let field = select(vec![
        Field::Exe,
        Field::Comm,
        Field::Thread,
        Field::Script,
        Field::Arg,
        Field::User,
        Field::Group,
        Field::Cgroup,
        Field::Unit,
        Field::Slice,
        Field::Container,
    ]);
    let policy = select(vec![
        InitialPolicy::Other,
        InitialPolicy::Batch,
        InitialPolicy::Idle,
        InitialPolicy::Fifo,
        InitialPolicy::RoundRobin,
        InitialPolicy::Deadline,
    ]);
    let leaf = prop_oneof![
        4 => (field, pattern()).prop_map(|(field, pattern)| ProcessExpr::Predicate(at(field), pattern)),
        1 => policy.prop_map(|policy| ProcessExpr::Policy(at(()), at(policy))),
        1 => name().prop_map(ProcessExpr::Set),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let relation = select(vec![Relation::Parent, Relation::Ancestor]);
        prop_oneof![
            inner.clone().prop_map(|inner| match inner {
                ProcessExpr::Not(_, inner) => *inner,
                inner => ProcessExpr::Not(at(()), Box::new(inner)),
            }),
            vec(inner.clone(), 2..4).prop_map(ProcessExpr::All),
            vec(inner.clone(), 2..4).prop_map(ProcessExpr::Any),
            (relation, inner).prop_map(|(relation, inner)| ProcessExpr::Relative(at(relation), Box::new(inner))),
        ]
    })
}
