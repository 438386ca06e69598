//! The smallest things a selector says of a process.

use cotenant_grammar::Span;

use crate::selector::{Account, Pattern, Selector};

/// What texts a claim is about. `unit` and `slice` compare two spellings of a name, which changes nothing here: whatever
/// holds of every text holds of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::lints) enum Kind {
    Comm,
    /// A thread's own name.
    Thread,
    /// The whole path of the script.
    ScriptPath,
    /// Its last part.
    ScriptLast,
    /// The whole path of the executable.
    ExePath,
    /// Its last part.
    ExeLast,
    Arg,
    /// A whole cgroup path.
    Cgroup,
    Unit,
    Slice,
    /// Any one component of a cgroup path, with or without its suffix, as matching by name compares it.
    Component,
}

/// Texts: one, or all that a glob covers.
#[derive(Debug, Clone, Copy)]
pub(in crate::lints) enum Words<'a> {
    One(&'a str),
    Glob(&'a Pattern),
}

/// A question about one field.
#[derive(Debug, Clone)]
pub(in crate::lints) enum Atom<'a> {
    Text(Kind, Words<'a>),
    User(&'a Account),
    Group(&'a Account),
    /// A question that this module knows nothing about but that it equals itself.
    Opaque(&'a Selector),
}

/// An atom that holds or is denied, and where that was written.
#[derive(Debug, Clone)]
pub(in crate::lints) struct Claim<'a> {
    pub(in crate::lints) atom: Atom<'a>,
    pub(in crate::lints) holds: bool,
    pub(in crate::lints) at: Span,
}

/// What can contradict each other: claims about one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lints) enum Subject {
    Comm,
    Thread,
    ScriptPath,
    ScriptLast,
    Exe,
    Args,
    Cgroups,
    User,
    Group,
    Unknown,
}

impl Kind {
    pub(super) fn subject(self) -> Subject {
        match self {
            Kind::Comm => Subject::Comm,
            Kind::Thread => Subject::Thread,
            Kind::ScriptPath => Subject::ScriptPath,
            Kind::ScriptLast => Subject::ScriptLast,
            Kind::ExePath | Kind::ExeLast => Subject::Exe,
            Kind::Arg => Subject::Args,
            Kind::Cgroup | Kind::Unit | Kind::Slice | Kind::Component => Subject::Cgroups,
        }
    }
}

impl Atom<'_> {
    pub(super) fn subject(&self) -> Subject {
        match self {
            Atom::Text(kind, _) => kind.subject(),
            Atom::User(_) => Subject::User,
            Atom::Group(_) => Subject::Group,
            Atom::Opaque(_) => Subject::Unknown,
        }
    }
}

impl<'a> Words<'a> {
    pub(in crate::lints) fn of(pattern: &'a Pattern) -> Words<'a> {
        if pattern.is_literal() { Words::One(pattern.text()) } else { Words::Glob(pattern) }
    }

    pub(in crate::lints) fn matches(self, value: &[u8]) -> bool {
        match self {
            Words::One(word) => word.as_bytes() == value,
            Words::Glob(pattern) => pattern.matches(value),
        }
    }

    /// The only text, where there is only one.
    pub(in crate::lints) fn one(self) -> Option<&'a str> {
        match self {
            Words::One(word) => Some(word),
            Words::Glob(_) => None,
        }
    }

    /// The glob or the word as written.
    pub(in crate::lints) fn text(self) -> &'a str {
        match self {
            Words::One(word) => word,
            Words::Glob(pattern) => pattern.text(),
        }
    }
}
