//! Texts to lay out.

use crate::tokens::scan;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;

const LONG_WORD: &str = "a_word_of_which_two_do_not_fit_on_one_line_together";

/// Tokens in any order, with any blanks between them or none.
pub(super) fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        8 => select(vec!["rt", "class", "share", "itself", "or", "and", "0", "3", "-", "0 - 3", "5-7", "10% - 12.5%", "é*", "\"é, \\\"#\""]),
        1 => select(vec!["\u{a0}", "\u{feff}", "\u{b}"]),
        1 => Just(LONG_WORD),
        8 => select(vec![",", ";", ":", "(", ")"]),
    ];
    let comment = select(vec!["#\n", "# a, b;\r\n", "# é:\n", "#\r#\n"]);
    let blank = select(vec!["", " ", "\t", "\n", "\n\n", "\r\n\r\n\r\n", "\r"]);
    let piece = prop_oneof![6 => token, 2 => comment];
    vec((piece, blank), 0..60).prop_map(|pieces| pieces.into_iter().flat_map(|(piece, blank)| [piece, blank]).collect())
}

/// The tokens of a policy, each one word or mark.
pub(super) fn policy() -> impl Strategy<Value = Vec<String>> {
    let name = "[a-z_]{1,9}|a{60}";
    let cpus = prop_oneof![
        "node 0|core [0-9]|cpus 0 - 3|cores 4-7|all",
        "cpus 0 - 3 except \\( core 1 and core 2 \\)",
        "all( and (node|llc) [0-9]{1,2}){0,12}",
    ];
    let predicate = format!("(not )?(exe|comm|unit) ({name}|\"[ ,;#a-z]{{0,9}}\")");
    let processes =
        string_regex(&format!("{predicate}( (or|and) {predicate}){{0,4}}|parent \\( {predicate} or {predicate} \\)"))
            .unwrap()
            .boxed();
    let clause = prop_oneof![
        select(vec!["prefer idle core", "only when core idle", "at most 30% of cores", "round robin", "insist"])
            .prop_map(str::to_owned),
        "share core with class a , class b|share core with itself",
        cpus.clone().prop_map(|cpus| format!("on {cpus}")),
        processes.clone().prop_map(|processes| format!("match {processes}")),
    ];
    let class = ("(rt |batch )?class [a-z]{1,9}", vec(clause, 1..6), "( ,)?")
        .prop_map(|(header, clauses, comma)| format!("{header} : {}{comma} ;", clauses.join(" , ")));
    let statement = prop_oneof![
        4 => class,
        1 => (name, cpus).prop_map(|(name, cpus)| format!("zone {name} : {cpus} ;")),
        1 => (name, processes).prop_map(|(name, processes)| format!("processes {name} : {processes} ;")),
        1 => "include \"conf\\.d/[a-z]\\*\" ;",
        1 => "require : linux 5\\.14( , smt)? ;",
    ];
    (vec(statement, 0..6), any::<bool>()).prop_map(|(statements, is_ended)| {
        let text = statements.join(" ");
        let text = if is_ended { text.as_str() } else { text.trim_end_matches(" ;") };
        scan(text).map(|lexeme| lexeme.text.to_owned()).collect()
    })
}

/// A policy with blanks and comments at any place.
pub(super) fn commented_policy() -> impl Strategy<Value = String> {
    policy().prop_flat_map(|tokens| {
        let gap = prop_oneof![
            6 => "[ ]{1,2}|\n{1,3} |\r\n",
            1 => " # [a-z ,;:\"é]{0,9}\n{1,3}",
            1 => "\n{1,2}(# [a-z]{0,5}\r?\n{1,2}){1,3}",
        ];
        (Just(tokens.clone()), vec(gap, tokens.len()), "(\u{feff})?\n?(# [a-z]\n){0,2}").prop_map(
            |(tokens, gaps, start)| start + &tokens.into_iter().zip(gaps).map(|(a, b)| a + &b).collect::<String>(),
        )
    })
}
