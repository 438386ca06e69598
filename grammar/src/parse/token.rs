//! Spans and words of what pest read.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::Span;
use crate::mistake::Mistake;
use crate::tree::At;

/// The last token inside a pair. pest lets a rule that ends in an optional part run on over blanks and comments; its last
/// token does not.
pub(super) fn last_leaf(pair: Pair<'_, Rule>) -> Pair<'_, Rule> {
    let mut last = pair;
    // A string has parts, and ends with its quote.
    while let Some(inner) = last.clone().into_inner().next_back().filter(|_| last.as_rule() != Rule::STRING) {
        last = inner;
    }
    last
}

impl<'a> Reader<'a> {
    /// Where a pair stands in the file, without blanks behind it.
    pub(super) fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let end = last_leaf(pair.clone()).as_span().end();
        self.bytes(pair.as_span().start(), end)
    }

    /// A range of the piece being read, as a place in the file.
    pub(super) fn bytes(&self, start: usize, end: usize) -> Span {
        let at = |offset: usize| (self.offset + offset) as u32;
        Span { source: self.source, start: at(start), end: at(end.max(start)) }
    }

    /// The word that begins at an offset of the piece being read.
    pub(super) fn word_at(&self, start: usize) -> Span {
        let rest = self.text.get(self.offset + start..).unwrap_or("");
        let ends = |c: char| c.is_whitespace() || ",;:()#\"".contains(c);
        let length = rest.find(ends).filter(|length| *length > 0);
        let one = rest.chars().next().map_or(0, char::len_utf8);
        self.bytes(start, start + length.unwrap_or(if rest.starts_with(|c: char| !ends(c)) { rest.len() } else { one }))
    }

    /// The text that a `pattern` pair stands for, escapes resolved.
    pub(super) fn pattern(&mut self, pair: Pair<'_, Rule>) -> At<String> {
        let span = self.span(&pair);
        let Some(token) = pair.into_inner().next() else { return At { value: String::new(), span } };
        if token.as_rule() == Rule::BARE {
            return At { value: token.as_str().to_owned(), span };
        }
        let mut value = String::new();
        for part in token.into_inner() {
            match (part.as_rule(), unescape(part.as_str())) {
                (Rule::PLAIN, _) => value.push_str(part.as_str()),
                (_, Some(character)) => value.push(character),
                (_, None) => {
                    let at = self.span(&part);
                    self.report(Mistake::BadEscape { at, text: part.as_str().to_owned() });
                }
            }
        }
        At { value, span }
    }
}

fn unescape(escape: &str) -> Option<char> {
    match escape {
        r#"\""# => Some('"'),
        r"\\" => Some('\\'),
        r"\n" => Some('\n'),
        r"\t" => Some('\t'),
        _ => {
            let digits = escape.strip_prefix(r"\u{")?.strip_suffix('}')?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        }
    }
}
