use cotenant_grammar::tree::Field;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::selector::{Account, Fields, Pattern, Scope, Selector};

fn on(field: Field, text: &str) -> Selector {
    let path = field == Field::Cgroup || field == Field::Exe && text.contains('/');
    Selector::Pattern(field, Pattern::new(text, if path { Scope::Path } else { Scope::Text }).unwrap())
}

/// `exe x and not comm y` and the like: fields and words by position, `|` between alternatives.
fn read(text: &str) -> Selector {
    let term = |text: &str| {
        let (text, denied) = text.strip_prefix('!').map_or((text, false), |rest| (rest, true));
        let (field, word) = text.split_once('=').unwrap();
        let selector = match field {
            "exe" => on(Field::Exe, word),
            "comm" => on(Field::Comm, word),
            "arg" => on(Field::Arg, word),
            "cgroup" => on(Field::Cgroup, word),
            "unit" => on(Field::Unit, word),
            "slice" => on(Field::Slice, word),
            "user" => Selector::User(Account::new(word)),
            "group" => Selector::Group(Account::new(word)),
            _ => Selector::Name(word.to_owned()),
        };
        if denied { Selector::Not(Box::new(selector)) } else { selector }
    };
    let all = |text: &str| Selector::All(text.split_whitespace().map(term).collect());
    Selector::Any(text.split('|').map(all).collect())
}

#[test]
fn what_follows_is_proved() {
    let proved = [
        ("exe=/usr/bin/make", "exe=make"),
        ("exe=/usr/bin/make", "exe=/usr/*/make"),
        ("exe=/usr/bin/*", "exe=/usr/**"),
        ("exe=/usr/**/bin/x*", "exe=/**/x*"),
        ("exe=/opt/*/run", "exe=run"),
        ("exe=nginx-?", "exe=nginx*"),
        ("comm=ng*", "comm=n*"),
        ("comm=[ab]x", "comm={ax,bx}"),
        ("comm=ng* exe=x", "comm=n*"),
        ("comm=a|comm=b", "comm=?"),
        ("comm=x !user=root", "comm=x"),
        ("comm=x", "comm=x|exe=y"),
        ("comm=x", "!comm=y"),
        ("comm=x", "name=x"),
        ("exe=/bin/x", "name=x"),
        ("cgroup=/a.slice/x.service", "name=x"),
        ("cgroup=/a.slice/x.service", "unit=x.*"),
        ("cgroup=/a.slice/x.service", "slice=a.slice"),
        ("unit=nginx@a.service", "unit=nginx@*.service"),
        ("arg=--x=1", "arg=--x=*"),
        ("user=33", "user=33"),
        ("name=x", "name=x"),
        ("comm=x !comm=*", "comm=y"),
    ];
    for (first, second) in proved {
        assert!(Logic::default().implies(&read(first), &read(second)), "{first} implies {second}");
    }
}

#[test]
fn what_need_not_follow_is_not_proved() {
    let open = [
        ("exe=make", "exe=/usr/bin/make"),
        ("exe=/usr/**", "exe=/usr/*"),
        ("exe=/*/x", "exe=/*/*/x"),
        ("comm=n*", "comm=ng*"),
        ("comm=x", "exe=x"),
        ("comm=x", "comm=x user=root"),
        ("name=x", "comm=x"),
        ("unit=x.service", "name=x"),
        ("unit=x.service", "slice=x.slice"),
        ("user=www-data", "user=33"),
        ("!user=root", "user=1000"),
        ("!exe=x", "exe=y"),
        ("arg=a", "!arg=b"),
        ("unit=a.service", "!unit=b.service"),
    ];
    for (first, second) in open {
        assert!(!Logic::default().implies(&read(first), &read(second)), "{first} need not imply {second}");
    }
}

#[test]
fn contradictions_are_proved() {
    for empty in [
        "exe=a exe=b",
        "exe=/bin/a exe=b",
        "exe=/bin/* exe=/sbin/*",
        "exe=/bin/*-x exe=*-y",
        "comm=x !comm=x",
        "comm=x !comm=?",
        "comm=a* comm=*b comm=??? !comm=a?b",
        "comm=[a-z]aaaaaaaaaaaaaaa",
        "user=root user=postgres",
        "user=1 user=2",
        "user=root !user=root",
        "arg=a !arg=*",
        "unit=a.service !unit=a.*",
        "cgroup=/a.slice/x.service !slice=a.slice",
        "name=x !name=x",
    ] {
        assert!(Logic::default().is_empty(&read(empty)), "{empty} is empty");
    }
    for open in [
        "exe=/bin/a exe=a",
        "arg=a arg=b",
        "unit=a.service unit=b.service",
        "unit=x.service slice=x.slice",
        "slice=a.slice slice=b.slice",
        "user=root user=0",
        "user=root group=postgres",
        "comm=[a-z]aaaaaaaaaaaaaa",
        "!exe=*",
        "!comm=x",
        "exe=/**/x !exe=/x",
    ] {
        assert!(!Logic::default().is_empty(&read(open)), "{open} need not be empty");
    }
}

#[test]
fn what_shares_no_process_is_disjoint() {
    assert!(!Logic::default().disjoint(&read("comm=a*|comm=b*"), &read("comm=c*|comm=?")));
    assert!(Logic::default().disjoint(&read("comm=a*|comm=b*"), &read("comm=c*|comm=d")));
    assert!(Logic::default().disjoint(&read("exe=/usr/bin/*"), &read("exe=/opt/** user=x")));
}

#[test]
fn too_much_to_think_about_is_left_alone() {
    let pairs: Vec<String> = (0..16).map(|at| format!("comm=a{at}*|comm=b{at}*")).collect();
    let huge = Selector::All(pairs.iter().map(|pair| read(pair)).collect());
    assert!(!Logic::default().is_empty(&huge) && !Logic::default().implies(&huge, &huge));
}

