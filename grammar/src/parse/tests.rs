use super::*;
use crate::tree::*;

mod misspelling;
mod recovery;
mod trees;

/// `code | text under the primary label | help` for each finding.
fn findings(text: &str) -> Vec<String> {
    let (parsed, diagnostics) = parse(SourceSet::one("t.policy", text));
    let line = |it: &Diagnostic| {
        let under = parsed.sources.text(it.primary.span);
        format!("{} | {under} | {}", it.code.0, it.help.as_deref().unwrap_or("-"))
    };
    diagnostics.iter().map(line).collect()
}

fn clauses(text: &str) -> Vec<Clause> {
    let (parsed, diagnostics) = parse(SourceSet::one("t.policy", text));
    assert_eq!(diagnostics, Diagnostics::default(), "{text}");
    match parsed.statements.into_iter().next() {
        Some(Statement::Class(class)) => class.clauses.into_iter().map(|clause| clause.value).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_smallest_policy_reads_as_written() {
    let text = "rt class web: prefer idle core, push equal prio; batch: only when core idle";
    let (parsed, diagnostics) = parse(SourceSet::one("p.policy", text));
    assert_eq!(diagnostics, Diagnostics::default());
    let [Statement::Class(web), Statement::Class(batch)] = &parsed.statements[..] else { panic!("{parsed:?}") };
    assert_eq!((web.kind.value, web.name.value.as_str(), web.named), (ClassKind::Rt, "web", true));
    assert_eq!((batch.kind.value, batch.name.value.as_str(), batch.named), (ClassKind::Batch, "batch", false));
    let of = |class: &Class| class.clauses.iter().map(|clause| clause.value.clone()).collect::<Vec<_>>();
    assert_eq!(of(web), [Clause::PreferIdleCore, Clause::EqualPrio(EqualPrio::Push)]);
    assert!(matches!(of(batch)[..], [Clause::OnlyWhenIdle(At { value: IdleUnit::Core, .. })]));
    assert_eq!(parsed.sources.text(web.clauses[1].span), "push equal prio");
}

#[test]
fn keywords_are_words_in_context() {
    let text = "zone core: core 1; class on: on core except cpu 3, match exe with with descendants;";
    let (_, diagnostics) = parse(SourceSet::one("p", text));
    assert_eq!(diagnostics, Diagnostics::default());
}

#[test]
fn spans_end_with_their_last_word() {
    let text = "rt class a: spill to siblings # why\n  , match exe b   # because\n;";
    let (parsed, _) = parse(SourceSet::one("p", text));
    let Statement::Class(class) = &parsed.statements[0] else { panic!() };
    let texts: Vec<_> = class.clauses.iter().map(|clause| parsed.sources.text(clause.span)).collect();
    assert_eq!(texts, ["spill to siblings", "match exe b"]);
}

#[test]
fn and_binds_tighter_than_or() {
    let one = |text: &str| clauses(&format!("class a: match {text};"));
    assert_eq!(one("exe a or exe b and not exe c"), one("exe a or (exe b and (not exe c))"));
    assert_ne!(one("exe a or exe b and exe c"), one("(exe a or exe b) and exe c"));
    assert_eq!(one("not not exe a"), one("exe a"));
    assert_eq!(one("exe make with descendants").len(), 2);
}

#[test]
fn strings_are_unescaped() {
    let field = |text: &str| match &clauses(&format!("class a: match comm {text};"))[0] {
        Clause::Match(ProcessExpr::Predicate(_, pattern)) => pattern.value.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(field(r#""a \"b\" \\ \t\u{e9}; # x""#), "a \"b\" \\ \té; # x");
    assert_eq!(field("nginx*"), "nginx*");
}

#[test]
fn byte_order_mark_crlf_and_comments_mean_nothing() {
    let plain = clauses("class a: nice 5, on cpus 0-3;");
    assert_eq!(clauses("\u{feff}class a:\r\n  nice 5, # five; not six\r\n  on cpus 0 - 3\r\n"), plain);
}

#[test]
fn each_slip_gives_one_finding_at_its_place() {
    let cases = [
        ("rt class web: prefer idel core;", "unknown-word | idel | write `idle`"),
        ("rt class web: prefre idle core;", "unknown-clause | prefre | write `prefer`"),
        ("rt clas web: fifo;", "unknown-word | clas | write `class`"),
        ("rtt class web: fifo;", "unknown-statement | rtt | write `rt`"),
        ("rt class web fifo;", "missing-colon | rt class web | write `header: clause, …;`"),
        ("zone z = all;", "equals-for-colon | = | write `:` here"),
        ("class a: nice 5 fifo;", "missing-comma | 5 | put a `,` between the clauses"),
        ("class a: nice 5 fiof;", "missing-comma | 5 | put a `,` between the clauses, and write `fifo`"),
        (
            "class a: prefer idle core puhs equal prio;",
            "missing-comma | core | put a `,` between the clauses, and write `push`",
        ),
        ("class a: match exe x nise 3;", "missing-comma | x | put a `,` between the clauses, and write `nice`"),
        ("class a: match exe x adn exe y;", "unknown-word | adn | write `and`"),
        ("class a: nice 5 yesterday;", "syntax | yesterday | -"),
        ("class a: nice 5\nclass b: nice 6;", "missing-semicolon | 5 | end the statement with `;`"),
        ("class a: nice 5, # oops;\nclass b: nice 6;", "missing-semicolon | , | end the statement with `;`"),
        ("class a: match (exe a or exe b, nice 5;", "unclosed-parenthesis | ( | add the `)`"),
        ("class a: match exe a), nice 5;", "unclosed-parenthesis | ) | remove the `)`, or add the `(`"),
        ("class a: match exee nginx and user www;", "unknown-predicate | exee | write `exe`"),
        ("class a: on nod 0;", "unknown-cpu-set | nod | write `node`"),
        ("class a: on cpus 0-3, 8;", "comma-in-cpu-set | 8 | write `cpus 0-3 and cpu 8`"),
        ("class a: on cpus 5-3;", "reversed-range | 5-3 | write `3-5`"),
        ("class a: nice 5,, fifo;", "empty-clause | , | remove the `,`"),
        ("class a: ;", "empty-body | class a | write at least one clause, or remove the statement"),
        ("class a: nice 5;;", "empty-statement | ; | remove the `;`"),
        ("class a: nice 99999999999999999999;", "number-too-large | 99999999999999999999 | -"),
        ("class a: prefer;", "syntax | prefer | -"),
    ];
    for (text, finding) in cases {
        assert_eq!(findings(text), [finding], "{text}");
    }
}

#[test]
fn an_unclosed_string_costs_its_line_only() {
    let text = "class a: match exe \"x, nice 5;\nclass b: nise 6;";
    let found = findings(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("unclosed-string | \"x, nice 5; |"), "{found:?}");
    assert!(found[1].starts_with("unknown-clause | nise | write `nice`"), "{found:?}");
}

#[test]
fn six_mistakes_give_six_findings_after_multibyte_text() {
    let text = "zone größe = all;\nrt class é: prefre idle core, match exee \"ü\";\n\
        class b: nice x, on cpus 3-1\nbatch: only when core idel;";
    let found = findings(text);
    let codes: Vec<_> = found.iter().map(|it| it.split(" |").next().unwrap()).collect();
    let expected =
        ["equals-for-colon", "unknown-clause", "unknown-predicate", "syntax", "reversed-range", "missing-semicolon"];
    assert_eq!(codes[..6], expected, "{found:#?}");
    assert!(found[6].starts_with("unknown-word | idel"), "{found:#?}");
}

#[test]
fn depth_and_length_cost_no_stack() {
    let deep = format!("class a: match {}exe a{};", "(".repeat(65), ")".repeat(65));
    assert!(findings(&deep)[0].starts_with("too-deep | ("));
    let long = format!("zone z: {}cpu 0;", "siblings of ".repeat(50_000));
    assert!(findings(&long).is_empty());
    let long = format!("zone z: cpu 0{};", " and cpu 1".repeat(50_000));
    assert!(findings(&long).is_empty());
    let long = format!("class a: match {}exe a;", "not ".repeat(50_000));
    assert!(findings(&long).is_empty());
}

#[test]
fn a_file_too_large_is_named_wherever_it_stands() {
    let mut sources = SourceSet::one("small", "class a: nice 1;");
    let large = sources.add("large", " ".repeat((32 << 20) + 1));
    let (_, diagnostics) = parse(sources);
    let found: Vec<_> = diagnostics.iter().map(|it| (it.code.0, it.primary.span.source)).collect();
    assert_eq!(found, [("file-too-large", large)]);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,200}") {
        findings(&text);
    }

    #[test]
    fn no_soup_of_words_panics_or_passes_for_a_policy_in_silence(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "rt", "class", "web", ":", ",", ";", "match", "exe", "(", ")", "\"", "x", "on", "cpus", "0", "-", "3", "and",
                "or", "not", "prefer", "idle", "core", "#", "\n", "=", "é", "zone", "processes", "with", "\\",
            ]),
            0..40,
        )
    ) {
        let text = words.join(" ");
        let (parsed, diagnostics) = parse(SourceSet::one("t", text.as_str()));
        for finding in &diagnostics {
            let span = finding.primary.span;
            proptest::prop_assert!(text.get(span.start as usize..span.end as usize).is_some(), "{:?}", finding);
        }
        let says_something = words.iter().find(|word| **word != "\n").is_some_and(|word| *word != "#");
        let answered = !parsed.statements.is_empty() || diagnostics.iter().len() > 0;
        proptest::prop_assert!(!says_something || answered);
    }
}
