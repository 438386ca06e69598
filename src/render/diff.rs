//! What a change of a policy moves, as a comment on it: Markdown that reads as plain text.

use cotenant_compiler::Plan;
use cotenant_compiler::topology::summary;

use super::counted::counted;
use super::printable;
use crate::comparison::{Change, Comparison, Described, Moved};

/// The comparison of two plans, `new` being the newer.
pub(crate) fn diff(comparison: &Comparison, new: &Plan) -> String {
    let mut text = format!("### Placement on {}\n\n{}.\n", summary(&new.topology), sum(comparison));
    if !comparison.is_empty() {
        text.push('\n');
    }
    for class in &comparison.added {
        text.push_str(&described("added", class));
    }
    for class in &comparison.changed {
        text.push_str(&format!("- **changed** {} class {}\n", class.kind, code(&class.name)));
        text.push_str(&class.changes.iter().map(change).collect::<String>());
    }
    for class in &comparison.removed {
        text.push_str(&described("removed", class));
    }
    text.push_str(&comparison.moved.iter().map(moved).collect::<String>());
    text.push_str(&of_host("requirements of the host", &comparison.requirements));
    text.push_str(&of_host("settings of the kernel", &comparison.kernel));
    printable(&text).into_owned()
}

fn sum(comparison: &Comparison) -> String {
    let counts = [
        (comparison.added.len(), "added"),
        (comparison.changed.len(), "changed"),
        (comparison.removed.len(), "removed"),
        (comparison.moved.len(), "matched in another order"),
    ];
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = said.map(|(count, what)| format!("{} {what}", counted(*count, "class"))).collect();
    let other = [
        (&comparison.requirements, "other requirements of the host"),
        (&comparison.kernel, "other settings of the kernel"),
    ];
    parts.extend(other.into_iter().filter(|(changes, _)| !changes.is_empty()).map(|(_, what)| what.to_owned()));
    match parts.is_empty() {
        true => "Nothing changes: every class gets what it had".to_owned(),
        false => sentence(&parts.join(", ")),
    }
}

/// The words with a capital in front.
fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

/// What changes for all that runs on the host; nothing where nothing does.
fn of_host(what: &str, changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    format!("- **changed** {what}\n{}", changes.iter().map(change).collect::<String>())
}

fn described(word: &str, class: &Described) -> String {
    let says = class.says.iter().map(|(what, text)| format!("  - {what}: {}\n", value(what, text)));
    format!("- **{word}** {} class {}\n{}", class.kind, code(&class.name), says.collect::<String>())
}

fn change(change: &Change) -> String {
    let side = |text: &Option<String>| text.as_ref().map_or("–".to_owned(), |text| value(&change.what, text));
    let note = change.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    format!("  - {}: {} → {}{note}\n", change.what, side(&change.before), side(&change.after))
}

fn moved(moved: &Moved) -> String {
    let place = match &moved.behind {
        Some(other) => format!("behind {}", code(other)),
        None => "first".to_owned(),
    };
    format!("- **moved** class {}: now tried {place}\n", code(&moved.name))
}

/// Patterns hold characters that Markdown would take for its own.
fn value(what: &str, text: &str) -> String {
    if matches!(what, "processes" | "host") { code(text) } else { text.to_owned() }
}

/// A text as Markdown's code, fenced by more backticks than it holds side by side.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_is_fenced_by_what_it_does_not_hold() {
        assert_eq!(code("exe a*"), "`exe a*`");
        assert_eq!(code("exe `a``b`"), "``` exe `a``b` ```");
    }
}
