//! Policy texts and places in them.
//!
//! The syntax tree carries spans, never text. A [`SourceSet`] is the one place that turns a span back into text, lines
//! and columns.

mod include;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use include::{IncludeFault, Inclusion};

/// The number of a [`Source`] in its [`SourceSet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(u32);

/// A half-open range of bytes in one source. Both ends lie on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The source that the bytes are in.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both; `other` must be of the same source.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span is a place between two characters.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// One policy text and the name it is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    /// Offsets at which lines begin, the first of them 0.
    lines: Vec<u32>,
}

impl Source {
    /// The name that diagnostics show, usually the path as the user gave it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte offset. An offset past the end counts as the end.
    #[must_use]
    pub fn location(&self, offset: u32) -> Location {
        let line = self.lines.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.lines.get(line).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len());
        let column =
            self.text.get(start..end).map_or(0, |before| before.trim_start_matches('\u{feff}').chars().count());
        Location { line: line + 1, column: column + 1 }
    }
}

/// A place as editors count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1. A byte-order mark is not counted.
    pub column: usize,
}

/// The texts of one compilation, in the order in which they are read, and which include statement brought which.
/// Cloning is cheap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceSet {
    inner: Arc<Inner>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Inner {
    sources: Vec<Source>,
    /// Those that no other source includes.
    roots: Vec<SourceId>,
    /// By the place of the statement's pattern.
    inclusions: BTreeMap<Span, Inclusion>,
}

impl SourceSet {
    /// A set of one text.
    #[must_use]
    pub fn one(name: impl Into<String>, text: impl Into<String>) -> SourceSet {
        let mut set = SourceSet::default();
        set.add(name, text);
        set
    }

    /// Adds a text at the end.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = self.add_included(name, text);
        Arc::make_mut(&mut self.inner).roots.push(id);
        id
    }

    /// Adds a text that is read only where an include statement brings it, which [`SourceSet::include`] says.
    pub fn add_included(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let (name, text) = (name.into(), text.into());
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        let sources = &mut Arc::make_mut(&mut self.inner).sources;
        sources.push(Source { name, text, lines });
        SourceId(sources.len() as u32 - 1)
    }

    /// Says what the include statement with the pattern at `at` brought.
    pub fn include(&mut self, at: Span, inclusion: Inclusion) {
        Arc::make_mut(&mut self.inner).inclusions.insert(at, inclusion);
    }

    /// What the include statement with the pattern at `at` brought; none where nobody followed it.
    #[must_use]
    pub fn included(&self, at: Span) -> Option<&Inclusion> {
        self.inner.inclusions.get(&at)
    }

    /// What each include statement of one source brought, in the order of the statements.
    pub fn inclusions(&self, source: SourceId) -> impl Iterator<Item = (Span, &Inclusion)> {
        let from = Span { source, start: 0, end: 0 };
        self.inner.inclusions.range(from..).take_while(move |(at, _)| at.source == source).map(|(at, it)| (*at, it))
    }

    /// The sources that no other includes, in reading order.
    pub fn roots(&self) -> impl Iterator<Item = SourceId> {
        self.inner.roots.iter().copied()
    }

    /// The source of that number; numbers come from [`SourceSet::add`] and [`SourceSet::iter`].
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.inner.sources.get(id.0 as usize)
    }

    /// All sources, each before those that it includes.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.inner.sources.iter().enumerate().map(|(at, source)| (SourceId(at as u32), source))
    }

    /// The text under a span; empty where the span does not fit this set.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).and_then(|source| source.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// `file:line:column` of the start of a span.
    #[must_use]
    pub fn place(&self, span: Span) -> String {
        self.get(span.source).map_or_else(String::new, |source| {
            let Location { line, column } = source.location(span.start);
            format!("{}:{line}:{column}", source.name)
        })
    }
}
