//! The canonical layout of a policy text.
//!
//! Works on tokens, in three steps: [`comments`] ties every comment to the token it belongs to, [`statements`] cuts the
//! tokens into statements and those into pieces — the header and the clauses — and [`layout`] prints them. What is
//! printed depends on those pieces alone, never on the blanks between them, hence printing the result again changes
//! nothing. Time is linear in the text.

mod comments;
mod layout;
#[cfg(test)]
mod properties;
mod statements;
#[cfg(test)]
mod tests;

use crate::tokens::{Kind, scan};

/// Lays a policy text out anew, keeping every comment and, but for what says nothing, every token.
///
/// What says nothing is the comma behind the last clause, which goes, the semicolon of the last statement, which is
/// always written, and the blanks of `cpus 0 - 3`. Meant for texts that parse without errors; of others nothing but
/// blanks gets lost either. A text with an unclosed string is returned as it is, because where that string was meant
/// to end is anybody's guess.
#[must_use]
pub fn format(text: &str) -> String {
    let lexemes: Vec<_> = scan(text).collect();
    if lexemes.iter().any(|lexeme| lexeme.kind == Kind::UnclosedString) {
        return text.to_owned();
    }
    let (tokens, last_comments) = comments::attach(lexemes);
    let (statements, last_comments) = statements::group(tokens, last_comments);
    layout::page(&statements, &last_comments)
}
