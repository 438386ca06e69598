//! Statements, cut into pieces.
//!
//! A piece is a header with its colon or a clause with its comma or semicolon. The punctuation mark that ends a piece
//! is printed right behind its last word, so comments between the two must give way: the first stays at the end of the
//! line, now behind the mark; the others move on to whatever comes next. None overtakes another.
//!
//! A semicolon with comments on lines of their own before it stays behind them, as a piece of its own: often they are
//! clauses that somebody has commented out, and outside the statement they would seem to belong to the next.

use super::comments::{Comment, Token};
use crate::tokens::Kind;

/// The tokens of a header or of a clause, with the mark that ends it.
pub(super) type Piece<'a> = Vec<Token<'a>>;

/// A statement and what precedes it.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    /// Comments on lines of their own before it.
    pub(super) before: Vec<Comment<'a>>,
    /// Whether a blank line precedes it, behind those comments.
    pub(super) apart: bool,
    /// Never empty, and no piece is.
    pub(super) pieces: Vec<Piece<'a>>,
}

/// All statements, and the comments that none follows.
pub(super) fn group<'a>(
    tokens: Vec<Token<'a>>,
    last_comments: Vec<Comment<'a>>,
) -> (Vec<Statement<'a>>, Vec<Comment<'a>>) {
    let mut grouping = Grouping::default();
    for token in tokens {
        grouping.take(token);
    }
    grouping.finish(last_comments)
}

#[derive(Debug, Default)]
struct Grouping<'a> {
    statements: Vec<Statement<'a>>,
    /// The finished pieces of the present statement.
    pieces: Vec<Piece<'a>>,
    /// The unfinished one.
    piece: Piece<'a>,
    /// Commas of which it is not known yet whether a clause follows.
    commas: Vec<Token<'a>>,
    /// Comments that gave way, for the next token.
    displaced: Vec<Comment<'a>>,
}

impl<'a> Grouping<'a> {
    fn take(&mut self, mut token: Token<'a>) {
        match token.kind {
            Kind::Comma => self.commas.push(token),
            Kind::Semicolon => {
                self.drop_commas();
                self.precede(&mut token);
                self.end_statement(token);
            }
            Kind::Colon if self.pieces.is_empty() && self.commas.is_empty() => {
                self.precede(&mut token);
                self.end_piece(token);
            }
            _ => {
                self.keep_commas(token.text);
                self.precede(&mut token);
                self.piece.push(token);
            }
        }
    }

    /// The last semicolon may be missing. It is written before the comments that end the text, which are taken to
    /// belong to the whole of it.
    fn finish(mut self, mut last_comments: Vec<Comment<'a>>) -> (Vec<Statement<'a>>, Vec<Comment<'a>>) {
        self.drop_commas();
        self.displaced.append(&mut last_comments);
        let last_comments = std::mem::take(&mut self.displaced);
        if !self.pieces.is_empty() || !self.piece.is_empty() {
            self.end_statement(Token::semicolon());
        }
        (self.statements, last_comments)
    }

    /// Puts the displaced comments before those that the token has.
    fn precede(&mut self, token: &mut Token<'a>) {
        self.displaced.append(&mut token.before);
        token.before = std::mem::take(&mut self.displaced);
    }

    /// Ends clauses at the waiting commas, now that `next` follows them.
    fn keep_commas(&mut self, next: &str) {
        for mut comma in std::mem::take(&mut self.commas) {
            self.precede(&mut comma);
            if is_list(&self.piece, next) {
                self.extend_piece(comma);
            } else {
                self.end_piece(comma);
            }
        }
    }

    /// Drops the waiting commas, which nothing follows, but not the comments around them.
    fn drop_commas(&mut self) {
        for mut comma in std::mem::take(&mut self.commas) {
            self.precede(&mut comma);
            match self.piece.last_mut().or_else(|| self.pieces.last_mut()?.last_mut()) {
                Some(last) => {
                    self.displaced = close_up(last, &mut comma);
                    last.after = comma.after;
                }
                None => {
                    self.displaced = comma.before;
                    self.displaced.extend(comma.after.map(Comment::displaced));
                }
            }
        }
    }

    /// Puts a punctuation mark right behind the unfinished piece.
    fn extend_piece(&mut self, mut mark: Token<'a>) {
        if let Some(last) = self.piece.last_mut() {
            self.displaced = close_up(last, &mut mark);
        }
        self.piece.push(mark);
    }

    fn end_piece(&mut self, mark: Token<'a>) {
        self.extend_piece(mark);
        self.pieces.push(std::mem::take(&mut self.piece));
    }

    fn end_statement(&mut self, semicolon: Token<'a>) {
        if semicolon.before.is_empty() {
            // Behind a header without clauses.
            if self.piece.is_empty() {
                self.piece = self.pieces.pop().unwrap_or_default();
            }
        } else if !self.piece.is_empty() {
            self.pieces.push(std::mem::take(&mut self.piece));
        }
        self.end_piece(semicolon);
        let mut pieces = std::mem::take(&mut self.pieces);
        let Some(first) = pieces.first_mut().and_then(|piece| piece.first_mut()) else { return };
        let before = std::mem::take(&mut first.before);
        let apart = first.apart;
        self.statements.push(Statement { before, apart, pieces });
    }
}

/// Whether a comma between the two lists classes rather than clauses: `share core with class a, class b`.
fn is_list(piece: &[Token<'_>], next: &str) -> bool {
    piece.first().is_some_and(|first| first.text == "share") && matches!(next, "class" | "itself" | "nobody")
}

/// Makes `mark` follow `last` directly. The first of the comments around them stays behind `mark` if it was at the end
/// of a line; those that then come to stand behind it are returned.
fn close_up<'a>(last: &mut Token<'a>, mark: &mut Token<'a>) -> Vec<Comment<'a>> {
    let late = match last.after.take() {
        Some(first) => mark.after.replace(first),
        None if mark.before.is_empty() => None,
        None => mark.after.take(),
    };
    let mut displaced = std::mem::take(&mut mark.before);
    displaced.extend(late.map(Comment::displaced));
    displaced
}

impl<'a> Comment<'a> {
    /// A comment that stood at the end of a line and cannot any more.
    fn displaced(text: &'a str) -> Comment<'a> {
        Comment { text, apart: false }
    }
}

impl Token<'_> {
    /// The semicolon that the text leaves out.
    fn semicolon() -> Self {
        Token {
            kind: Kind::Semicolon,
            text: ";",
            before: Vec::new(),
            apart: false,
            after: None,
            depth: 0,
            tight: false,
        }
    }
}
