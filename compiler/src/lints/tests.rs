use cotenant_grammar::{Diagnostics, SourceSet};

use super::*;
use crate::topology::{CoreKind, CpuPlace, Topology};
use crate::{CpuId, compile};

mod ruleset;

/// `cores` cores of two threads.
fn machine(cores: u32) -> Topology {
    let place = |cpu: u32| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: cpu / 2,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&(0..cores * 2).map(place).collect::<Vec<_>>())
}

/// `code | text under the primary label | texts under the others`, notes on matching by name aside.
fn said(sources: &SourceSet, diagnostics: &Diagnostics) -> Vec<String> {
    let line = |it: &cotenant_grammar::Diagnostic| {
        let others: Vec<_> = it.secondary.iter().map(|label| sources.text(label.span)).collect();
        format!("{} | {} | {}", it.code.0, sources.text(it.primary.span), others.join(" + "))
    };
    let aside = ["matched-by-name", "not-carried-out"];
    diagnostics.iter().filter(|it| !aside.contains(&it.code.0)).map(line).collect()
}

fn found(text: &str) -> Vec<String> {
    let sources = SourceSet::one("p.policy", text);
    said(&sources, &compile(sources.clone(), &machine(4)).1)
}

#[test]
fn each_lint_points_at_its_words() {
    let cases = [
        ("class a: match exe x; class b: match exe /bin/x;", "shadowed | exe /bin/x | exe x"),
        ("class x: nice 1; class b: match comm x and user u;", "shadowed | comm x and user u | x"),
        ("processes s: exe x; class a: match s; class b: match s;", "shadowed | s | s"),
        ("class a: match comm a and comm b;", "never-matches | comm b | comm a"),
        (
            "class a: match comm a* and comm *b and not comm a*b;",
            "never-matches | comm a* and comm *b and not comm a*b | ",
        ),
        ("class a: match exe a or user u and exe a;", "redundant-match | user u and exe a | exe a"),
        ("class a: match exe ab or exe a*;", "redundant-match | exe ab | exe a*"),
        ("class a: match comm ab and not comm b;", "redundant-match | not comm b | comm ab"),
        ("rt class a: on core 0, match exe a;", "rt-by-name | exe a | "),
        ("rt class a: on core 0, match exe /usr/lib/x/a or comm b;", "rt-by-name | comm b | "),
        ("rt class a: on core 0, match not user u;", "rt-by-name | not user u | "),
        ("rt class a: on core 0, match arg x and not exe y;", "arg-alone | arg x | "),
        ("rt class a: on core 0, match exe /usr/bin/perl;", "rt-interpreter | exe /usr/bin/perl | "),
        ("rt class a: on core 0, match user 0;", "rt-for-root | user 0 | "),
        ("rt class a: match user u;", "rt-covers-all | rt class a | "),
        ("class a: match exe /usr/bin/make and user u;", "launcher-without-descendants | exe /usr/bin/make | "),
        ("class make: nice 1;", "launcher-without-descendants | make | "),
        ("zone a: core 0; zone A: core 1; class x: on a and A;", "case-twins | A | a"),
        ("class a: match unit a.service and unit b.service;", "and-for-or | unit b.service | unit a.service"),
        (
            "class a: match thread x*; class b: match thread xy and user u;",
            "shadowed | thread xy and user u | thread x*",
        ),
        ("class a: match script a.py and script b.py;", "never-matches | script b.py | script a.py"),
        ("class a: match ancestor (unit x);", "unit-suffix | x | "),
        ("rt class a: on core 0, match script a.py;", "rt-by-name | script a.py | "),
        (
            "rt class a: on core 0, match exe /usr/bin/python3 and script b.py;",
            "rt-interpreter | exe /usr/bin/python3 | ",
        ),
        ("class a: match slice x.service;", "unit-suffix | x.service | "),
        ("class a: match comm .*nginx;", "regex-like | .*nginx | "),
        ("class a: match exe ./x;", "relative-path | ./x | "),
    ];
    for (text, finding) in cases {
        assert_eq!(found(text), [finding], "{text}");
    }
}

#[test]
fn what_may_be_meant_is_let_be() {
    let fine = [
        "class a: match exe /bin/x; class b: match exe x;",
        "class a: match exe x and user u; class b: match exe x;",
        "class a: match exe x or user u; class b: match comm x;",
        "class a: match unit a.service; class b: match slice b.slice;",
        "class a: match user root; class b: match user 0;",
        "class a: match not exe x; class b: match exe x;",
        "class a: match arg -v; class b: match arg -V;",
        "class a: match comm Xorg or comm xorg;",
        "class a: match arg x and arg y;",
        "class a: match exe python3.*; class b: match exe g++;",
        "class a: match exe **/bin/x or exe *y or exe /[ab]/z;",
        "class a: match unit nginx.* or unit nginx@*.service or unit x.scope or unit z*;",
        "class a: match cgroup /system.slice/** or cgroup **/x;",
        "class a: match exe make with descendants; class b: match exe sh, with descendants;",
        "class a: match exe remake or exe makefile;",
        "rt class a: on core 0, match unit a.service or slice b.slice or user u or group g;",
        "rt class a: on core 0, match exe /usr/bin/a or exe /opt/**/b or user u and comm x;",
        "rt class a: on core 0, match exe /usr/bin/python3 and script /usr/bin/b;",
        "class a: match script /x/b.py; class b: match script b.py;",
        "class a: match parent (exe x); class b: match exe x;",
        "rt class a: on core 0, match arg x and exe /usr/bin/a;",
        "rt class a: on core 0, match user root and exe x;",
        "rt class a: match user u, never spill;",
        "rt class a: match user u, prefer idle core; class b: match user v, at least 1 core;",
        "rt class a: on core 0, match user u, priority 50;",
        "class a: on core 0, match user u, at least 1 core; class b: on core 1, match user v, at least 1 core;",
        "class a: match exe nice or unit a.service and not exe sudo, with descendants;",
        "class a: match not exe sudo;",
    ];
    for text in fine {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn what_follows_from_another_mistake_is_not_found() {
    for text in [
        "rt class a: macth user u;",
        "rt class a: match user u, onn core 0;",
        "class a: match nobody; class b: match exe x and nobody;",
        "class a: macth exe b; class b: match exe a;",
        "unmanaged: with descendants; class b: match comm unmanaged;",
    ] {
        let found = found(text);
        assert!(found.iter().all(|it| it.starts_with("un")), "{text}: {found:?}");
    }
    assert_eq!(found("class a: nice 1; class a: nice 2;"), ["defined-twice | a | a"]);
}

#[test]
fn a_host_says_what_only_it_knows() {
    let text = "processes s: user nobody-here; class a: match s and group 5 or group staff, nice 3;";
    let sources = SourceSet::one("p.policy", text);
    let known = |account: &crate::selector::Account| match account {
        crate::selector::Account::Name(name) => (name != "staff").then(|| name != "nobody-here"),
        crate::selector::Account::Id(_) => Some(false),
    };
    let facts = |autogroup| HostFacts { autogroup, user: &known, group: &known };
    let calm = on_host(sources.clone(), &facts(false));
    assert_eq!(said(&sources, &calm), ["unknown-account | nobody-here | "]);
    let grouped = on_host(sources.clone(), &facts(true));
    assert_eq!(said(&sources, &grouped), ["nice-under-autogroup | nice 3 | ", "unknown-account | nobody-here | "]);
}