const WORDS: &[&str] = &["a", "b", "ab", "a-b", "aaaaaaaaaaaaaaa", "a.service", r"a\x2db.service", "a-b.service"];
const GLOBS: &[&str] = &[
    "a",
    "b",
    "ab",
    "a*",
    "*b",
    "?",
    "*",
    "[ab]",
    "{a,b}*",
    "a?b",
    "*-*",
    "a-b.service",
    "*.service",
    "?????*",
    "[!a]*",
];
const PATHS: &[&str] =
    &["/a", "/b", "/x/a", "/x/y/a", "/x/ab", "/x/y/b", "/a.slice/a.service", "/a.slice/b.slice/ab.scope/x"];
const PATH_GLOBS: &[&str] = &[
    "/a",
    "/x/*",
    "/x/**",
    "/**/a",
    "**/a",
    "/*/a",
    "/x/[ab]",
    "/x/**/{a,b}",
    "/*/*/*",
    "/a.slice/**",
    "/a.slice/a.service",
    "*/b",
];

fn leaf() -> impl Strategy<Value = Selector> {
    let glob = || select(GLOBS);
    prop_oneof![
        glob().prop_map(|text| on(Field::Comm, text)),
        glob().prop_map(|text| on(Field::Exe, text)),
        select(PATH_GLOBS).prop_map(|text| on(Field::Exe, text)),
        glob().prop_map(|text| on(Field::Thread, text)),
        glob().prop_map(|text| on(Field::Arg, text)),
        select(PATH_GLOBS).prop_map(|text| on(Field::Cgroup, text)),
        glob().prop_map(|text| on(Field::Unit, text)),
        select(&["a.slice", "*.slice", "b*"][..]).prop_map(|text| on(Field::Slice, text)),
        select(WORDS).prop_map(|text| Selector::Name(text.to_owned())),
        select(&["u", "v", "1", "2"][..]).prop_map(|text| Selector::User(Account::new(text))),
        select(&["u", "1"][..]).prop_map(|text| Selector::Group(Account::new(text))),
    ]
}

fn selector() -> impl Strategy<Value = Selector> {
    leaf().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Selector::All),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(Selector::Any),
            inner.clone().prop_map(|inner| Selector::Not(Box::new(inner))),
            inner.prop_map(|inner| Selector::Set("s".to_owned(), std::sync::Arc::new(inner))),
        ]
    })
}

fn process() -> impl Strategy<Value = Fields> {
    let words = || select(WORDS).prop_map(|word| word.as_bytes().to_vec());
    let paths = || select(PATHS).prop_map(|path| path.as_bytes().to_vec());
    let account = || select(&[("u", 1), ("v", 2), ("w", 3)][..]).prop_map(|(name, id)| (name.to_owned(), id));
    (
        words(),
        proptest::option::of(paths()),
        proptest::collection::vec(words(), 0..3),
        account(),
        account(),
        proptest::collection::vec(paths(), 0..3),
    )
        .prop_map(|(comm, exe, args, user, group, cgroups)| {
            let comm = comm.into_iter().take(15).collect();
            let mut fields = Fields { comm, exe, args, user, group, ..Fields::default() };
            fields.cgroups = cgroups;
            fields
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_is_true(
        first in selector(),
        second in selector(),
        processes in proptest::collection::vec(process(), 64),
    ) {
        let logic = Logic::default();
        let (implied, disjoint) = (logic.implies(&first, &second), logic.disjoint(&first, &second));
        let empty = logic.is_empty(&first);
        for process in &processes {
            let (one, other) = (first.matches(process), second.matches(process));
            prop_assert!(!implied || !one || other, "{first} does not imply {second}: {process:?}");
            prop_assert!(!disjoint || !one || !other, "{first} and {second} share {process:?}");
            prop_assert!(!empty || !one, "{first} is not empty: {process:?}");
        }
    }

    #[test]
    fn what_is_covered_is_matched_by_what_covers_it(
        selectors in proptest::collection::vec(selector(), 2..8),
        processes in proptest::collection::vec(process(), 32),
    ) {
        let logic = Logic::default();
        let cases: Vec<Vec<Case<'_>>> =
            selectors.iter().map(|selector| cases(Part::bare(selector)).unwrap_or_default()).collect();
        let items: Vec<&[Case<'_>]> = cases.iter().map(Vec::as_slice).collect();
        for (at, covers) in crate::lints::cover::covered_by_earlier(&logic, &items).into_iter().enumerate() {
            let Some(covers) = covers else { continue };
            prop_assert!(covers.iter().all(|cover| *cover < at));
            for process in processes.iter().filter(|process| selectors[at].matches(*process)) {
                prop_assert!(covers.iter().any(|cover| selectors[*cover].matches(process)), "{:?}", process);
            }
        }
    }

    #[test]
    fn a_word_and_a_glob_of_one_word_come_out_alike(text in select(GLOBS), other in select(GLOBS)) {
        // A word is decided by matching, a glob by automata; a glob that covers one word must come out the same.
        let logic = Logic::default();
        for word in WORDS.iter().filter(|word| !word.contains('\\')) {
            let bracketed: String = word.chars().map(|c| format!("[{c}]")).collect();
            let covered = |first: &str| logic.implies(&on(Field::Arg, first), &on(Field::Arg, text));
            prop_assert_eq!(covered(word), covered(&bracketed), "{} in {}", word, text);
        }
        prop_assert!(logic.implies(&on(Field::Arg, text), &Selector::Any(vec![on(Field::Arg, other), on(Field::Arg, text)])));
    }
}
