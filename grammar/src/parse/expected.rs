//! What a grammar rule is called when it was expected and did not come.

use super::Rule;
use super::cpus::CPU_WORDS;
use super::processes::FIELD_WORDS;

/// Words that begin a statement.
pub(super) const STATEMENT_WORDS: &[&str] = &["rt", "fair", "batch", "class", "unmanaged", "zone", "processes"];

/// Words that begin a clause.
pub(super) const CLAUSE_WORDS: &[&str] = &[
    "match", "on", "prefer", "spill", "never", "push", "hold", "only", "at", "priority", "fifo", "round", "nice",
    "with",
];

/// A rule as prose, and the words it would have accepted.
pub(super) struct Expected {
    pub(super) phrase: &'static str,
    pub(super) words: &'static [&'static str],
}

/// Nothing for rules that say nothing to a user, such as the end of a piece.
pub(super) fn expected(rule: Rule) -> Option<Expected> {
    let some = |phrase, words| Some(Expected { phrase, words });
    match rule {
        Rule::NAME => some("a name", &[]),
        Rule::NUMBER => some("a number", &[]),
        Rule::INTEGER => some("a whole number", &[]),
        Rule::STRING | Rule::BARE | Rule::pattern => some("a pattern", &[]),
        Rule::COLON => some("`:`", &[]),
        Rule::COMMA => some("`,`", &[]),
        Rule::LPAREN => some("`(`", &[]),
        Rule::RPAREN => some("`)`", &[]),
        Rule::KIND | Rule::class_header => some("a class", &["rt", "fair", "batch", "unmanaged", "class"]),
        Rule::HOLD_OR_PUSH | Rule::equal_prio => some("`push` or `hold`", &["push", "hold"]),
        Rule::CPU_OPERATOR => some("`and`, `within` or `except`", &["and", "within", "except"]),
        Rule::CORES => some("`cores`", &["cores"]),
        Rule::cpu_set | Rule::cpu_term => some("a set of CPUs such as `cores 0-3`", CPU_WORDS),
        Rule::process_set | Rule::all_of | Rule::process_term | Rule::predicate | Rule::FIELD => {
            some("a predicate such as `exe nginx`", FIELD_WORDS)
        }
        Rule::KW_ALL => some("`all`", &["all"]),
        Rule::KW_AND => some("`and`", &["and"]),
        Rule::KW_AT => some("`at`", &["at"]),
        Rule::KW_BELOW => some("`below`", &["below"]),
        Rule::KW_CLASS => some("`class`", &["class"]),
        Rule::KW_CORE => some("`core`", &["core"]),
        Rule::KW_DESCENDANTS => some("`descendants`", &["descendants"]),
        Rule::KW_EQUAL => some("`equal`", &["equal"]),
        Rule::KW_FIFO => some("`fifo`", &["fifo"]),
        Rule::KW_IDLE => some("`idle`", &["idle"]),
        Rule::KW_LEAST => some("`least`", &["least"]),
        Rule::KW_MATCH => some("`match`", &["match"]),
        Rule::KW_NEVER => some("`never`", &["never"]),
        Rule::KW_NICE => some("`nice`", &["nice"]),
        Rule::KW_NOT => some("`not`", &["not"]),
        Rule::KW_OF => some("`of`", &["of"]),
        Rule::KW_ON => some("`on`", &["on"]),
        Rule::KW_ONLY => some("`only`", &["only"]),
        Rule::KW_OR => some("`or`", &["or"]),
        Rule::KW_PREFER => some("`prefer`", &["prefer"]),
        Rule::KW_PRIO => some("`prio`", &["prio"]),
        Rule::KW_PRIORITY => some("`priority`", &["priority"]),
        Rule::KW_PROCESSES | Rule::processes_header => some("`processes`", &["processes"]),
        Rule::KW_ROBIN => some("`robin`", &["robin"]),
        Rule::KW_ROUND => some("`round`", &["round"]),
        Rule::KW_SIBLINGS => some("`siblings`", &["siblings"]),
        Rule::KW_SPILL => some("`spill`", &["spill"]),
        Rule::KW_TO => some("`to`", &["to"]),
        Rule::KW_WHEN => some("`when`", &["when"]),
        Rule::KW_WITH | Rule::with_descendants => some("`with`", &["with"]),
        Rule::KW_ZONE | Rule::zone_header => some("`zone`", &["zone"]),
        _ => None,
    }
}
