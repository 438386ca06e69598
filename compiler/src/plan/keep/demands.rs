//! The clauses that go into a plan's [`Demands`](crate::plan::Demands). Those that nothing carries out yet are refused, in
//! so many words: none is left out.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{ClassKind, Duration, Field, IdleUnit, OnChange};

use super::kept;
use crate::plan::{Gate, KeptClause, Means, Placement, Preference, Strength};
use crate::policy::{Ceiling, PolicyClass, Prefer};
use crate::selector::Selector;
use crate::topology::Topology;

pub(super) fn clauses(class: &PolicyClass, placement: &Placement, topology: &Topology) -> Vec<KeptClause> {
    let it = &class.settings;
    let mut all: Vec<KeptClause> = [
        matched(class),
        preference(class, placement),
        unit_idle(class, placement, topology),
        wait(class, placement),
        ceiling(class, placement),
        runtime(class),
        on_change(class),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut refuse = |text: Option<String>, span: Option<Span>| {
        all.extend(text.zip(span).map(|(text, span)| refused(text, span, "")));
    };
    refuse(it.slice.map(|it| format!("slice {}", it.0.value)), it.slice.map(|it| it.1));
    refuse(it.weight.map(|it| format!("weight {}", it.0)), it.weight.map(|it| it.1));
    refuse(it.quota.map(|it| format!("quota {}", it.0.value)), it.quota.map(|it| it.1));
    refuse(it.clamp.map(|([low, high], _)| format!("clamp {}-{}", low.value, high.value)), it.clamp.map(|it| it.1));
    let bandwidth = it.memory_bandwidth;
    refuse(bandwidth.map(|it| format!("memory bandwidth at most {}", it.0.value)), bandwidth.map(|it| it.1));
    refuse(it.llc_share.map(|it| format!("llc at most {}", it.0.value)), it.llc_share.map(|it| it.1));
    refuse(it.place_by.map(|it| format!("place by {}", it.0.word())), it.place_by.map(|it| it.1));
    all
}

/// A clause that nothing carries out, and what happens in its place where that needs to be said.
fn refused(text: impl Into<String>, span: Span, instead: &str) -> KeptClause {
    let effect =
        if instead.is_empty() { "not carried out yet".to_owned() } else { format!("not carried out yet: {instead}") };
    kept(text, Some(span), effect, Means::None, Strength::Refused)
}

/// Processes are classified as wholes, when they execute a program.
fn matched(class: &PolicyClass) -> Option<KeptClause> {
    let asks = |wanted: fn(&Selector) -> bool| class.selector.as_ref().is_some_and(|selector| selector.any(&wanted));
    let by_thread = asks(|selector| matches!(selector, Selector::Pattern(Field::Thread, _)));
    let by_policy = asks(|selector| matches!(selector, Selector::Policy(_)));
    let (text, instead) = match (by_thread, by_policy) {
        (true, _) => ("match by thread", "`thread` matches nothing"),
        (_, true) => ("match by policy", "`policy` matches nothing"),
        _ => return None,
    };
    Some(refused(text, class.matched?, instead))
}

fn preference(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let prefer = class.settings.prefer.as_ref()?;
    let cpus = placement.reach().brief();
    Some(match prefer.value {
        Prefer::IdleCpu => {
            let effect = format!("any idle CPU of {cpus}, as the kernel searches");
            kept("prefer idle cpu", Some(prefer.span), effect, Means::Nothing, Strength::Strict)
        }
        Prefer::LastCpu if placement.stays_on_last_cpu() => {
            let effect = format!("each thread on the CPU where it last ran, on any of {cpus} once it had to wait");
            kept("prefer last cpu", Some(prefer.span), effect, Means::TickLoop, Strength::Reactive)
        }
        Prefer::LastCpu => {
            let effect = "each thread has one CPU, where it last ran".to_owned();
            kept("prefer last cpu", Some(prefer.span), effect, Means::Nothing, Strength::Strict)
        }
        Prefer::Cpus(_) => preferred(prefer.span, placement),
    })
}

/// `prefer CPUS`: a tier of its own, unless it is all that the class has or nothing of it.
fn preferred(span: Span, placement: &Placement) -> KeptClause {
    let Some(Preference::Cpus(preferred)) = &placement.demands.preference else {
        return refused("prefer", span, "it is not known which");
    };
    match &placement.tiers[..] {
        [first, rest, ..] if first.is_subset(preferred) && !rest.intersects(preferred) => {
            let effect = format!("CPUs {} first, {} when those are full", first.brief(), rest.brief());
            kept("prefer", Some(span), effect, Means::TickLoop, Strength::Reactive)
        }
        [first, ..] if first.is_subset(preferred) => {
            let effect = format!("CPUs {} are all preferred", first.brief());
            kept("prefer", Some(span), effect, Means::Nothing, Strength::Strict)
        }
        _ => refused("prefer", span, &format!("none of {} is left to the class", preferred.brief())),
    }
}

fn unit_idle(class: &PolicyClass, placement: &Placement, topology: &Topology) -> Option<KeptClause> {
    let unit = class.settings.unit_idle?;
    let text = format!("only when {} idle", unit.value.word());
    let watched =
        |effect: &str| kept(text.clone(), Some(unit.span), effect.to_owned(), Means::TickLoop, Strength::Reactive);
    Some(match placement.gate {
        None => {
            let effect = "SCHED_IDLE gives way on each CPU, but for some 0.3 % beside fair threads".to_owned();
            kept(text, Some(unit.span), effect, Means::SchedAttr, Strength::Bounded)
        }
        Some(Gate::CpuIdle) => watched("off every CPU on which others run"),
        Some(Gate::CoreIdle) => watched("off every core on which others run"),
        Some(Gate::LlcIdle) => watched("off every last-level cache below which others run"),
        Some(Gate::NodeIdle) if unit.value == IdleUnit::Llc && topology.llcs().is_empty() => {
            watched("no caches are reported here: off every node on which others run")
        }
        Some(Gate::NodeIdle) => watched("off every node on which others run"),
    })
}

/// What is never stopped need not be let go again.
fn wait(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (most, span) = class.settings.wait_at_most?;
    let text = format!("wait at most {}", most.value);
    Some(match placement.gate {
        None => {
            let effect = "never stopped: SCHED_IDLE has some 0.3 % beside fair threads".to_owned();
            kept(text, Some(span), effect, Means::SchedAttr, Strength::Bounded)
        }
        Some(_) if !placement.floor.is_empty() => {
            let effect = format!("CPUs {} stay open, so it is never stopped", placement.floor.brief());
            kept(text, Some(span), effect, Means::AllowedCpus, Strength::Strict)
        }
        // A turn gives it CPUs, and the kernel would let nothing of it run there beside whatever has another cookie.
        Some(_) if placement.cookie.is_some() => {
            refused(text, span, "its cookie makes it wait for as long as others run")
        }
        Some(gate) => {
            let turn = Duration(most.value.0 / 10);
            let effect = format!("after that long stopped, on the least occupied {} for {turn} or more", unit(gate));
            kept(text, Some(span), effect, Means::TickLoop, Strength::Reactive)
        }
    })
}

fn unit(gate: Gate) -> &'static str {
    match gate {
        Gate::CpuIdle => "CPU",
        Gate::CoreIdle => "core",
        Gate::LlcIdle => "last-level cache",
        Gate::NodeIdle => "node",
    }
}

