//! Every mistake the parser can report, as data, and the prose for it in one place.

mod include;

use crate::{Code, Diagnostic, IncludeFault, Span, nearest};

/// What a piece of text was being read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Statement,
    Clause,
    Condition,
    Knob,
    Predicate,
    CpuSet,
    /// Somewhere inside one of these.
    Inside,
}

#[derive(Debug)]
pub(crate) enum Mistake {
    TooLarge {
        at: Span,
        bytes: usize,
        limit: usize,
    },
    TooDeep {
        at: Span,
        limit: usize,
    },
    UnknownWord {
        place: Place,
        at: Span,
        word: String,
        known: Vec<&'static str>,
    },
    Unexpected {
        at: Span,
        found: String,
        expected: Vec<&'static str>,
    },
    Unfinished {
        after: Span,
        expected: Vec<&'static str>,
    },
    MissingSemicolon {
        after: Span,
        next: Span,
    },
    /// `write` is what the next clause's first word should have been, where that is misspelt too.
    MissingComma {
        after: Span,
        next: Span,
        write: Option<&'static str>,
    },
    MissingColon {
        header: Span,
        next: Span,
    },
    EqualsForColon {
        at: Span,
    },
    CommaInCpus {
        at: Span,
    },
    EmptyClause {
        at: Span,
    },
    EmptyBody {
        header: Span,
    },
    EmptyStatement {
        at: Span,
    },
    UnclosedString {
        at: Span,
    },
    UnclosedParenthesis {
        open: Span,
    },
    StrayParenthesis {
        at: Span,
    },
    BadEscape {
        at: Span,
        text: String,
    },
    NumberTooLarge {
        at: Span,
        text: String,
    },
    ReversedRange {
        at: Span,
        first: String,
        last: String,
    },
    Include {
        at: Span,
        pattern: String,
        fault: IncludeFault,
    },
}

