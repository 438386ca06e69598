//! A large set of rules of one predicate each, as communities collect them, with every defect that was found in one.

use std::fmt::Write;

use super::*;
use crate::policy;
use crate::resolve;

/// Rules without defect.
const RULES: usize = 15_800;

/// How the parser calls what stands behind a clause is its own affair.
const JUNK: &str = "junk";

/// A text, and the `line code` of each finding that it must lead to.
struct Planted {
    text: String,
    line: usize,
    expected: Vec<String>,
}

impl Planted {
    /// Adds a rule. Each stands on a line of its own.
    fn rule(&mut self, rule: &str, code: Option<&str>) {
        writeln!(self.text, "{rule}").unwrap();
        self.line += 1;
        self.expected.extend(code.map(|code| format!("{} {code}", self.line)));
    }
}

/// `rules` rules, about a fiftieth of them with a defect.
fn planted(rules: usize) -> Planted {
    let mut it = Planted { text: String::new(), line: 0, expected: Vec::new() };
    for at in 0..rules {
        let field = ["exe", "comm", "exe", "unit"][at % 4];
        let end = if field == "unit" { ".service" } else { "" };
        it.rule(&format!("class r{at}: match {field} prog-{at}{end}, nice {};", at % 19), None);
        match at % 400 {
            50 => it.rule(&format!("class again{at}: match exe prog-{};", at - 2), Some("shadowed")),
            100 => it.rule(&format!("class narrow{at}: match exe /usr/bin/prog-{at};"), Some("shadowed")),
            150 => it.rule(&format!("class glob{at}: match exe prog-{at}-*;"), None),
            160 => it.rule(&format!("class globbed{at}: match exe prog-{}-?b;", at - 10), Some("shadowed")),
            _ => {}
        }
        if at % 90 == 44 {
            it.rule(&format!("class t{at}: match exe Prog-{at};"), Some("case-twins"));
        }
        match at {
            5_000 => it.rule("class a: match no-such-set;", Some("undefined-processes")),
            6_000 => it.rule("class b: match comm \"blank \";", Some("blank-at-end")),
            7_000 => it.rule("class c: match comm junk, nice 1 junk;", Some(JUNK)),
            8_000..8_100 => it.rule(&format!("class l{at}: match comm a-name-too-long-{at};"), Some("comm-too-long")),
            _ => {}
        }
    }
    it
}

#[test]
fn every_defect_of_a_large_rule_set_is_found_on_its_line() {
    let planted = planted(RULES);
    let sources = SourceSet::one("rules.policy", planted.text);
    let (plan, diagnostics) = compile(sources.clone(), &machine(4));
    assert!(plan.is_none());
    let line = |it: &cotenant_grammar::Diagnostic| {
        let place = sources.place(it.primary.span);
        let code = if sources.text(it.primary.span).contains("junk") { JUNK } else { it.code.0 };
        format!("{} {code}", place.split(':').nth(1).unwrap())
    };
    let found: Vec<String> = diagnostics.iter().map(line).collect();
    let expected = planted.expected;
    let missing: Vec<&String> = expected.iter().filter(|it| !found.contains(it)).collect();
    let surplus: Vec<&String> = found.iter().filter(|it| !expected.contains(it)).collect();
    assert_eq!((missing, surplus, found.len()), (vec![], vec![], expected.len()));
    let twins = expected.iter().filter(|it| it.ends_with("case-twins")).count();
    assert!(twins >= 175, "{twins}");
}

/// Claims looked at, and steps of automata.
fn work(text: &str) -> usize {
    let mut ignored = Diagnostics::default();
    let (parsed, _) = cotenant_grammar::parse(SourceSet::one("p", text));
    let policy = policy::check(resolve::resolve(parsed, &mut ignored), &mut ignored);
    let logic = Logic::default();
    selectors(&policy, &logic, &mut |_| {});
    logic.spent()
}

#[test]
fn work_grows_with_the_rules_and_not_with_their_square() {
    type Rules<'a> = &'a dyn Fn(usize) -> String;
    fn many(rules: usize, rule: Rules<'_>) -> String {
        (0..rules).map(rule).collect()
    }
    let sets: [Rules<'_>; 8] = [
        &|rules| planted(rules).text,
        &|rules| many(rules, &|at| format!("class c{at}: match exe java and arg app-{at};")),
        &|rules| many(rules, &|at| format!("class c{at}: match exe java and not arg app-{at};")),
        &|rules| many(rules, &|at| format!("class c{at}: match exe *a{at}*;")),
        &|rules| many(rules, &|at| format!("class c{at}: match exe *-{at} or comm x{at}*;")),
        &|rules| many(rules, &|at| format!("class c{at}: match unit x{at}.service and user u;")),
        &|rules| format!("class a: match {}exe y;", many(rules, &|at| format!("exe x{at} or "))),
        &|rules| {
            let excluded = many(100, &|at| format!("exe x{at} or "));
            let classes = many(rules, &|at| format!("class c{at}: match user u{at} and not big;"));
            format!("processes big: {excluded}exe y;{classes}")
        },
    ];
    for rules in sets {
        let (less, more) = (work(&rules(400)), work(&rules(1_600)));
        assert!(more <= 8 * less, "{less} became {more}: {}", rules(2));
    }
}
