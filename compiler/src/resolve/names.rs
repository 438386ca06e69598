//! A table of definitions that resolves each when it is first asked for.

use std::collections::BTreeMap;

use cotenant_grammar::tree::{Definition, Name};
use cotenant_grammar::{Span, nearest};

use crate::mistake::Mistake;

/// Definitions that refer to definitions that refer to …; a chain longer than this is refused rather than followed.
const LONGEST_CHAIN: usize = 64;

/// Misspelt names that are compared with every name there is. Whoever misspells more of them has another problem.
const MOST_SUGGESTIONS: usize = 100;

/// What is known of one name.
enum State<R> {
    /// Not asked for yet.
    Unresolved,
    /// Being resolved further up the stack.
    Open,
    /// Resolved; none where it could not be.
    Done(Option<R>),
}

struct Entry<E, R> {
    definition: Definition<E>,
    state: State<R>,
    used: bool,
}

/// Resolves an expression against a table.
pub(super) type Resolver<E, R> = fn(&E, &mut Names<E, R>, &mut dyn FnMut(Mistake)) -> Option<R>;

/// Definitions by name. Of two with one name the first counts.
pub(super) struct Names<E, R> {
    entries: Vec<Entry<E, R>>,
    index: BTreeMap<String, usize>,
    /// Where each definition now being resolved was asked for.
    path: Vec<Span>,
    /// How often a name may still be compared with all others.
    suggestions: usize,
}

impl<E: Clone, R: Clone> Names<E, R> {
    pub(super) fn new(definitions: Vec<Definition<E>>) -> Self {
        let mut index = BTreeMap::new();
        for (at, definition) in definitions.iter().enumerate() {
            index.entry(definition.name.value.clone()).or_insert(at);
        }
        let entry = |definition| Entry { definition, state: State::Unresolved, used: false };
        Names {
            entries: definitions.into_iter().map(entry).collect(),
            index,
            path: Vec::new(),
            suggestions: MOST_SUGGESTIONS,
        }
    }

    /// What `name` stands for; reported where it is not defined or stands for itself.
    pub(super) fn look_up(
        &mut self,
        what: &'static str,
        name: &Name,
        resolver: Resolver<E, R>,
        report: &mut dyn FnMut(Mistake),
    ) -> Option<R> {
        let Some(at) = self.index.get(&name.value).copied() else {
            let all = if self.suggestions == 0 { None } else { Some(self.index.keys().map(String::as_str)) };
            let meant = nearest(&name.value, all.into_iter().flatten()).map(str::to_owned);
            self.suggestions = self.suggestions.saturating_sub(1);
            let defined = meant.as_ref().and_then(|meant| self.entries.get(*self.index.get(meant)?));
            let nearest = defined.map(|entry| entry.definition.name.clone());
            report(Mistake::Undefined { what, name: name.clone(), nearest });
            return None;
        };
        let entry = self.entries.get_mut(at)?;
        entry.used = true;
        match &entry.state {
            State::Done(done) => return done.clone(),
            State::Open => {
                let definition = entry.definition.name.clone();
                report(Mistake::RefersToItself { what, name: definition, again: name.span });
                return None;
            }
            State::Unresolved if self.path.len() >= LONGEST_CHAIN => {
                report(Mistake::ChainTooLong { what, at: name.span, limit: LONGEST_CHAIN });
                return None;
            }
            State::Unresolved => entry.state = State::Open,
        }
        let body = entry.definition.body.clone();
        self.path.push(name.span);
        let resolved = resolver(&body, self, report);
        self.path.pop();
        if let Some(entry) = self.entries.get_mut(at) {
            entry.state = State::Done(resolved.clone());
        }
        resolved
    }

    /// Resolves what nobody asked for, so that mistakes in it are found too, and lists the names that are never used.
    pub(super) fn finish(&mut self, resolver: Resolver<E, R>, report: &mut dyn FnMut(Mistake)) -> Vec<Name> {
        let unused = self.entries.iter().enumerate().filter(|(_, entry)| !entry.used);
        let unused: Vec<_> = unused.map(|(at, entry)| (at, entry.definition.name.clone())).collect();
        for (at, _) in &unused {
            let body = self.entries.get_mut(*at).filter(|entry| matches!(entry.state, State::Unresolved));
            let Some(body) = body.map(|entry| entry.definition.body.clone()) else { continue };
            resolver(&body, self, report);
        }
        // A definition used only by an unused one is reported through its user, one step at a time; the second of two with
        // one name was reported as such.
        let counts = |at: &usize, name: &Name| {
            self.index.get(&name.value) == Some(at) && self.entries.get(*at).is_some_and(|entry| !entry.used)
        };
        unused.into_iter().filter(|(at, name)| counts(at, name)).map(|(_, name)| name).collect()
    }
}