fn ceiling(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (ceiling, span) = class.settings.at_most?;
    let text = match ceiling {
        Ceiling::Cores(number) if number.value == 1 => "at most 1 core".to_owned(),
        Ceiling::Cores(number) => format!("at most {} cores", number.value),
        Ceiling::Share(share) => format!("at most {} of cores", share.value),
    };
    let effect = match placement.most_cores {
        Some(1) => format!("one core of CPUs {} at a time", placement.reach().brief()),
        Some(most) => format!("{most} cores of CPUs {} at a time", placement.reach().brief()),
        None => format!("CPUs {} only", placement.reach().brief()),
    };
    Some(kept(text, Some(span), effect, Means::AllowedCpus, Strength::Strict))
}

fn on_change(class: &PolicyClass) -> Option<KeptClause> {
    let it = class.settings.on_change.as_ref()?;
    let (effect, means, strength) = match it.value {
        OnChange::Insist => {
            ("what somebody else changes is set back, at a look each second", Means::Look, Strength::Reactive)
        }
        OnChange::Yield => ("what somebody else changes is theirs", Means::Nothing, Strength::Strict),
    };
    Some(kept(it.value.word(), Some(it.span), effect.to_owned(), means, strength))
}

/// `runtime … every …` and `deadline …` are one setting of the kernel's.
fn runtime(class: &PolicyClass) -> Option<KeptClause> {
    if class.kind.value != ClassKind::Deadline {
        return None;
    }
    let ([runtime, period], span) = class.settings.runtime?;
    let text = format!("runtime {} every {}", runtime.value, period.value);
    let (text, span) = match class.settings.deadline {
        Some((deadline, at)) => (format!("{text}, deadline {}", deadline.value), span.to(at)),
        None => (text, span),
    };
    Some(refused(text, span, "threads keep the scheduling policy they have"))
}
