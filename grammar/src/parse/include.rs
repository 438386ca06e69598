//! Include statements: where they stand, and what they brought.

use pest::iterators::Pair;

use super::{Files, Reader, Rule};
use crate::mistake::Mistake;
use crate::tree::{Include, Statement};
use crate::{Diagnostics, SourceId, SourceSet, Span};

/// Files that include files that …; a chain longer than this is refused. Loaders that stop at cycles never come near it.
const DEEPEST: usize = 32;

/// An include statement of a text that has not been put into a [`SourceSet`] yet, or of one that has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncludeSite {
    /// Where its pattern stands; what [`SourceSet::include`] goes by.
    pub at: Span,
    /// Which files, relative to the one it stands in.
    pub pattern: String,
}

/// The include statements of one source, in order. The source's own mistakes are left to [`parse`](super::parse).
#[must_use]
pub fn includes(sources: &SourceSet, source: SourceId) -> Vec<IncludeSite> {
    let Some(text) = sources.get(source).map(crate::Source::text) else { return Vec::new() };
    let (alone, mut unsaid) = (SourceSet::default(), Diagnostics::default());
    let mut files = Files { sources: &alone, open: Vec::new() };
    let mut reader = Reader { source, text, offset: 0, broken_off: None, diagnostics: &mut unsaid };
    let mut statements = Vec::new();
    if super::limits::check(text, source).is_ok() {
        let telling = |(_, chunk): &(usize, &str)| chunk.contains("include");
        super::chunks::chunks(text)
            .filter(telling)
            .for_each(|(offset, chunk)| reader.chunk(offset, chunk, &mut statements, &mut files));
    }
    let sites = statements.into_iter().filter_map(|statement| match statement {
        Statement::Include(Include { pattern }) if !pattern.value.is_empty() => {
            Some(IncludeSite { at: pattern.span, pattern: pattern.value })
        }
        _ => None,
    });
    sites.collect()
}

impl<'a> Reader<'a> {
    /// An include statement, followed by what it brought.
    pub(super) fn include(&mut self, pair: Pair<'a, Rule>, statements: &mut Vec<Statement>, files: &mut Files<'_>) {
        let mut pattern = None;
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::pattern => pattern = Some(self.pattern(part)),
                Rule::missing_semicolon => self.missing_semicolon(&pair, &part),
                _ => {}
            }
        }
        let Some(pattern) = pattern else { return };
        let at = pattern.span;
        let inclusion = files.sources.included(at);
        for fault in inclusion.into_iter().flat_map(|inclusion| &inclusion.faults) {
            self.report(Mistake::Include { at, pattern: pattern.value.clone(), fault: fault.clone() });
        }
        statements.push(Statement::Include(Include { pattern }));
        for source in inclusion.into_iter().flat_map(|inclusion| &inclusion.sources) {
            // A loader that lets a file include itself must not make this endless.
            if files.open.len() < DEEPEST && !files.open.contains(source) {
                files.read(*source, statements, self.diagnostics);
            }
        }
    }
}
