//! Which clause fits which kind of class.

use cotenant_grammar::Span;
use cotenant_grammar::tree::ClassKind::{self, Batch, Deadline, Fair, Rt};

use super::PolicyClass;
use super::checks::Report;
use crate::mistake::Mistake;

/// Kinds that are placed by load. Deadline threads are not: the kernel wants them free to run on the whole machine.
const PLACED: &[ClassKind] = &[Rt, Fair, Batch];
const TOUCHED: &[ClassKind] = &[Rt, Deadline, Fair, Batch];
const WEIGHTED: &[ClassKind] = &[Fair, Batch];

/// A clause of a class, what it is called, and the kinds it fits.
type Row = (Option<Span>, &'static str, &'static [ClassKind]);

pub(super) fn clauses_fit_the_kind(class: &PolicyClass, report: Report<'_>) {
    for (clause, what, kinds) in rows(class) {
        if let Some(clause) = clause.filter(|_| !kinds.contains(&class.kind.value)) {
            report(Mistake::WrongKind { clause, what, kind: class.kind, fits: fits(kinds) });
        }
    }
}

fn fits(kinds: &[ClassKind]) -> &'static str {
    match kinds {
        [Rt] => "kind `rt`",
        [Deadline] => "kind `deadline`",
        [Fair] => "kind `fair`",
        [Fair, Batch] => "kinds `fair` and `batch`",
        [Rt, Fair, Batch] => "kinds `rt`, `fair` and `batch`",
        _ => "any kind but `unmanaged`",
    }
}

fn rows(class: &PolicyClass) -> [Row; 25] {
    let it = &class.settings;
    [
        (it.priority.map(|it| it.1), "`priority`", &[Rt]),
        (it.fifo, "`fifo`", &[Rt]),
        (it.round_robin, "`round robin`", &[Rt]),
        (it.equal_prio.map(|it| it.span), "`equal prio`", &[Rt]),
        (it.runtime.map(|it| it.1), "`runtime`", &[Deadline]),
        (it.deadline.map(|it| it.1), "`deadline`", &[Deadline]),
        (it.nice.map(|it| it.1), "`nice`", &[Fair]),
        (it.slice.map(|it| it.1), "`slice`", &[Fair]),
        (it.weight.map(|it| it.1), "`weight`", WEIGHTED),
        (it.quota.map(|it| it.1), "`quota`", WEIGHTED),
        (it.clamp.map(|it| it.1), "`clamp`", WEIGHTED),
        (it.on.as_ref().map(|it| it.1), "`on`", TOUCHED),
        (it.prefer_idle_core, "`prefer idle core`", PLACED),
        (it.prefer.as_ref().map(|it| it.span), "`prefer`", PLACED),
        (it.spill.map(|it| it.span), "`spill to siblings`", PLACED),
        (it.never_spill, "`never spill`", PLACED),
        (it.share_core.as_ref().map(|it| it.1), "`share core`", TOUCHED),
        (it.core_idle.or(it.unit_idle.map(|it| it.span)), "`only when … idle`", PLACED),
        (it.wait_at_most.map(|it| it.1), "`wait at most`", PLACED),
        (it.at_least.map(|it| it.1), "`at least … cores`", TOUCHED),
        (it.at_most.map(|it| it.1), "`at most … cores`", PLACED),
        (it.memory_bandwidth.map(|it| it.1), "`memory bandwidth`", TOUCHED),
        (it.llc_share.map(|it| it.1), "`llc at most`", TOUCHED),
        (it.on_change.map(|it| it.span), "`insist` or `yield`", TOUCHED),
        (it.place_by.map(|it| it.1), "`place by`", TOUCHED),
    ]
}
