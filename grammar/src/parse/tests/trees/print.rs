//! A tree as text, every part from what the tree holds and nothing else.

use crate::tree::*;

pub(super) fn policy(statements: &[Statement]) -> String {
    statements.iter().map(|it| statement(it) + ";\n").collect()
}

fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Class(it) => {
            let header = match (it.named, it.kind.value) {
                (false, kind) => kind.word().to_owned(),
                (true, ClassKind::Fair) => format!("class {}", it.name.value),
                (true, kind) => format!("{} class {}", kind.word(), it.name.value),
            };
            format!("{header}: {}", list(&it.clauses, clause))
        }
        Statement::Zone(it) => format!("zone {}: {}", it.name.value, cpus(&it.body)),
        Statement::Processes(it) => format!("processes {}: {}", it.name.value, processes(&it.body)),
        Statement::Include(it) => format!("include {}", string(&it.pattern.value)),
        Statement::Require(it) => format!("require: {}", list(it, condition)),
        Statement::Kernel(it) => format!("kernel: {}", list(it, knob)),
    }
}

fn list<T>(items: &[At<T>], print: fn(&T) -> String) -> String {
    items.iter().map(|item| print(&item.value)).collect::<Vec<_>>().join(", ")
}

fn clause(clause: &Clause) -> String {
    match clause {
        Clause::Match(expr) => format!("match {}", processes(expr)),
        Clause::On(expr) => format!("on {}", cpus(expr)),
        Clause::PreferIdleCore => "prefer idle core".to_owned(),
        Clause::PreferIdleCpu => "prefer idle cpu".to_owned(),
        Clause::PreferLastCpu => "prefer last cpu".to_owned(),
        Clause::PreferCpus(expr) => format!("prefer {}", cpus(expr)),
        Clause::Spill { below: None } => "spill to siblings".to_owned(),
        Clause::Spill { below: Some(below) } => format!("spill to siblings below {} idle cores", below.value),
        Clause::NeverSpill => "never spill".to_owned(),
        Clause::ShareCore(sharers) => format!("share core with {}", list(sharers, sharer)),
        Clause::OnlyWhenIdle(unit) => format!("only when {} idle", unit.value.word()),
        Clause::WaitAtMost(at) => format!("wait at most {}", at.value),
        Clause::EqualPrio(EqualPrio::Push) => "push equal prio".to_owned(),
        Clause::EqualPrio(EqualPrio::Hold) => "hold equal prio".to_owned(),
        Clause::AtLeastCores(number) => format!("at least {} cores", number.value),
        Clause::AtMostCores(number) => format!("at most {} core", number.value),
        Clause::AtMostShare(share) => format!("at most {} of cores", share.value),
        Clause::Priority(number) => format!("priority {}", number.value),
        Clause::Fifo => "fifo".to_owned(),
        Clause::RoundRobin => "round robin".to_owned(),
        Clause::Runtime { runtime, every } => format!("runtime {} every {}", runtime.value, every.value),
        Clause::Deadline(at) => format!("deadline {}", at.value),
        Clause::Nice(number) => format!("nice {}", number.value),
        Clause::Slice(at) => format!("slice {}", at.value),
        Clause::Weight(number) => format!("weight {}", number.value),
        Clause::Quota(quota) => format!("quota {}", quota.value),
        Clause::Clamp { low, high } => format!("clamp {}-{}", low.value, high.value),
        Clause::MemoryBandwidth(share) => format!("memory bandwidth at most {}", share.value),
        Clause::LlcShare(share) => format!("llc at most {}", share.value),
        Clause::WithDescendants => "with descendants".to_owned(),
        Clause::OnChange(it) => it.word().to_owned(),
        Clause::PlaceBy(it) => format!("place by {}", it.value.word()),
    }
}

