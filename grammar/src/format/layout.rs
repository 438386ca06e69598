//! Statements as lines.

use super::comments::{Comment, Token};
use super::statements::Statement;
use crate::tokens::Kind;

/// Columns of a line, not counting the comment at its end.
const WIDTH: usize = 100;
/// Indent of a clause.
const CLAUSE: usize = 4;
/// Indent of what does not fit on the line of its clause or header.
const CONTINUATION: usize = 8;

/// The whole text.
pub(super) fn page(statements: &[Statement<'_>], last_comments: &[Comment<'_>]) -> String {
    let mut page = String::new();
    let mut above_is_tall = false;
    for statement in statements {
        let block = block(statement);
        let is_tall = block.lines().nth(1).is_some();
        let is_apart = statement.apart || statement.before.iter().any(|comment| comment.apart);
        if (is_tall || above_is_tall) && !is_apart {
            blank_line(&mut page);
        }
        write_comments(&mut page, &statement.before, 0);
        if statement.apart {
            blank_line(&mut page);
        }
        page.push_str(&block);
        above_is_tall = is_tall;
    }
    write_comments(&mut page, last_comments, 0);
    page
}

/// A statement without the comments before it.
fn block(statement: &Statement<'_>) -> String {
    let mut block = String::new();
    let line: Vec<_> = statement.pieces.iter().flatten().collect();
    if has_one_clause(statement) && !holds_comments(&line) && width(&line) <= WIDTH {
        write_piece(&mut block, &line, 0);
        return block;
    }
    for (at, piece) in statement.pieces.iter().enumerate() {
        let indent = if at == 0 { 0 } else { CLAUSE };
        write_piece(&mut block, &piece.iter().collect::<Vec<_>>(), indent);
    }
    block
}

fn has_one_clause(statement: &Statement<'_>) -> bool {
    match statement.pieces.as_slice() {
        [header, _] => header.last().is_some_and(|mark| mark.kind == Kind::Colon),
        _ => false,
    }
}

/// Whether there are comments before the last of the tokens.
fn holds_comments(tokens: &[&Token<'_>]) -> bool {
    tokens.iter().any(|token| !token.before.is_empty())
        || tokens.iter().rev().skip(1).any(|token| token.after.is_some())
}

/// A header or a clause, on as many lines as comments and width make of it.
fn write_piece(page: &mut String, piece: &[&Token<'_>], indent: usize) {
    let operator = operator_to_break_at(piece, indent);
    let is_broken = |left: &Token<'_>, right: &Token<'_>| {
        left.after.is_some() || !right.before.is_empty() || operator.is_some_and(|word| is_operator(right, word))
    };
    let mut indent = indent;
    for line in piece.chunk_by(|left, right| !is_broken(left, right)) {
        write_line(page, line, indent);
        indent = CONTINUATION;
    }
}

/// The operator before which a piece that is too long is broken, if it has one.
fn operator_to_break_at(piece: &[&Token<'_>], indent: usize) -> Option<&'static str> {
    if indent + width(piece) <= WIDTH {
        return None;
    }
    ["or", "and"].into_iter().find(|word| piece.iter().any(|token| is_operator(token, word)))
}

fn is_operator(token: &Token<'_>, word: &str) -> bool {
    token.depth == 0 && token.text == word
}

/// Tokens of one line, the comments before the first and behind the last of them.
fn write_line(page: &mut String, line: &[&Token<'_>], indent: usize) {
    write_comments(page, line.first().map_or(&[], |first| &first.before), indent);
    write_indent(page, indent);
    let mut left = None;
    for token in line {
        if left.is_some_and(|left| is_blank_between(left, token)) {
            page.push(' ');
        }
        page.push_str(token.text);
        left = Some(*token);
    }
    if let Some(comment) = left.and_then(|last| last.after) {
        page.push_str("  ");
        page.push_str(comment);
    }
    page.push('\n');
}

fn write_comments(page: &mut String, comments: &[Comment<'_>], indent: usize) {
    for comment in comments {
        if comment.apart {
            blank_line(page);
        }
        write_indent(page, indent);
        page.push_str(comment.text);
        page.push('\n');
    }
}

fn write_indent(page: &mut String, indent: usize) {
    page.extend(std::iter::repeat_n(' ', indent));
}

/// A page does not start with a blank line.
fn blank_line(page: &mut String) {
    if !page.is_empty() {
        page.push('\n');
    }
}

/// Columns of the tokens on one line.
fn width(tokens: &[&Token<'_>]) -> usize {
    let words: usize = tokens.iter().map(|token| token.text.chars().count()).sum();
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    words + pairs.filter(|(left, right)| is_blank_between(left, right)).count()
}

fn is_blank_between(left: &Token<'_>, right: &Token<'_>) -> bool {
    let is_close = matches!(right.kind, Kind::Comma | Kind::Semicolon | Kind::Colon | Kind::Close);
    !(is_close || right.tight || left.kind == Kind::Open)
}
