//! Who may share a core with whom, as cookies: the kernel lets two threads run on one core at the same instant only where
//! their cookies are equal (Documentation/admin-guide/hw-vuln/core-scheduling.rst).
//!
//! Threads without a cookie may share cores with one another, so a class that says nothing has none. Equality is all that
//! cookies know: a class that shares with another shares with itself and with whomever the other shares. Where a policy
//! means something else the compiler has said so (`uneven-sharing`), and what is planned is the group.
//!
//! 1. `share core with nobody`: each thread has a cookie of its own.
//! 2. Classes that name one another, and classes that are named and say nothing, are one group with one cookie.
//! 3. `share core with itself`: a group of one class.
//! 4. Gated batch classes that say nothing and that nobody names are one group: they give way to all others, and to each
//!    other they need not.

use std::collections::BTreeMap;

use super::CoreSharing;

/// The cookie that the threads of a class have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cookie {
    /// Each thread one that no other thread has.
    Each,
    /// One for all threads of these classes, in the order of the plan.
    Common(Vec<String>),
}

/// What cookies depend on, of one class.
pub(super) struct Sharing<'a> {
    pub(super) name: &'a str,
    /// What it says about sharing.
    pub(super) share: Option<&'a CoreSharing>,
    /// Whether its gate is kept by a cookie.
    pub(super) gives_way: bool,
}

/// The cookies of a plan's classes, in its order; none for a class that needs none.
pub(super) fn cookies(classes: &[Sharing<'_>]) -> Vec<Option<Cookie>> {
    let groups = groups(classes);
    let mut names: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (class, group) in classes.iter().zip(&groups) {
        names.entry(*group).or_default().push(class.name.to_owned());
    }
    let cookie = |(class, group): (&Sharing<'_>, &usize)| {
        let names = names.get(group).cloned().unwrap_or_default();
        match class.share {
            Some(share) if share.is_nobody() => Some(Cookie::Each),
            None if !class.gives_way && names.len() == 1 => None,
            _ => Some(Cookie::Common(names)),
        }
    };
    classes.iter().zip(&groups).map(cookie).collect()
}

/// For each class the lowest position in its group.
fn groups(classes: &[Sharing<'_>]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..classes.len()).collect();
    let position: BTreeMap<&str, usize> =
        classes.iter().enumerate().rev().map(|(at, class)| (class.name, at)).collect();
    let mut named = vec![false; classes.len()];
    for (at, share) in classes.iter().enumerate().filter_map(|(at, class)| Some((at, class.share?))) {
        for other in share.classes.iter().filter_map(|name| position.get(name.as_str())) {
            named.iter_mut().skip(*other).take(1).for_each(|named| *named = true);
            unite(&mut groups, at, *other);
        }
    }
    let silent = |(at, class): (usize, &Sharing<'_>)| {
        let alone = class.gives_way && class.share.is_none() && !named.get(at).copied().unwrap_or(false);
        alone.then_some(at)
    };
    let gated: Vec<usize> = classes.iter().enumerate().filter_map(silent).collect();
    gated.iter().zip(gated.iter().skip(1)).for_each(|(one, next)| unite(&mut groups, *one, *next));
    groups
}

fn unite(groups: &mut [usize], one: usize, other: usize) {
    let of = |at: usize| groups.get(at).copied().unwrap_or(at);
    let (low, high) = (of(one).min(of(other)), of(one).max(of(other)));
    groups.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(classes: &[(&str, Option<&str>, bool)]) -> Vec<String> {
        let share = |words: &str| {
            let mut share = CoreSharing { itself: words.contains("itself"), classes: Vec::new() };
            share.classes =
                words.split(' ').filter(|it| !["itself", "nobody"].contains(it)).map(str::to_owned).collect();
            share
        };
        let shares: Vec<Option<CoreSharing>> = classes.iter().map(|(_, words, _)| words.map(share)).collect();
        let sharing = classes.iter().zip(&shares);
        let sharing: Vec<Sharing<'_>> = sharing
            .map(|((name, _, gives_way), share)| Sharing { name, share: share.as_ref(), gives_way: *gives_way })
            .collect();
        let word = |cookie: Option<Cookie>| match cookie {
            None => "-".to_owned(),
            Some(Cookie::Each) => "each".to_owned(),
            Some(Cookie::Common(names)) => names.join("+"),
        };
        cookies(&sharing).into_iter().map(word).collect()
    }

    #[test]
    fn who_says_nothing_has_no_cookie_and_nobody_means_each() {
        let classes = [("a", None, false), ("b", Some("itself"), false), ("c", Some("nobody"), false)];
        assert_eq!(said(&classes), ["-", "b", "each"]);
    }

    #[test]
    fn who_is_named_is_in_the_group_and_groups_that_touch_are_one() {
        let classes = [("a", Some("b"), false), ("b", None, false), ("c", None, false), ("d", Some("itself b"), false)];
        assert_eq!(said(&classes), ["a+b+d", "a+b+d", "-", "a+b+d"]);
        let chain =
            [("a", Some("itself b"), false), ("x", None, false), ("b", Some("a c"), false), ("c", Some("b"), false)];
        assert_eq!(said(&chain), ["a+b+c", "-", "a+b+c", "a+b+c"]);
    }

    #[test]
    fn gated_classes_are_one_group_unless_something_else_is_said() {
        let classes = [
            ("a", None, true),
            ("b", None, true),
            ("own", Some("itself"), true),
            ("one", Some("named"), true),
            ("named", None, true),
            ("alone", Some("nobody"), true),
        ];
        assert_eq!(said(&classes), ["a+b", "a+b", "own", "one+named", "one+named", "each"]);
    }
}
