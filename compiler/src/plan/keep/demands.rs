//! The clauses that go into a plan's [`Demands`](crate::plan::Demands). Those that nothing carries out yet are refused, in
//! so many words: none is left out.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{ClassKind, Field, IdleUnit};

use super::kept;
use crate::plan::{KeptClause, Means, Placement, Strength};
use crate::policy::{Ceiling, PolicyClass, Prefer};
use crate::selector::Selector;

pub(super) fn clauses(class: &PolicyClass, placement: &Placement) -> Vec<KeptClause> {
    let it = &class.settings;
    let mut all: Vec<KeptClause> = [
        matched(class),
        preference(class, placement),
        unit_idle(class, placement),
        ceiling(class, placement),
        runtime(class),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut refuse = |text: Option<String>, span: Option<Span>| {
        all.extend(text.zip(span).map(|(text, span)| refused(text, span, "")));
    };
    refuse(it.wait_at_most.map(|it| format!("wait at most {}", it.0.value)), it.wait_at_most.map(|it| it.1));
    refuse(it.slice.map(|it| format!("slice {}", it.0.value)), it.slice.map(|it| it.1));
    refuse(it.weight.map(|it| format!("weight {}", it.0)), it.weight.map(|it| it.1));
    refuse(it.quota.map(|it| format!("quota {}", it.0.value)), it.quota.map(|it| it.1));
    refuse(it.clamp.map(|([low, high], _)| format!("clamp {}-{}", low.value, high.value)), it.clamp.map(|it| it.1));
    let bandwidth = it.memory_bandwidth;
    refuse(bandwidth.map(|it| format!("memory bandwidth at most {}", it.0.value)), bandwidth.map(|it| it.1));
    refuse(it.llc_share.map(|it| format!("llc at most {}", it.0.value)), it.llc_share.map(|it| it.1));
    refuse(it.on_change.map(|it| it.value.word().to_owned()), it.on_change.map(|it| it.span));
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
        Prefer::LastCpu => refused("prefer last cpu", prefer.span, &format!("the kernel searches all of {cpus}")),
        Prefer::Cpus(_) => refused("prefer", prefer.span, &format!("all of {cpus} alike")),
    })
}

fn unit_idle(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let unit = class.settings.unit_idle?;
    let text = format!("only when {} idle", unit.value.word());
    Some(match (unit.value, class.kind.value) {
        (IdleUnit::Cpu, ClassKind::Batch) => {
            let effect = "SCHED_IDLE gives way on each CPU, but for some 0.3 % beside fair threads".to_owned();
            kept(text, Some(unit.span), effect, Means::SchedAttr, Strength::Bounded)
        }
        _ => refused(text, unit.span, &format!("it runs on all of {}", placement.reach().brief())),
    })
}

fn ceiling(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (ceiling, span) = class.settings.at_most?;
    let text = match ceiling {
        Ceiling::Cores(number) if number.value == 1 => "at most 1 core".to_owned(),
        Ceiling::Cores(number) => format!("at most {} cores", number.value),
        Ceiling::Share(share) => format!("at most {} of cores", share.value),
    };
    let effect = format!("CPUs {} only", placement.reach().brief());
    Some(kept(text, Some(span), effect, Means::AllowedCpus, Strength::Strict))
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
