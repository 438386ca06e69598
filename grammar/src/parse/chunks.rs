//! A text in pieces that can be read one after the other.
//!
//! A piece ends behind a `;`. pest keeps every token of what it reads, some hundred bytes a word; a piece at a time, a large
//! rule set costs no more than a small one.

use crate::tokens::{Kind, scan};

/// The pieces of a text with the offset of each. Together they are the text; only the last may lack its `;`.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let ends = scan(text).filter(|lexeme| lexeme.kind == Kind::Semicolon).map(|lexeme| {
        // Lexemes borrow from the text, so that their place in it can be computed.
        lexeme.text.as_ptr() as usize - text.as_ptr() as usize + lexeme.text.len()
    });
    ends.chain(std::iter::once(text.len())).filter_map(move |end| {
        let chunk = text.get(start..end).filter(|chunk| !chunk.is_empty()).map(|chunk| (start, chunk));
        start = end;
        chunk
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn pieces_end_behind_semicolons_that_count() {
        let text = "\u{feff}a: \"x;\" # ;\n; b; \"open;\n c;d";
        let pieces: Vec<_> = chunks(text).collect();
        let expected = [(0, "\u{feff}a: \"x;\" # ;\n;"), (16, " b;"), (19, " \"open;\n c;"), (30, "d")];
        assert_eq!(pieces, expected);
        assert_eq!(chunks("").count(), 0);
    }
}
