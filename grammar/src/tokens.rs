//! A lossless scanner: every byte of a policy text is in a token or is a blank between two.
//!
//! The parser does not use it, because a syntax tree has no place for comments and blank lines. The formatter does.

#[cfg(test)]
mod tests;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whatever is nothing else: keywords, names, numbers, bare globs.
    Word,
    /// From one double quote to the next that is not escaped.
    String,
    /// From a double quote to the end of its line, where no second one follows.
    UnclosedString,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `(`
    Open,
    /// `)`
    Close,
    /// From `#` to the end of the line, without the blanks that end it.
    Comment,
}

/// A token and what precedes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// Line breaks among the blanks before it.
    pub(crate) line_breaks: usize,
}

const BYTE_ORDER_MARK: char = '\u{feff}';
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The tokens of a text, in order.
pub(crate) fn scan(text: &str) -> impl Iterator<Item = Lexeme<'_>> {
    // A second mark, or one behind blanks, would come first once those are gone and would vanish in the next scan.
    let mut rest = text.trim_start_matches([' ', '\t', '\r', '\n', BYTE_ORDER_MARK]);
    std::iter::from_fn(move || {
        let (blanks, from_token) = rest.split_at(rest.len() - rest.trim_start_matches(BLANKS).len());
        let (kind, length) = token(from_token)?;
        let (text, after) = from_token.split_at(length);
        rest = after;
        Some(Lexeme { kind, text, line_breaks: blanks.matches('\n').count() })
    })
}

/// Kind and length in bytes of the token that `text` starts with.
fn token(text: &str) -> Option<(Kind, usize)> {
    Some(match text.chars().next()? {
        ',' => (Kind::Comma, 1),
        ';' => (Kind::Semicolon, 1),
        ':' => (Kind::Colon, 1),
        '(' => (Kind::Open, 1),
        ')' => (Kind::Close, 1),
        '#' => (Kind::Comment, comment(text)),
        '"' => string(text),
        _ => (Kind::Word, text.find(ends_word).unwrap_or(text.len())),
    })
}

fn ends_word(c: char) -> bool {
    BLANKS.contains(&c) || matches!(c, ',' | ';' | ':' | '(' | ')' | '#' | '"')
}

fn comment(text: &str) -> usize {
    let line = text.split('\n').next().unwrap_or(text);
    line.trim_end_matches(BLANKS).len()
}

fn string(text: &str) -> (Kind, usize) {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\r' | '\n' => return (Kind::UnclosedString, at),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (Kind::String, at + 1),
            _ => {}
        }
    }
    (Kind::UnclosedString, text.len())
}
