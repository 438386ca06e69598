//! A selector as a list of cases, one of which must hold: its disjunctive normal form.

use cotenant_grammar::Span;
use cotenant_grammar::tree::{Field, ProcessExpr};

use super::atom::{Atom, Claim, Kind, Words};
use crate::selector::Selector;

/// Claims that must all hold.
pub(in crate::lints) type Case<'a> = Vec<Claim<'a>>;

/// Claims in all cases of one selector together. A list of alternatives as long as this is a database; a formula that
/// multiplies out to it is beyond its reader, too.
const MOST_CLAIMS: usize = 8192;

/// Claims that one case makes.
const MOST_IN_A_CASE: usize = 1024;

/// A part of a selector, and the text that says it where that is known.
#[derive(Debug, Clone, Copy)]
pub(in crate::lints) struct Part<'a> {
    pub(in crate::lints) selector: &'a Selector,
    written: Option<&'a ProcessExpr>,
    /// Where the part stands, or what it is a part of.
    pub(in crate::lints) at: Span,
}

impl<'a> Part<'a> {
    pub(in crate::lints) fn new(selector: &'a Selector, written: Option<&'a ProcessExpr>, otherwise: Span) -> Self {
        Part { selector, written, at: written.map_or(otherwise, ProcessExpr::span) }
    }

    /// A selector of which nobody asks where it stands.
    #[cfg(test)]
    pub(super) fn bare(selector: &'a Selector) -> Part<'a> {
        Part::new(selector, None, Span::default())
    }

    /// The parts of an `and` or `or`, or what stands behind a `not`. A set's name is a part without parts: what is in the set
    /// stands somewhere else.
    pub(in crate::lints) fn parts(self) -> Vec<Part<'a>> {
        let (selectors, written): (&'a [Selector], &'a [ProcessExpr]) = match (self.selector, self.written) {
            (Selector::All(parts), Some(ProcessExpr::All(written)))
            | (Selector::Any(parts), Some(ProcessExpr::Any(written))) => (parts, written),
            (Selector::Not(inner), Some(ProcessExpr::Not(_, written))) => {
                (std::slice::from_ref(inner.as_ref()), std::slice::from_ref(written.as_ref()))
            }
            (Selector::All(parts) | Selector::Any(parts), _) => (parts, &[]),
            (Selector::Not(inner), _) => (std::slice::from_ref(inner.as_ref()), &[]),
            (Selector::Set(_, inner), _) => (std::slice::from_ref(inner.as_ref()), &[]),
            _ => return Vec::new(),
        };
        let part = |(at, selector)| Part::new(selector, written.get(at), self.at);
        selectors.iter().enumerate().map(part).collect()
    }
}

/// The cases of a selector; none where they are too many.
pub(in crate::lints) fn cases(part: Part<'_>) -> Option<Vec<Case<'_>>> {
    expand(part, true, vec![Vec::new()])
}

/// Each of `cases`, with what the part (or its opposite) says added to it.
fn expand<'a>(part: Part<'a>, holds: bool, cases: Vec<Case<'a>>) -> Option<Vec<Case<'a>>> {
    match (part.selector, holds) {
        (Selector::All(_), true) | (Selector::Any(_), false) => {
            part.parts().into_iter().try_fold(cases, |cases, part| expand(part, holds, cases))
        }
        (Selector::Any(_), true) | (Selector::All(_), false) => {
            alternatives(&cases, part.parts().into_iter().map(|part| move |cases| expand(part, holds, cases)))
        }
        (Selector::Not(_), _) => part.parts().into_iter().try_fold(cases, |cases, inner| expand(inner, !holds, cases)),
        (Selector::Set(..), _) => part.parts().into_iter().try_fold(cases, |cases, inner| expand(inner, holds, cases)),
        (Selector::Name(name), _) => {
            let kinds = [Kind::Comm, Kind::ExeLast, Kind::Component];
            let claim = |kind| Claim { atom: Atom::Text(kind, Words::One(name)), holds, at: part.at };
            match holds {
                true => alternatives(&cases, kinds.map(|kind| move |cases| with(cases, &claim(kind)))),
                false => kinds.iter().try_fold(cases, |cases, kind| with(cases, &claim(*kind))),
            }
        }
        (leaf, _) => with(cases, &Claim { atom: atom(leaf), holds, at: part.at }),
    }
}

fn with<'a>(mut cases: Vec<Case<'a>>, claim: &Claim<'a>) -> Option<Vec<Case<'a>>> {
    cases.iter_mut().for_each(|case| case.push(claim.clone()));
    cases.iter().all(|case| case.len() <= MOST_IN_A_CASE).then_some(cases)
}

/// Every case with every alternative.
fn alternatives<'a, F>(cases: &[Case<'a>], ways: impl IntoIterator<Item = F>) -> Option<Vec<Case<'a>>>
where
    F: FnOnce(Vec<Case<'a>>) -> Option<Vec<Case<'a>>>,
{
    let (mut all, mut claims) = (Vec::new(), 0);
    for way in ways {
        let more = way(cases.to_vec())?;
        claims += more.iter().map(Vec::len).sum::<usize>();
        if claims > MOST_CLAIMS {
            return None;
        }
        all.extend(more);
    }
    Some(all)
}

/// A selector without parts as an atom. What is not known here is opaque: it equals itself, and no more is concluded.
fn atom(leaf: &Selector) -> Atom<'_> {
    match leaf {
        Selector::User(account) => Atom::User(account),
        Selector::Group(account) => Atom::Group(account),
        Selector::Pattern(field, pattern) => {
            let kind = match field {
                Field::Comm => Kind::Comm,
                Field::Exe if pattern.text().contains('/') => Kind::ExePath,
                Field::Exe => Kind::ExeLast,
                Field::Thread => Kind::Thread,
                Field::Script if pattern.text().contains(['/', '\\']) => Kind::ScriptPath,
                Field::Script => Kind::ScriptLast,
                Field::Arg => Kind::Arg,
                Field::Cgroup => Kind::Cgroup,
                Field::Unit => Kind::Unit,
                Field::Slice => Kind::Slice,
                _ => return Atom::Opaque(leaf),
            };
            Atom::Text(kind, Words::of(pattern))
        }
        _ => Atom::Opaque(leaf),
    }
}