/// `a`, `b` or `c`.
fn list(words: &[&str]) -> String {
    match words {
        [] => "the end".to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

fn quoted(words: &[&'static str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    list(&quoted.iter().map(String::as_str).collect::<Vec<_>>())
}

impl From<Mistake> for Diagnostic {
    fn from(mistake: Mistake) -> Diagnostic {
        match mistake {
            Mistake::TooLarge { at, bytes, limit } => Diagnostic::error(
                Code("file-too-large"),
                format!("this file has {bytes} bytes, more than the {limit} that are read"),
                at,
                "",
            )
            .help("split the policy into several files of one directory"),
            Mistake::TooDeep { at, limit } => Diagnostic::error(
                Code("too-deep"),
                format!("parentheses are nested more than {limit} deep"),
                at,
                "this one is too deep",
            )
            .help("give the inner part a name with `processes NAME: …;` or `zone NAME: …;`"),
            Mistake::UnknownWord { place, at, word, known } => unknown(place, at, &word, &known),
            Mistake::Unexpected { at, found, expected } => Diagnostic::error(
                Code("syntax"),
                format!("expected {}, found `{found}`", list(&expected)),
                at,
                format!("expected {}", list(&expected)),
            ),
            Mistake::Unfinished { after, expected } => Diagnostic::error(
                Code("syntax"),
                format!("this ends too soon: expected {}", list(&expected)),
                after,
                format!("expected {} after this", list(&expected)),
            ),
            Mistake::MissingSemicolon { after, next } => {
                Diagnostic::error(Code("missing-semicolon"), "a `;` is missing", after, "the statement ends here")
                    .also(next, "the next one begins here")
                    .help("end the statement with `;`")
            }
            Mistake::MissingComma { after, next, write } => {
                let help = match write {
                    Some(word) => format!("put a `,` between the clauses, and write `{word}`"),
                    None => "put a `,` between the clauses".to_owned(),
                };
                Diagnostic::error(Code("missing-comma"), "a `,` is missing between two clauses", after, "ends here")
                    .also(next, "the next clause begins here")
                    .help(help)
            }
            Mistake::MissingColon { header, next } => {
                Diagnostic::error(Code("missing-colon"), "a `:` is missing behind the header", header, "the header")
                    .also(next, "the `:` belongs before this")
                    .help("write `header: clause, …;`")
            }
            Mistake::EqualsForColon { at } => {
                Diagnostic::error(Code("equals-for-colon"), "a header ends with `:`, not with `=`", at, "this `=`")
                    .help("write `:` here")
            }
            Mistake::CommaInCpus { at } => Diagnostic::error(
                Code("comma-in-cpu-set"),
                "a `,` ends a clause; sets of CPUs are joined by `and`",
                at,
                "read as a clause of its own",
            )
            .help("write `cpus 0-3 and cpu 8`"),
            Mistake::EmptyClause { at } => {
                Diagnostic::error(Code("empty-clause"), "there is no clause before this `,`", at, "nothing before it")
                    .help("remove the `,`")
            }
            Mistake::EmptyBody { header } => {
                Diagnostic::error(Code("empty-body"), "this statement says nothing", header, "nothing behind the `:`")
                    .help("write at least one clause, or remove the statement")
            }
            Mistake::EmptyStatement { at } => {
                Diagnostic::error(Code("empty-statement"), "there is no statement before this `;`", at, "")
                    .help("remove the `;`")
            }
            Mistake::UnclosedString { at } => {
                Diagnostic::error(Code("unclosed-string"), "this string is not closed on its line", at, "opened here")
                    .help("close it with `\"`; a `\"` inside is written `\\\"`")
            }
            Mistake::UnclosedParenthesis { open } => {
                Diagnostic::error(Code("unclosed-parenthesis"), "this parenthesis is not closed", open, "opened here")
                    .help("add the `)`")
            }
            Mistake::StrayParenthesis { at } => Diagnostic::error(
                Code("unclosed-parenthesis"),
                "this parenthesis closes nothing",
                at,
                "no `(` stands before it",
            )
            .help("remove the `)`, or add the `(`"),
            Mistake::BadEscape { at, text } => {
                Diagnostic::error(Code("bad-escape"), format!("`{text}` is not an escape"), at, "not an escape")
                    .help("escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`; write `\\\\` for a backslash")
            }
            Mistake::NumberTooLarge { at, text } => Diagnostic::error(
                Code("number-too-large"),
                format!("`{text}` is larger than any number a policy can mean"),
                at,
                "too large",
            ),
            Mistake::ReversedRange { at, first, last } => Diagnostic::error(
                Code("reversed-range"),
                format!("this range ends at {last}, before it begins at {first}"),
                at,
                "first and last are swapped",
            )
            .help(format!("write `{last}-{first}`")),
            Mistake::Include { at, pattern, fault } => include::diagnostic(at, &pattern, fault),
        }
    }
}

fn unknown(place: Place, at: Span, word: &str, known: &[&'static str]) -> Diagnostic {
    let (code, what) = match place {
        Place::Statement => (Code("unknown-statement"), "no statement begins with"),
        Place::Clause => (Code("unknown-clause"), "no clause begins with"),
        Place::Condition => (Code("unknown-condition"), "no condition begins with"),
        Place::Knob => (Code("unknown-knob"), "no setting of the kernel begins with"),
        Place::Predicate => (Code("unknown-predicate"), "no predicate is called"),
        Place::CpuSet => (Code("unknown-cpu-set"), "no set of CPUs begins with"),
        Place::Inside => (Code("unknown-word"), "no such word fits here:"),
    };
    let diagnostic = Diagnostic::error(code, format!("{what} `{word}`"), at, "not known");
    match (nearest(word, known.iter().copied()), place) {
        (Some(meant), _) => diagnostic.help(format!("write `{meant}`")),
        (None, Place::Statement) => diagnostic.help(format!(
            "statements begin with {}; a class with a name of its own is written `class {word}: …;`",
            quoted(known)
        )),
        (None, _) => diagnostic.help(format!("known are {}", quoted(known))),
    }
}
