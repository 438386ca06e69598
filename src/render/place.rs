//! Places in policy texts in JSON documents.

use cotenant_grammar::{Location, SourceSet, Span};
use serde::Serialize;

/// A piece of a file.
#[derive(Serialize)]
pub(super) struct Place<'a> {
    file: &'a str,
    start: Point,
    /// Behind the last character.
    end: Point,
}

/// A point in a file, both as bytes from its start and as editors count.
#[derive(Serialize)]
struct Point {
    byte: u32,
    line: usize,
    column: usize,
}

impl Place<'_> {
    pub(super) fn new(span: Span, sources: &SourceSet) -> Place<'_> {
        let source = sources.get(span.source);
        let point = |byte: u32| {
            let Location { line, column } = source.map_or(Location { line: 1, column: 1 }, |it| it.location(byte));
            Point { byte, line, column }
        };
        Place { file: source.map_or("", |source| source.name()), start: point(span.start), end: point(span.end) }
    }
}
