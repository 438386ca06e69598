//! Regular expressions as globs, where they are plain texts that may be anchored.
//!
//! Everything else is left to a person: a glob that covers a little more or less than the expression did would place
//! processes that nobody thought of.

use super::comparison;
use crate::convert::EVERYBODY;
use crate::convert::words::literal;

/// Characters that mean something else than themselves, in Python's `re`.
const SPECIAL: &str = "\\.^$*+?{}[]|()";

/// The processes whose field the expression is found in.
///
/// # Errors
/// Why a glob cannot say it.
pub(super) fn processes(field: &str, expression: &str) -> Result<String, String> {
    let (expression, start) = anchored(expression, "^", ".*", |text, part| text.strip_prefix(part));
    if expression.starts_with("\\[") {
        return Err("it means kernel threads, which policies do not touch".to_owned());
    }
    // An escaped `$` is a character like others.
    let escaped = expression.ends_with("\\$");
    let (expression, end) = if escaped {
        (expression, true)
    } else {
        anchored(expression, "$", ".*", |text, part| text.strip_suffix(part))
    };
    let text = plain(expression)?;
    if text.is_empty() {
        return match start && end {
            true => Ok(EVERYBODY.to_owned()),
            false => Err("it matches the empty text alone".to_owned()),
        };
    }
    // `*` stops at `/` in a path, and an expression did not: `**/` is any folder.
    let before = match (start, text.contains('/')) {
        (false, _) => "",
        (true, false) => "*",
        (true, true) if text.starts_with('/') => "**",
        (true, true) => "**/*",
    };
    let after = if end { "*" } else { "" };
    Ok(comparison(field, &format!("{before}{}{after}", literal(&text))))
}

/// Takes an anchor, or a text that stands for anything, off one end. Whether anything may stand there comes with the rest.
fn anchored<'a>(
    text: &'a str,
    anchor: &str,
    anything: &str,
    strip: fn(&'a str, &str) -> Option<&'a str>,
) -> (&'a str, bool) {
    let (text, is_anchored) = strip(text, anchor).map_or((text, false), |rest| (rest, true));
    match strip(text, anything) {
        Some(rest) => (rest, true),
        None => (text, !is_anchored),
    }
}

/// The text that an expression without any operator stands for.
fn plain(expression: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = expression.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                // `\d`, `\b`: an escaped letter or digit is an operator.
                Some(escaped) if !escaped.is_alphanumeric() => text.push(escaped),
                _ => return Err("it is more than a plain text with anchors".to_owned()),
            },
            c if SPECIAL.contains(c) => return Err("it is more than a plain text with anchors".to_owned()),
            c if c.is_whitespace() => return Err("it has a blank, behind which arguments stand".to_owned()),
            c => text.push(c),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::processes;

    #[test]
    fn anchored_texts_become_globs_and_nothing_else_does() {
        for (expression, expected) in [
            ("nginx", Some("exe \"*nginx*\"")),
            ("^nginx$", Some("exe \"nginx\"")),
            ("^nginx.*$", Some("exe \"nginx*\"")),
            (".*nginx$", Some("exe \"*nginx\"")),
            ("^/usr/sbin/chronyd", Some("exe \"/usr/sbin/chronyd*\"")),
            ("sbin/chronyd$", Some("exe \"**/*sbin/chronyd\"")),
            ("/chronyd$", Some("exe \"**/chronyd\"")),
            ("a\\.b\\*", Some("exe \"*a.b[*]*\"")),
            (".*", Some("comm \"*\"")),
            ("", Some("comm \"*\"")),
            ("^$", None),
            ("^\\[ksoftirqd", None),
            ("a|b", None),
            ("a.c", None),
            ("\\d", None),
            ("a\\", None),
            ("nginx -g", None),
        ] {
            assert_eq!(processes("exe", expression).ok().as_deref(), expected, "{expression}");
        }
        assert_eq!(processes("exe", "a\\$").unwrap(), "exe \"*a$*\"");
    }
}
