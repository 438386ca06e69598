//! Anchored globs over bytes.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// Whether `*` and `?` stop at `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// They do, as in paths; `**` between slashes does not.
    Path,
    /// They do not, as in names and arguments.
    Text,
}

/// A glob that covers a whole value: `*`, `?`, `[…]`, `{a,b}` and, in paths, `**`. A backslash is an ordinary character,
/// because escaped unit names hold them; to match a special character literally, put it into brackets.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// Absent where the text has no special character, which is both the common and the cheap case.
    glob: Option<Box<Compiled>>,
}

/// A glob that is known to be good. Its matcher, a regular expression's machine of some kilobytes, is made when it is
/// first asked: a check of a large rule set never asks.
#[derive(Debug, Clone)]
struct Compiled {
    glob: Glob,
    matcher: OnceLock<GlobMatcher>,
}

/// A text that is not a glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadGlob {
    reason: String,
}

impl Pattern {
    /// Compiles a glob.
    ///
    /// # Errors
    /// Where brackets or braces are not closed, or a range is reversed.
    pub fn new(text: &str, scope: Scope) -> Result<Pattern, BadGlob> {
        let special = text.contains(['*', '?', '[', ']', '{', '}']);
        let compile = || {
            let mut builder = GlobBuilder::new(text);
            let glob = builder.literal_separator(scope == Scope::Path).backslash_escape(false).build();
            glob.map(|glob| Box::new(Compiled { glob, matcher: OnceLock::new() }))
                .map_err(|error| BadGlob { reason: error.kind().to_string() })
        };
        let glob = special.then(compile).transpose()?;
        Ok(Pattern { text: text.to_owned(), glob })
    }

    /// The glob as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text stands for itself only.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.glob.is_none()
    }

    /// The anchored regular expression that decides [`Pattern::matches`]; none for a text that stands for itself.
    pub(crate) fn regex(&self) -> Option<&str> {
        self.glob.as_ref().map(|compiled| compiled.glob.regex())
    }

    /// Whether the glob covers the whole value.
    #[must_use]
    pub fn matches(&self, value: &[u8]) -> bool {
        match &self.glob {
            None => self.text.as_bytes() == value,
            Some(compiled) => {
                let matcher = compiled.matcher.get_or_init(|| compiled.glob.compile_matcher());
                matcher.is_match(OsStr::from_bytes(value))
            }
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    /// As a policy would write it: bare where that is possible.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = |c: char| !c.is_whitespace() && !",;:()#\"\\".contains(c);
        match !self.text.is_empty() && self.text.chars().all(bare) {
            true => f.write_str(&self.text),
            false => write!(f, "\"{}\"", self.text.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }
}