fn sharer(sharer: &Sharer) -> String {
    match sharer {
        Sharer::Nobody => "nobody".to_owned(),
        Sharer::Itself => "itself".to_owned(),
        Sharer::Class(name) => format!("class {}", name.value),
    }
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Linux(version) => format!("linux {}", version.value),
        Condition::Smt => "smt".to_owned(),
        Condition::CoreScheduling => "core scheduling".to_owned(),
        Condition::CgroupV2 => "cgroup v2".to_owned(),
        Condition::AtLeastCores(number) => format!("at least {} cores", number.value),
        Condition::Host(pattern) => format!("host {}", string(&pattern.value)),
    }
}

fn knob(knob: &Knob) -> String {
    let on_or_off = |on: &bool| if *on { "on" } else { "off" };
    match knob {
        Knob::Feature { name, on } => format!("feature {} {}", name.value, on_or_off(on)),
        Knob::RtRuntime(share) => format!("rt runtime {}", share.value),
        Knob::Autogroup(on) => format!("autogroup {}", on_or_off(on)),
    }
}

fn cpus(expr: &CpuExpr) -> String {
    match expr {
        CpuExpr::Chain(first, rest) => {
            let word = |operator: CpuOperator| match operator {
                CpuOperator::And => "and",
                CpuOperator::Within => "within",
                CpuOperator::Except => "except",
            };
            let rest = rest.iter().map(|(operator, part)| format!(" {} {}", word(operator.value), cpu_part(part)));
            cpu_part(first) + &rest.collect::<String>()
        }
        other => cpu_part(other),
    }
}

fn cpu_part(expr: &CpuExpr) -> String {
    match expr {
        CpuExpr::All(_) => "all".to_owned(),
        CpuExpr::Units(At { value: Units { unit, first, last }, .. }) if first == last => {
            format!("{} {first}", unit.word())
        }
        CpuExpr::Units(At { value: Units { unit, first, last }, .. }) => format!("{}s {first}-{last}", unit.word()),
        CpuExpr::KindCores(At { value: CoreKind::Performance, .. }) => "performance cores".to_owned(),
        CpuExpr::KindCores(At { value: CoreKind::Efficiency, .. }) => "efficiency cores".to_owned(),
        CpuExpr::Part(parts, of) => {
            let word = |part: &At<Part>| match part.value {
                Part::Siblings => "siblings of ",
                Part::Fronts => "fronts of ",
            };
            parts.iter().map(word).collect::<String>() + &cpu_part(of)
        }
        CpuExpr::Zone(name) => name.value.clone(),
        CpuExpr::Chain(..) => format!("({})", cpus(expr)),
        CpuExpr::Damaged(_) => "damaged".to_owned(),
    }
}

fn processes(expr: &ProcessExpr) -> String {
    match expr {
        ProcessExpr::Any(parts) => parts.iter().map(all_of).collect::<Vec<_>>().join(" or "),
        other => all_of(other),
    }
}

fn all_of(expr: &ProcessExpr) -> String {
    match expr {
        ProcessExpr::All(parts) => parts.iter().map(term).collect::<Vec<_>>().join(" and "),
        other => term(other),
    }
}

fn term(expr: &ProcessExpr) -> String {
    match expr {
        ProcessExpr::Predicate(field, pattern) => format!("{} {}", field.value.word(), string(&pattern.value)),
        ProcessExpr::Policy(_, policy) => format!("policy {}", policy.value.word()),
        ProcessExpr::Relative(relation, inner) => format!("{} ({})", relation.value.word(), processes(inner)),
        ProcessExpr::Set(name) => name.value.clone(),
        ProcessExpr::Not(_, inner) => format!("not {}", term(inner)),
        ProcessExpr::All(_) | ProcessExpr::Any(_) => format!("({})", processes(expr)),
        ProcessExpr::Damaged(_) => "damaged".to_owned(),
    }
}

/// Bare where that says the same.
fn string(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "*?/._-@[]{}".contains(c) || c as u32 > 0xff;
    if !text.is_empty() && text.chars().all(is_bare) && !text.contains('-') {
        return text.to_owned();
    }
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{{{:x}}}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
