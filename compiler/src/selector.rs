//! Which processes a class covers: a checked expression over one process at a time.

mod cgroup_path;
mod container;
mod evidence;
mod pattern;
mod process;
mod reasons;
mod script;

pub(crate) use cgroup_path::without_suffix;
pub use cgroup_path::{innermost_unit, slices};
pub use container::{containers, telling};
pub use pattern::{BadGlob, Pattern, Scope};
pub use process::{Account, Fields, Process};
pub use reasons::Comparison;
pub use script::script;

use std::fmt;
use std::sync::Arc;

use cotenant_grammar::tree::{Field, InitialPolicy, Relation};

/// An expression over the fields of one process. Every comparison is anchored: a pattern covers the whole value or does
/// not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The field's value matches the pattern.
    Pattern(Field, Pattern),
    /// The effective user.
    User(Account),
    /// The effective group.
    Group(Account),
    /// The scheduling policy it had when it was first seen.
    Policy(InitialPolicy),
    /// The same of the parent, or of any ancestor.
    Relative(Relation, Box<Selector>),
    /// Matching by name: `comm`, the last part of `exe`, or any cgroup path component with or without its unit suffix.
    Name(String),
    /// All of them.
    All(Vec<Selector>),
    /// Any of them.
    Any(Vec<Selector>),
    /// Not this one.
    Not(Box<Selector>),
    /// A named set of processes; shared, so that naming it twice costs nothing.
    Set(String, Arc<Selector>),
}

impl Selector {
    /// Whether the process is covered.
    #[must_use]
    pub fn matches(&self, process: &dyn Process) -> bool {
        match self {
            Selector::Pattern(field, pattern) => pattern_matches(*field, pattern, process),
            Selector::User(account) => process.user_is(account),
            Selector::Group(account) => process.group_is(account),
            Selector::Policy(policy) => process.first_policy() == Some(*policy),
            Selector::Relative(Relation::Parent, inner) => process.parent().is_some_and(|parent| inner.matches(parent)),
            Selector::Relative(Relation::Ancestor, inner) => {
                std::iter::successors(process.parent(), |it| it.parent()).any(|ancestor| inner.matches(ancestor))
            }
            Selector::Name(name) => name_matches(name.as_bytes(), process),
            Selector::All(parts) => parts.iter().all(|part| part.matches(process)),
            Selector::Any(parts) => parts.iter().any(|part| part.matches(process)),
            Selector::Not(inner) => !inner.matches(process),
            Selector::Set(_, inner) => inner.matches(process),
        }
    }

    /// Whether any comparison in it is one of those asked for. Relatives count: what is asked of them is asked, too.
    #[must_use]
    pub fn any(&self, asked: &dyn Fn(&Selector) -> bool) -> bool {
        asked(self)
            || match self {
                Selector::All(parts) | Selector::Any(parts) => parts.iter().any(|part| part.any(asked)),
                Selector::Not(inner) | Selector::Relative(_, inner) => inner.any(asked),
                Selector::Set(_, inner) => inner.any(asked),
                _ => false,
            }
    }
}

fn pattern_matches(field: Field, pattern: &Pattern, process: &dyn Process) -> bool {
    match field {
        Field::Exe => process.exe().is_some_and(|exe| match pattern.text().contains('/') {
            true => pattern.matches(exe),
            false => pattern.matches(last_part(exe)),
        }),
        Field::Comm => pattern.matches(process.comm()),
        Field::Thread => process.thread().is_some_and(|name| pattern.matches(name)),
        Field::Script => script(process.exe(), process.args()).is_some_and(|script| {
            // Windows programs have Windows paths.
            match pattern.text().contains(['/', '\\']) {
                true => pattern.matches(script),
                false => pattern.matches(script.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(script)),
            }
        }),
        Field::Arg => process.args().iter().any(|argument| pattern.matches(argument)),
        Field::Cgroup | Field::Unit | Field::Slice | Field::Container => {
            process.cgroups().iter().any(|path| group_matches(field, pattern, path))
        }
        // Accounts are not patterns; the resolver makes `User` and `Group` of them.
        Field::User | Field::Group => false,
    }
}

/// Whether one cgroup path has what is asked for.
fn group_matches(field: Field, pattern: &Pattern, path: &[u8]) -> bool {
    match field {
        Field::Cgroup => pattern.matches(path),
        Field::Unit => innermost_unit(path).is_some_and(|unit| escaped_or_not(pattern, unit)),
        Field::Slice => slices(path).any(|slice| escaped_or_not(pattern, slice)),
        Field::Container => containers(path)
            .any(|id| pattern.matches(id) || pattern.is_literal() && id.starts_with(pattern.text().as_bytes())),
        _ => false,
    }
}

fn escaped_or_not(pattern: &Pattern, unit: &[u8]) -> bool {
    pattern.matches(unit) || pattern.matches(&cgroup_path::unescape(unit))
}

fn name_matches(name: &[u8], process: &dyn Process) -> bool {
    process.comm() == name
        || process.exe().is_some_and(|exe| last_part(exe) == name)
        || process.cgroups().iter().any(|path| {
            path.split(|byte| *byte == b'/').any(|part| part == name || cgroup_path::without_suffix(part) == name)
        })
}

fn last_part(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

impl fmt::Display for Selector {
    /// The selector as a policy would write it; parentheses only where they are needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Selector], word: &str| {
            for (at, part) in parts.iter().enumerate() {
                let nested = matches!(part, Selector::Any(_)) && word == "and";
                let (open, close) = if nested { ("(", ")") } else { ("", "") };
                let word = if at == 0 { String::new() } else { format!(" {word} ") };
                write!(f, "{word}{open}{part}{close}")?;
            }
            Ok(())
        };
        match self {
            Selector::Pattern(field, pattern) => write!(f, "{} {pattern}", field.word()),
            Selector::User(account) => write!(f, "user {account}"),
            Selector::Group(account) => write!(f, "group {account}"),
            Selector::Policy(policy) => write!(f, "policy {}", policy.word()),
            Selector::Relative(relation, inner) => write!(f, "{} ({inner})", relation.word()),
            Selector::Name(name) => write!(f, "name {name}"),
            Selector::All(parts) => join(f, parts, "and"),
            Selector::Any(parts) => join(f, parts, "or"),
            Selector::Set(name, _) => f.write_str(name),
            Selector::Not(inner) => match **inner {
                Selector::All(_) | Selector::Any(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
        }
    }
}

#[cfg(test)]
mod tests;
