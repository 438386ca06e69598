//! The nearest known word to one that is not known.

/// The candidate that a slip of the hand most likely made `word` of: within two edits (insert, delete, replace, swap), and
/// within one where the word is so short that two edits could make anything of it. Of equally near ones it is the one that
/// holds more of the letters that were typed: a letter is more often lost than invented. Case is ignored.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = word.to_lowercase();
    let reach = if typed.chars().count() <= 3 { 1 } else { 2 };
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&typed, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= reach && *distance < candidate.chars().count())
        .min_by_key(|(distance, candidate)| (*distance, strangers(&typed, candidate)))
        .map(|(_, candidate)| candidate)
}

/// How many letters of `typed` the candidate does not have.
fn strangers(typed: &str, candidate: &str) -> usize {
    typed.chars().filter(|letter| !candidate.contains(*letter)).count()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_hand_are_recognised() {
        let words = ["prefer", "push", "on", "nice"];
        assert_eq!(nearest("prefre", words), Some("prefer"));
        assert_eq!(nearest("Push", words), Some("push"));
        assert_eq!(nearest("no", words), Some("on"));
        assert_eq!(nearest("onl", ["on", "only"]), Some("only"));
        assert_eq!(nearest("weight", words), None);
        assert_eq!(nearest("x", words), None);
    }
}
