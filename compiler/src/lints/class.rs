//! One class as the lints about selectors see it.

use cotenant_grammar::Span;
use cotenant_grammar::tree::ClassKind;

use super::logic::{Case, Claim, Logic, Part, cases};
use crate::policy::PolicyClass;

/// A class whose selector could be read.
pub(super) struct Class<'a> {
    pub(super) class: &'a PolicyClass,
    /// Its selector; written nowhere where the class matches by its name.
    pub(super) part: Part<'a>,
    /// The cases of it that can be. None where there are too many to think about; empty where no process is ever matched.
    pub(super) cases: Option<Vec<Case<'a>>>,
}

impl<'a> Class<'a> {
    /// None for a class in which something could not be read or is missing, which was reported. `room` is the number of claims
    /// that may still be kept.
    pub(super) fn new(class: &'a PolicyClass, logic: &Logic, room: &mut usize) -> Option<Class<'a>> {
        let unmanaged_without_match =
            class.kind.value == ClassKind::Unmanaged && class.matched.is_none() && class.name.span == class.kind.span;
        if class.damaged || unmanaged_without_match {
            return None;
        }
        let part = Part::new(class.selector.as_ref()?, class.written.as_ref(), class.name.span);
        let claims = |cases: &Vec<Case<'_>>| cases.iter().map(Vec::len).sum::<usize>();
        let mut cases = cases(part).filter(|cases| claims(cases) <= *room);
        *room -= cases.as_ref().map_or(0, claims);
        if let Some(cases) = &mut cases {
            cases.retain(|case| !logic.contradicts_itself(case));
        }
        Some(Class { class, part, cases })
    }

    pub(super) fn name(&self) -> String {
        self.class.name.value.clone()
    }

    /// Whether its threads run before those of classes that share.
    pub(super) fn is_real_time(&self) -> bool {
        !matches!(self.class.kind.value, ClassKind::Fair | ClassKind::Batch | ClassKind::Unmanaged)
    }

    pub(super) fn cases(&self) -> &[Case<'a>] {
        self.cases.as_deref().unwrap_or_default()
    }
}

/// What a case claims, without what it denies.
pub(super) fn claimed<'c, 'a>(case: &'c Case<'a>) -> impl Iterator<Item = &'c Claim<'a>> {
    case.iter().filter(|claim| claim.holds)
}

/// Where the first claim of a case stands, or what the case is a part of.
pub(super) fn place(case: &Case<'_>, otherwise: Span) -> Span {
    claimed(case).next().map_or(otherwise, |claim| claim.at)
}
