//! Conditions that contradict each other, wherever in a selector they stand.

use super::logic::{Logic, Part, cases};
use super::mistake::{Contradiction, Lint};
use crate::selector::Selector;

pub(super) fn never_matches(part: Part<'_>, logic: &Logic, report: &mut dyn FnMut(Lint)) {
    // What stands behind a `not` may well be impossible; it is then not a condition, and no mistake of this kind.
    if matches!(part.selector, Selector::Not(_)) {
        return;
    }
    let parts = match part.selector {
        Selector::All(_) | Selector::Any(_) => part.parts(),
        _ => Vec::new(),
    };
    // The smallest impossible part is the one to point at.
    let mut inner = 0;
    for part in &parts {
        never_matches(*part, logic, &mut |lint| {
            inner += 1;
            report(lint);
        });
    }
    let impossible = |part| cases(part).is_some_and(|cases| cases.iter().all(|case| logic.contradicts_itself(case)));
    if inner > 0 || matches!(part.selector, Selector::Any(_)) || !impossible(part) {
        return;
    }
    report(match clash(&parts, logic) {
        Some((first, second)) => Lint::NeverMatches { at: second.at, with: Contradiction::Between(first.at) },
        None if parts.is_empty() => Lint::NeverMatches { at: part.at, with: Contradiction::Alone },
        None => Lint::NeverMatches { at: part.at, with: Contradiction::Among },
    });
}

/// The first two parts that rule each other out. Longer chains are shown as a whole.
fn clash<'a>(parts: &[Part<'a>], logic: &Logic) -> Option<(Part<'a>, Part<'a>)> {
    let cases: Vec<_> = parts.iter().map(|part| Some((*part, cases(*part)?))).collect::<Option<_>>()?;
    cases.iter().enumerate().find_map(|(at, (second, wanted))| {
        let ruled_out = |(_, earlier): &&(Part<'a>, Vec<_>)| logic.never_together(earlier, wanted);
        cases.iter().take(at).find(ruled_out).map(|(first, _)| (*first, *second))
    })
}
