//! Which token a comment belongs to.
//!
//! One at the end of a line belongs to the token before it, one on a line of its own to the token after it.

use crate::tokens::{Kind, Lexeme};

/// A comment on a line of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment<'a> {
    pub(super) text: &'a str,
    /// Whether a blank line precedes it.
    pub(super) apart: bool,
}

/// A token that is no comment, with the comments around it.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Comments on lines of their own before it.
    pub(super) before: Vec<Comment<'a>>,
    /// Whether a blank line precedes it, behind those comments.
    pub(super) apart: bool,
    /// The comment at the end of its line.
    pub(super) after: Option<&'a str>,
    /// How many parentheses of its clause are open around it.
    pub(super) depth: usize,
    /// Written without a blank before it, as `-` and `3` are in `0 - 3`.
    pub(super) tight: bool,
}

/// All tokens, and the comments that no token follows.
pub(super) fn attach(lexemes: Vec<Lexeme<'_>>) -> (Vec<Token<'_>>, Vec<Comment<'_>>) {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut before = Vec::new();
    let mut depth = 0_usize;
    for Lexeme { kind, text, line_breaks } in lexemes {
        let apart = line_breaks > 1;
        match (kind, tokens.last_mut()) {
            (Kind::Comment, Some(token)) if line_breaks == 0 => token.after = Some(text),
            (Kind::Comment, _) => before.push(Comment { text, apart }),
            _ => {
                let before = std::mem::take(&mut before);
                match kind {
                    Kind::Comma | Kind::Semicolon => depth = 0,
                    Kind::Close => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let mut token = Token { kind, text, before, apart, after: None, depth, tight: false };
                close_range(&mut tokens, &mut token);
                depth += usize::from(kind == Kind::Open);
                tokens.push(token);
            }
        }
    }
    (tokens, before)
}

/// Ties `0`, `-` and `3` together where `last` is the `3`.
fn close_range(tokens: &mut [Token<'_>], last: &mut Token<'_>) {
    let [.., first, dash] = tokens else { return };
    let uncommented = first.after.is_none() && dash.after.is_none() && dash.before.is_empty() && last.before.is_empty();
    // `0 - 3 - 5` is no range. Once its first half is one word, the next pass must find nothing to tie either.
    if uncommented && is_number(first) && !first.tight && dash.text == "-" && is_number(last) {
        dash.tight = true;
        last.tight = true;
    }
}

/// `3`, or the `12.5%` of a clamp.
fn is_number(token: &Token<'_>) -> bool {
    token.kind == Kind::Word && is_number_text(token.text)
}

pub(super) fn is_number_text(text: &str) -> bool {
    let digits = text.strip_suffix('%').unwrap_or(text);
    let is_percent = digits.len() < text.len();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || is_percent && byte == b'.')
}
