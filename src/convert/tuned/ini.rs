//! The text of `tuned.conf`: sections in brackets, `key=value` lines, comments that begin with `#` or `;`.

use crate::convert::Input;
use crate::convert::rule::{Line, Rule};

/// One `key=value`.
pub(super) struct Entry {
    pub(super) line: Line,
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
}

/// All of them, and a rule for each line that is none. A key given twice in a section counts where it stands last.
pub(super) fn entries(input: &Input) -> (Vec<Entry>, Vec<Rule>) {
    let (mut entries, mut faults): (Vec<Entry>, Vec<Rule>) = (Vec::new(), Vec::new());
    // What stands before the first section is the profile's own, as what stands in [main] is.
    let mut section = "main".to_owned();
    for line in input.lines() {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim().to_owned();
            continue;
        }
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                if section == "main" && key == "summary" {
                    continue;
                }
                entries.retain(|known| known.section != section || known.key != key);
                entries.push(Entry { section: section.clone(), key, value, line });
            }
            _ => faults.push(Rule::fault(line, "neither `[section]` nor `key=value`")),
        }
    }
    (entries, faults)
}
