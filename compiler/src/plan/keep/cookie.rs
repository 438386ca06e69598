//! The clauses that a core-scheduling cookie keeps.

use cotenant_grammar::Span;
use cotenant_grammar::tree::Sharer;

use super::kept;
use crate::plan::{Cookie, CoreScheduling, Facilities, KeptClause, Means, Placement, Strength};
use crate::policy::PolicyClass;
use crate::topology::Topology;

/// Classes named in a sentence; of more, the first.
const MOST_NAMED: usize = 6;

pub(super) fn share_core(
    class: &PolicyClass,
    placement: &Placement,
    topology: &Topology,
    facilities: Facilities,
) -> Option<KeptClause> {
    let Some((sharers, span)) = class.settings.share_core.as_ref() else { return named(class, placement) };
    let words: Vec<String> = sharers
        .iter()
        .map(|sharer| match &sharer.value {
            Sharer::Nobody => "nobody".to_owned(),
            Sharer::Itself => "itself".to_owned(),
            Sharer::Class(name) => format!("class {}", name.value),
        })
        .collect();
    let text = format!("share core with {}", words.join(", "));
    let (effect, means, strength) = match &placement.cookie {
        _ if !topology.has_smt() => ("no core has a second thread here".to_owned(), Means::Nothing, Strength::Strict),
        Some(cookie) => (beside(cookie, &class.name.value), Means::Cookie, Strength::Strict),
        None => (instead(facilities.core_scheduling).to_owned(), Means::NoCookies, Strength::Refused),
    };
    Some(kept(text, Some(*span), effect, means, strength))
}

/// A class that says nothing of sharing and is named by one that does.
fn named(class: &PolicyClass, placement: &Placement) -> Option<KeptClause> {
    let (Some(cookie), false) = (&placement.cookie, placement.gives_way()) else { return None };
    let effect = format!("named by another class: {}", beside(cookie, &class.name.value));
    Some(kept("share core", None, effect, Means::Cookie, Strength::Strict))
}

/// Who runs beside a thread of the class.
fn beside(cookie: &Cookie, class: &str) -> String {
    match cookie {
        Cookie::Each => {
            "nobody runs beside a thread of it; beside a new one, its maker until the start is noticed".to_owned()
        }
        Cookie::Common(names) => {
            let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != class).collect();
            let more = if others.len() > MOST_NAMED { ", …" } else { "" };
            match others.as_slice() {
                [] => "beside a thread of it only its own".to_owned(),
                others => {
                    let shown: Vec<String> = others.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
                    format!("beside a thread of it only its own and those of {}{more}", shown.join(", "))
                }
            }
        }
    }
}

/// What happens where no cookie can be given.
fn instead(core_scheduling: CoreScheduling) -> &'static str {
    match core_scheduling {
        CoreScheduling::Unknown => "anybody may run beside it: nothing says that the kernel has core scheduling",
        CoreScheduling::Overruled => "anybody may run beside it while a sched_ext scheduler is loaded",
        CoreScheduling::Missing | CoreScheduling::Present => {
            "anybody may run beside it: this kernel has no core scheduling"
        }
    }
}

/// `only when core idle` of a class whose threads have a cookie and run under `SCHED_IDLE`. The share was measured on
/// Linux 6.12: what a fair sibling that never sleeps leaves. It leaves nothing to a thread that waits for a real-time one.
pub(super) fn gate(text: &str, span: Option<Span>) -> KeptClause {
    let effect = "gives way to whatever runs on its core: to rt and deadline threads always, to fair ones but for 0.4 % of \
                  the core; a loop moves it to idle cores";
    kept(text, span, effect.to_owned(), Means::Cookie, Strength::Bounded)
}
