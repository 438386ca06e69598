//! One mistake, one finding, wherever it is made; many mistakes, as many findings.

use super::findings;

/// Policies of several statements, with every kind of body.
const POLICIES: &[&str] = &["zone front: node 0 except (core 0 and core 1);\n\
     processes web: exe nginx or (unit \"haproxy@*.service\" and user www);\n\
     rt class web:\n    match web and not parent (exe sh),\n    on front,\n    priority 20,\n    share core with itself, class b;\n\
     class b: at most 30% of cores, prefer last cpu;\n\
     require: linux 5.14, host \"a b\";\n\
     kernel: feature X on, rt runtime 90%;\n\
     batch: only when core idle;\n"];

fn codes(text: &str) -> Vec<String> {
    findings(text).into_iter().map(|finding| finding.split(" |").next().unwrap().to_owned()).collect()
}

fn places(text: &str, of: char) -> Vec<usize> {
    text.char_indices().filter(|(_, c)| *c == of).map(|(at, _)| at).collect()
}

fn without(text: &str, at: usize) -> String {
    format!("{}{}", &text[..at], &text[at + 1..])
}

#[test]
fn a_policy_of_every_kind_of_statement_is_sound() {
    for policy in POLICIES {
        assert_eq!(findings(policy), Vec::<String>::new());
    }
}

#[test]
fn each_forgotten_semicolon_gives_one_finding_before_the_next_statement() {
    for policy in POLICIES {
        let semicolons = places(policy, ';');
        for at in &semicolons[..semicolons.len() - 1] {
            let text = without(policy, *at);
            let before = policy[..*at].rsplit([' ', '\n', ',', '(']).next().unwrap();
            let found = findings(&text);
            assert_eq!(found.len(), 1, "{text}\n{found:#?}");
            let last_token =
                if before.ends_with(')') { ")" } else { before.rsplit('"').nth(1).map_or(before, |_| before) };
            let expected = format!("missing-semicolon | {last_token} | ");
            let is_string = before.ends_with('"');
            assert!(found[0].starts_with(&expected) || is_string, "{found:?} is not {expected}");
        }
    }
}

#[test]
fn each_forgotten_parenthesis_gives_one_finding() {
    for policy in POLICIES {
        for at in places(policy, ')') {
            let found = findings(&without(policy, at));
            assert_eq!(found.len(), 1, "{found:#?}");
            assert!(found[0].starts_with("unclosed-parenthesis | ( | "), "{found:?}");
        }
        for at in places(policy, '(') {
            let found = codes(&without(policy, at));
            assert_eq!(found.len(), 1, "{} {found:#?}", without(policy, at));
        }
    }
}

#[test]
fn each_forgotten_quote_gives_one_finding() {
    for policy in POLICIES {
        for at in places(policy, '"') {
            let text = without(policy, at);
            let found = findings(&text);
            assert_eq!(found.len(), 1, "{text}\n{found:#?}");
            assert!(found[0].starts_with("unclosed-string | \""), "{found:?}");
        }
    }
}

#[test]
fn a_comment_that_eats_the_end_of_any_line_gives_one_finding_at_most() {
    for policy in POLICIES {
        for at in policy.char_indices().map(|(at, _)| at) {
            let end = policy[at..].find('\n').map_or(policy.len(), |end| at + end);
            let before = policy[..at].rsplit('\n').next().unwrap();
            // What hides in a string is no comment; a header that loses its end takes the next for its own.
            let in_header = !before.contains(':') && policy[at..end].contains(':');
            if before.matches('"').count() % 2 == 1 || in_header {
                continue;
            }
            let text = format!("{}#{}", &policy[..at], &policy[at..]);
            let found = findings(&text);
            let eaten = &policy[at..end];
            // Eating the end of a word, or an opening and its closing at once, may leave two things that are wrong.
            let whole_words = policy[..at].ends_with([' ', '\n']) || eaten.starts_with([';', ',', ' ', ')']);
            assert!(!whole_words || found.len() <= 1, "{text}\n{found:#?}");
        }
    }
}

#[test]
fn twenty_mistakes_give_twenty_findings() {
    let text = "\
zone a = all;
zone b: nod 0;
zone c: cpus 7-3;
zone d: (core 0 and core 1;
zone e:
;
processes f: exee nginx;
processes g: exe a exe b;
processes h exe nginx;
rt clas i: fifo;
class j: prefre idle core, nice 5 wait at most 3s, slice 10, only when cor idle;
class k: match exe \"open,
    nice 3;
class l: share core with itslef, cpus 0-3, 8;
require: lniux 5.14, linux 5, , smt;
kernel: feature X onn;
include ;
zome m: all;
class n: at most 30 % of cores,
    match comm \"a\\q\"
class o: clamp 50%-10%, nice 99999999999999999999;
;
";
    let expected = [
        "equals-for-colon",
        "unknown-cpu-set",
        "reversed-range",
        "unclosed-parenthesis",
        "empty-body",
        "unknown-predicate",
        "syntax",
        "missing-colon",
        "unknown-word",
        "unknown-clause",
        "missing-comma",
        "syntax",
        "unknown-word",
        "unclosed-string",
        "unknown-word",
        "unknown-clause",
        "comma-in-cpu-set",
        "unknown-condition",
        "syntax",
        "empty-clause",
        "unknown-word",
        "syntax",
        "unknown-statement",
        "syntax",
        "bad-escape",
        "missing-semicolon",
        "reversed-range",
        "number-too-large",
        "empty-statement",
    ];
    assert_eq!(codes(text), expected, "{:#?}", findings(text));
}
