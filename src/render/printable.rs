//! Keeps other people's text from talking to the terminal.
//!
//! A policy, a file name or a message that quotes them may hold escape sequences, which could repaint what the reader is
//! about to judge, and characters that turn the reading direction around.

use std::borrow::Cow;

/// The text with every character that is not shown but obeyed replaced by one of the same length in UTF-8, so that byte
/// offsets stay true. Line ends and tabs are kept.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut rest = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let ends_line = c == '\r' && rest.peek() == Some(&'\n');
        match c.len_utf8() {
            _ if ends_line || !is_obeyed(c) => out.push(c),
            1 => out.push('?'),
            2 => out.push('¿'),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

/// The same for what is part of a line: its line ends and tabs are replaced too.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\r', '\t'], "?")
}

fn is_obeyed(c: char) -> bool {
    let turns_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_direction || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::{one_line, printable};

    #[test]
    fn nothing_is_left_to_obey_and_no_byte_moves() {
        for (text, shown) in [
            ("plain ä\t\r\n", "plain ä\t\r\n"),
            ("a\u{1b}[31mb\u{7f}", "a?[31mb?"),
            ("a\u{9b}2Jb", "a¿2Jb"),
            ("rt\u{202e}hctam", "rt\u{fffd}hctam"),
            ("lone\rreturn", "lone?return"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(text).len(), text.len());
        }
    }

    #[test]
    fn a_name_cannot_begin_another_line() {
        assert_eq!(one_line("a\r\n  process 1 \u{1b}[2J\tb"), "a??  process 1 ?[2J?b");
    }
}
