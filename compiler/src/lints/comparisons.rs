//! Patterns that are not what the field they are compared with can hold.

use cotenant_grammar::tree::{Field, ProcessExpr};

use super::mistake::Lint;

/// What units with processes end in; see [`innermost_unit`](crate::selector::innermost_unit).
const UNIT_ENDS: &[&str] = &[".service", ".scope", ".socket", ".mount", ".swap"];

/// Every check of one comparison, in the order of its findings; the first that finds something is enough.
pub(super) fn comparison(expr: &ProcessExpr, report: &mut dyn FnMut(Lint)) {
    let ProcessExpr::Predicate(field, pattern) = expr else { return };
    let (at, text) = (pattern.span, pattern.value.trim());
    let found = regex_like(field.value, text)
        .map(|write| Lint::RegexLike { at, text: text.to_owned(), write })
        .or_else(|| {
            relative_path(field.value, text).map(|(field, write)| {
                let text = text.to_owned();
                Lint::RelativePath { at, text, field, write }
            })
        })
        .or_else(|| {
            unit_suffix(field.value, text).map(|(field, write)| {
                let text = text.to_owned();
                Lint::UnitSuffix { at, text, field, write }
            })
        });
    found.into_iter().for_each(report);
}

/// Anchors, escapes and a leading `.*` mean nothing in a glob. A `.*` further in may be meant: `python3.*`. Arguments may hold
/// regular expressions themselves.
fn regex_like(field: Field, text: &str) -> Option<String> {
    if matches!(field, Field::Arg | Field::User | Field::Group) {
        return None;
    }
    let anchored = text.strip_prefix('^').or(text.strip_suffix('$'));
    let looks =
        anchored.is_some() || text.starts_with(".*") || ["\\.", "\\d", "\\w", "\\S"].iter().any(|it| text.contains(it));
    let plain = text.trim_start_matches('^').trim_end_matches('$').replace(".*", "*").replace("\\.", ".");
    let simple = !plain.is_empty() && !plain.contains(['\\', '^', '$', '|', '(', '+', '{']);
    looks.then(|| match simple {
        true => format!("write `{} \"{plain}\"`: a glob is anchored by itself, and `*` is any text", field.word()),
        false => "a glob is anchored by itself; `*` is any text, `?` one character, `{a,b}` one of two".to_owned(),
    })
}

/// Paths are absolute, and so are globs of them.
fn relative_path(field: Field, text: &str) -> Option<(&'static str, String)> {
    let what = match field {
        Field::Exe if text.contains('/') => "executable",
        Field::Cgroup => "cgroup",
        _ => return None,
    };
    if text.starts_with(['/', '?', '[', '{'])
        || text.starts_with("**")
        || text.starts_with('*') && !text.starts_with("*/")
    {
        return None;
    }
    let behind = text.trim_start_matches(['*', '.', '~']).trim_start_matches('/');
    let last = behind.rsplit('/').next().unwrap_or(behind);
    Some((
        what,
        match field {
            Field::Exe if text.starts_with("*/") && !behind.contains('/') => {
                format!("write `exe {last}` or `exe **/{last}`: `*` stops at `/`")
            }
            Field::Exe => format!("write the whole path, or `exe **/{behind}`"),
            _ => format!("write `cgroup /{behind}`, or `cgroup **/{behind}`"),
        },
    ))
}

/// A unit's name has its kind at the end, and only some kinds have processes.
fn unit_suffix(field: Field, text: &str) -> Option<(&'static str, String)> {
    let open = text.ends_with(['*', '?', ']', '}']);
    let lower = text.to_ascii_lowercase();
    match field {
        Field::Unit if !open && !UNIT_ENDS.iter().any(|end| text.ends_with(end)) => Some(("unit", {
            let kind = |end: &str| lower.strip_suffix(end);
            let idle = [".device", ".automount", ".target"].iter().any(|end| lower.ends_with(end));
            match (kind(".slice"), kind(".timer").or(kind(".path"))) {
                (Some(_), _) => format!("write `slice {lower}`: a slice holds units, and is asked for by `slice`"),
                (_, Some(stem)) => format!("write the unit that it starts: `unit {stem}.service`"),
                _ if idle => "match the service instead: units of this kind have no processes".to_owned(),
                _ if UNIT_ENDS.iter().any(|end| lower.ends_with(end)) => {
                    let dot = text.rfind('.').unwrap_or(text.len());
                    let (stem, end) = text.split_at_checked(dot).unwrap_or((text, ""));
                    format!("write `unit {stem}{}`: kinds are in lower case", end.to_ascii_lowercase())
                }
                _ => format!("write `unit {text}.service`, or `unit {text}.*` for all kinds"),
            }
        })),
        Field::Slice if !open && !text.ends_with(".slice") => Some((
            "slice",
            match text.rsplit_once('.') {
                Some((stem, end)) if end.eq_ignore_ascii_case("slice") => format!("write `slice {stem}.slice`"),
                Some((_, "service" | "scope" | "socket")) => format!("write `unit {text}`"),
                _ => format!("write `slice {text}.slice`"),
            },
        )),
        _ => None,
    }
}
