//! When claims about one subject cannot all be true.
//!
//! A process has one comm and at most one executable, so all claims about them are about one text. It has any number of
//! arguments and cgroup paths, so each claim that one of them exists stands alone against all that are denied.

use super::Logic;
use super::atom::{Atom, Claim, Kind, Subject, Words};
use super::automaton::{Term, no_word};
use super::cases::Case;
use crate::selector::{Account, innermost_unit, slices, without_suffix};

/// Bytes of a name that the kernel keeps; see proc_pid_comm(5).
const COMM_BYTES: usize = 15;

impl Logic {
    /// Whether no process satisfies all claims.
    pub(in crate::lints) fn contradicts_itself(&self, case: &Case<'_>) -> bool {
        // A few subjects at most, and one in nearly every case.
        let mut asked: Vec<Subject> = Vec::new();
        case.iter().map(|claim| claim.atom.subject()).any(|subject| {
            let first = !asked.contains(&subject);
            asked.extend(first.then_some(subject));
            first && self.contradiction_about(subject, case.iter())
        })
    }

    /// Whether what is claimed of this subject cannot be.
    pub(super) fn contradiction_about<'c, 'a: 'c>(
        &self,
        subject: Subject,
        claims: impl Iterator<Item = &'c Claim<'a>>,
    ) -> bool {
        let about: Vec<&Claim<'a>> = claims.filter(|claim| claim.atom.subject() == subject).collect();
        if !self.may_spend(about.len()) {
            return false;
        }
        if about.iter().all(|claim| !claim.holds) && subject != Subject::Comm {
            // Every other field can be absent, or an account that nobody named.
            return false;
        }
        match subject {
            Subject::Comm | Subject::Thread => self.no_text(&about, Some(COMM_BYTES)),
            // What is claimed of a script's path and of its last part is held apart: a script has two kinds of separator.
            Subject::Exe | Subject::ScriptPath | Subject::ScriptLast => self.no_text(&about, None),
            Subject::Args | Subject::Cgroups => {
                about.iter().filter(|claim| claim.holds).any(|claim| self.no_such_item(claim, &about))
            }
            Subject::User | Subject::Group => no_account(&about),
            Subject::Unknown => opposites(&about),
        }
    }

    /// Whether no one text satisfies all claims.
    fn no_text(&self, claims: &[&Claim<'_>], longest: Option<usize>) -> bool {
        let mut terms: Vec<Term<'_>> = Vec::with_capacity(claims.len());
        for claim in claims {
            if let Atom::Text(kind, words) = claim.atom {
                terms.push(Term { words, last_part: kind == Kind::ExeLast, wanted: claim.holds });
            }
        }
        no_word(self, &terms, longest)
    }

    /// Whether whatever satisfies the claim is denied.
    fn no_such_item(&self, claim: &Claim<'_>, all: &[&Claim<'_>]) -> bool {
        let Atom::Text(kind, words) = claim.atom else { return false };
        if !self.may_spend(all.len()) {
            return false;
        }
        let denied = all.iter().filter(|other| !other.holds).filter_map(|other| match other.atom {
            Atom::Text(kind, words) => Some((kind, words)),
            _ => None,
        });
        if let (Kind::Cgroup, Some(path)) = (kind, words.one()) {
            return denied.into_iter().any(|(kind, words)| on_path(kind, words, path.as_bytes()));
        }
        let alike = denied.filter(|(other, _)| *other == kind).map(|(_, words)| words);
        let wanted = Term { words, last_part: false, wanted: true };
        let unwanted = alike.map(|words| Term { words, last_part: false, wanted: false });
        let terms: Vec<Term<'_>> = std::iter::once(wanted).chain(unwanted).collect();
        terms.len() > 1 && no_word(self, &terms, None)
    }
}

/// Whether a process in this cgroup satisfies the comparison for certain.
fn on_path(kind: Kind, words: Words<'_>, path: &[u8]) -> bool {
    match kind {
        Kind::Cgroup => words.matches(path),
        Kind::Unit => innermost_unit(path).is_some_and(|unit| words.matches(unit)),
        Kind::Slice => slices(path).any(|slice| words.matches(slice)),
        Kind::Component => {
            path.split(|byte| *byte == b'/').any(|part| words.matches(part) || words.matches(without_suffix(part)))
        }
        _ => false,
    }
}

/// Two different numbers, or two different names, are two accounts; a name and a number may be one.
fn no_account(claims: &[&Claim<'_>]) -> bool {
    let (mut name, mut id) = (None, None);
    for claim in claims.iter().filter(|claim| claim.holds) {
        let (Atom::User(account) | Atom::Group(account)) = claim.atom else { continue };
        let known = if matches!(account, Account::Id(_)) { &mut id } else { &mut name };
        if *known.get_or_insert(account) != account {
            return true;
        }
    }
    let denied = |claim: &&&Claim<'_>| match claim.atom {
        Atom::User(account) | Atom::Group(account) => name == Some(account) || id == Some(account),
        _ => false,
    };
    claims.iter().filter(|claim| !claim.holds).any(|claim| denied(&claim))
}

/// Whether one thing is both claimed and denied.
fn opposites(claims: &[&Claim<'_>]) -> bool {
    let denies = |one: &Claim<'_>, other: &Claim<'_>| match (&one.atom, &other.atom) {
        (Atom::Opaque(one), Atom::Opaque(other)) => one == other,
        _ => false,
    };
    let claimed = claims.iter().filter(|claim| claim.holds);
    claimed.into_iter().any(|one| claims.iter().any(|other| !other.holds && denies(one, other)))
}
