//! Shows miette all files at once.
//!
//! miette knows one text a diagnostic, shows what is marked in it in textual order, and finds lines by walking the text
//! from its start. A conflict may have its two sites in two files, the finding should come first, and a set of rules may
//! have ten thousand findings. So miette is given an imagined text of *pages*, found by an index: page 0 is the file of
//! the primary label and holds that label and those near it, page n + 1 is file n and holds the others. A span that
//! leaves its page has no text, which keeps miette from joining what lies apart.

use std::ops::Range;

use cotenant_grammar::{Diagnostic, Label, SourceId, SourceSet, Span};
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::printable;

/// Lines between labels that are still shown as one piece: with a line of context each, nothing is left between them.
const NEAR: usize = 3;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// All texts, made printable, and where their lines begin.
#[derive(Debug)]
pub(super) struct Index {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    id: SourceId,
    name: String,
    text: String,
    lines: Vec<usize>,
}

impl Index {
    pub(super) fn new(sources: &SourceSet) -> Index {
        let files = sources.iter().map(|(id, source)| {
            let text = printable(source.text()).into_owned();
            let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
            File { id, name: printable(source.name()).replace('\n', "?"), text, lines }
        });
        Index { files: files.collect() }
    }

    fn position(&self, id: SourceId) -> usize {
        self.files.iter().position(|file| file.id == id).unwrap_or(0)
    }
}

impl File {
    /// The line that holds the byte, from 0.
    fn line(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The bytes of these lines, up to and with the last one's line end, without a byte-order mark.
    fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        let mark = if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let start = self.lines.get(first).copied().unwrap_or(0).max(mark);
        start..self.lines.get(last + 1).copied().unwrap_or(self.text.len()).max(start)
    }

    /// The span within the text that can be seen: a byte-order mark cannot, nor is there anything to mark behind the
    /// last line end.
    fn visible(&self, span: Span) -> Range<usize> {
        let first = self.bytes(0, 0).start;
        let last = self.text.trim_end().len().max(first);
        let start = (span.start as usize).clamp(first, last);
        let end = (span.end as usize).min(self.text.len());
        start..if start == last { last } else { end.max(start) }
    }
}

/// One diagnostic's view of all files.
#[derive(Debug)]
pub(super) struct Snippets<'a> {
    index: &'a Index,
    /// Position of the primary label's file.
    first: usize,
    /// The primary label's line there.
    line: usize,
}

impl<'a> Snippets<'a> {
    pub(super) fn new(index: &'a Index, primary: Span) -> Snippets<'a> {
        let first = index.position(primary.source);
        let line = index.files.get(first).map_or(0, |file| file.line(file.visible(primary).start));
        Snippets { index, first, line }
    }

    /// The labels, at their places in the imagined text.
    pub(super) fn labels(&self, diagnostic: &Diagnostic) -> Vec<LabeledSpan> {
        let place = |label: &Label, primary: bool| {
            let file = self.index.position(label.span.source);
            let shown = self.index.files.get(file)?;
            let span = shown.visible(label.span);
            let near = file == self.first && shown.line(span.start).abs_diff(self.line) <= NEAR;
            let page = if primary || near { 0 } else { file + 1 };
            let text = (!label.text.is_empty()).then(|| printable(&label.text).into_owned());
            let span = (self.pages().nth(page)?.1 + span.start, span.len());
            Some(match primary {
                true => LabeledSpan::new_primary_with_span(text, span),
                false => LabeledSpan::new_with_span(text, span),
            })
        };
        let others = diagnostic.secondary.iter().filter_map(|label| place(label, false));
        place(&diagnostic.primary, true).into_iter().chain(others).collect()
    }

    /// Every page's file and where it begins. Pages lie two bytes apart, lest the end of one be the start of the next.
    fn pages(&self) -> impl Iterator<Item = (&'a File, usize)> + '_ {
        let files = self.index.files.get(self.first).into_iter().chain(&self.index.files);
        files.scan(0, |next, file| {
            let start = *next;
            *next = start + file.text.len() + 2;
            Some((file, start))
        })
    }
}

impl SourceCode for Snippets<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let on_page = |(file, at): &(&File, usize)| *at <= start && end <= at + file.text.len();
        let (file, page) = self.pages().find(on_page).ok_or(MietteError::OutOfBounds)?;
        let (start, end) = (start - page, end - page);
        let (first, last) = (file.line(start), file.line(end.saturating_sub(1).max(start)));
        // Context that shows nothing is left out.
        let empty = |line: &usize| file.text.get(file.bytes(*line, *line)).is_none_or(|text| text.trim().is_empty());
        let from = (first.saturating_sub(lines_before)..first).find(|line| !empty(line)).unwrap_or(first);
        let to = (last + 1..=last + lines_after).rev().find(|line| !empty(line)).unwrap_or(last);
        let bytes = file.bytes(from, to);
        let data = file.text.get(bytes.clone()).ok_or(MietteError::OutOfBounds)?;
        // Without context miette asks for the place to print, and otherwise where the data begins.
        let column = match lines_before {
            0 => file.text.get(file.bytes(first, first).start..start).map_or(0, |before| before.chars().count()),
            _ => 0,
        };
        Ok(Box::new(MietteSpanContents::new_named(
            file.name.clone(),
            data.as_bytes(),
            (page + bytes.start, bytes.len()).into(),
            from,
            column,
            to - from + 1,
        )))
    }
}
