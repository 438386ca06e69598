//! Which classes are tried at another place than before.
//!
//! The longest run of classes that stand in the old order stays; the others are said to have moved. That names the fewest.

use super::Moved;

/// The moved ones of `pairs`, the positions of classes in the old and the new plan, ascending in the new one.
pub(super) fn moved(pairs: &[(usize, usize)], names: &[&str]) -> Vec<Moved> {
    let stay = longest_ascent(pairs);
    let name = |at: usize| names.get(at).map(|name| (*name).to_owned());
    let gone = pairs.iter().filter(|(_, at)| stay.binary_search(at).is_err());
    gone.filter_map(|(_, at)| Some(Moved { name: name(*at)?, behind: at.checked_sub(1).and_then(name) })).collect()
}

/// New positions of the longest selection whose old positions ascend; by patience sorting, n log n.
fn longest_ascent(pairs: &[(usize, usize)]) -> Vec<usize> {
    // Of each length of ascent: the pair that ends the one with the smallest end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (index, (old, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs.get(*end).is_some_and(|(other, _)| other < old));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let chain = std::iter::successors(ends.last().copied(), |index| before.get(*index).copied().flatten());
    let mut kept: Vec<usize> = chain.filter_map(|index| pairs.get(index).map(|(_, new)| *new)).collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_moved(old: &str, new: &str) -> Vec<(String, Option<String>)> {
        let names: Vec<&str> = new.split(' ').collect();
        let position = |name: &&str| old.split(' ').position(|it| it == *name);
        let pairs: Vec<_> = names.iter().enumerate().filter_map(|(at, name)| Some((position(name)?, at))).collect();
        moved(&pairs, &names).into_iter().map(|it| (it.name, it.behind)).collect()
    }

    #[test]
    fn the_fewest_are_said_to_have_moved() {
        let one = |name: &str, behind: Option<&str>| vec![(name.to_owned(), behind.map(str::to_owned))];
        assert_eq!(names_moved("a b c d", "a b c d"), []);
        assert_eq!(names_moved("a b c d", "a new b c d"), []);
        assert_eq!(names_moved("a b c d", "d a b c"), one("d", None));
        assert_eq!(names_moved("a b c d", "b c a d"), one("a", Some("c")));
    }
}
