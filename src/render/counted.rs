//! Numbers and their nouns.

/// `1 core`, `2 cores`, `2 classes`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match (count, noun.ends_with('s')) {
        (1, _) => format!("1 {noun}"),
        (_, true) => format!("{count} {noun}es"),
        (_, false) => format!("{count} {noun}s"),
    }
}
