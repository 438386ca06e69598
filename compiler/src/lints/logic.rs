//! What follows from a selector, whatever the process.
//!
//! Three questions, each answered `true` only where it is proved; `false` means "not proved", never "no":
//!
//! - [`Logic::is_empty`]: no process satisfies the selector.
//! - [`Logic::implies`]: every process that satisfies one satisfies the other.
//! - [`Logic::disjoint`]: no process satisfies both.
//!
//! All three come down to one. A selector is written as a list of [`cases`], each a conjunction of claims, some of them
//! denied ([`mod@cases`]); it is empty when every case contradicts itself. A case contradicts itself when no value of some one
//! field can satisfy all that is claimed of that field ([`contradiction`]). For a field that holds a text this asks whether
//! an intersection of regular languages is empty, which the product of their automata decides exactly ([`automaton`]).
//!
//! What is claimed of different fields is taken to be independent, although it is not always: a unit's name is a part of
//! the cgroup path. Bounds keep the work small: a selector of too many cases, a product of too many states, and whatever is
//! asked once [`MOST_WORK`] is spent count as not proved.

mod atom;
mod automaton;
mod cases;
mod contradiction;

pub(super) use atom::{Atom, Claim, Kind, Words};
pub(super) use cases::{Case, Part, cases};

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use automaton::Dfa;

/// Automata kept for reuse. They are a few kilobytes each; policies with more globs than this build some twice.
const KEPT_AUTOMATA: usize = 512;

/// Claims looked at and steps of automata taken for one policy: under a second. 100,000 rules of one predicate each need a
/// fiftieth of it. Counted and not timed, so that every run says the same.
const MOST_WORK: usize = 100_000_000;

/// Answers questions, and remembers the automata it built for them.
#[derive(Default)]
pub(super) struct Logic {
    automata: RefCell<HashMap<String, Option<Rc<Dfa>>>>,
    spent: Cell<usize>,
}

impl Logic {
    /// Whether no process satisfies the selector.
    #[cfg(test)]
    pub(super) fn is_empty(&self, selector: &crate::selector::Selector) -> bool {
        cases(Part::bare(selector)).is_some_and(|cases| cases.iter().all(|case| self.contradicts_itself(case)))
    }

    /// Whether every process that satisfies `first` satisfies `second`.
    #[cfg(test)]
    pub(super) fn implies(&self, first: &crate::selector::Selector, second: &crate::selector::Selector) -> bool {
        let (Some(first), Some(second)) = (cases(Part::bare(first)), cases(Part::bare(second))) else { return false };
        self.all_covered(&first, &second)
    }

    /// Whether no process satisfies both.
    #[cfg(test)]
    pub(super) fn disjoint(&self, first: &crate::selector::Selector, second: &crate::selector::Selector) -> bool {
        let (Some(first), Some(second)) = (cases(Part::bare(first)), cases(Part::bare(second))) else { return false };
        self.never_together(&first, &second)
    }

    /// Whether each case of `first` contradicts itself or implies one of `second`.
    pub(super) fn all_covered(&self, first: &[Case<'_>], second: &[Case<'_>]) -> bool {
        first.iter().all(|case| {
            self.contradicts_itself(case) || second.iter().any(|covering| self.case_implies(case, covering))
        })
    }

    /// Whether no case of `first` goes together with one of `second`.
    pub(super) fn never_together(&self, first: &[Case<'_>], second: &[Case<'_>]) -> bool {
        first.iter().all(|one| {
            second.iter().all(|other| {
                let together: Case<'_> = one.iter().chain(other).cloned().collect();
                self.contradicts_itself(&together)
            })
        })
    }

    /// Whether all that `second` claims follows from what `first` claims.
    pub(super) fn case_implies(&self, first: &Case<'_>, second: &Case<'_>) -> bool {
        second.iter().all(|claim| {
            let denied = Claim { holds: !claim.holds, ..claim.clone() };
            self.contradiction_about(claim.atom.subject(), first.iter().chain([&denied]))
        })
    }

    /// Takes note of work to be done. False once there was enough of it: then the question is left open.
    fn may_spend(&self, work: usize) -> bool {
        self.spent.set(self.spent.get().saturating_add(work + 1));
        self.spent.get() <= MOST_WORK
    }

    /// The work done so far.
    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.spent.get()
    }

    /// The automaton of an anchored regular expression; none where it would be too large.
    fn automaton(&self, regex: &str) -> Option<Rc<Dfa>> {
        let mut automata = self.automata.borrow_mut();
        if let Some(known) = automata.get(regex) {
            return known.clone();
        }
        if automata.len() >= KEPT_AUTOMATA {
            automata.clear();
        }
        let built = automaton::build(regex).map(Rc::new);
        automata.insert(regex.to_owned(), built.clone());
        built
    }
}

#[cfg(test)]
mod tests;
