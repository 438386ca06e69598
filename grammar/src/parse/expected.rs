//! What a grammar rule is called when it was expected and did not come.

use super::Rule;
use super::cpus::CPU_WORDS;
use super::processes::PREDICATE_WORDS;

/// Words that begin a statement.
pub(super) const STATEMENT_WORDS: &[&str] =
    &["rt", "deadline", "fair", "batch", "class", "unmanaged", "zone", "processes", "include", "require", "kernel"];

/// Words that begin a clause.
pub(super) const CLAUSE_WORDS: &[&str] = &[
    "match", "on", "prefer", "spill", "never", "share", "only", "wait", "at", "push", "hold", "priority", "fifo",
    "round", "runtime", "deadline", "nice", "slice", "weight", "quota", "clamp", "memory", "llc", "with", "insist",
    "yield", "place",
];

/// Words that begin a condition.
pub(super) const CONDITION_WORDS: &[&str] = &["linux", "smt", "core", "cgroup", "at", "host"];

/// Words that begin a setting of the kernel.
pub(super) const KNOB_WORDS: &[&str] = &["feature", "rt", "autogroup"];

/// A rule as prose, and the words it would have accepted.
pub(super) struct Expected {
    pub(super) phrase: &'static str,
    pub(super) words: &'static [&'static str],
}

/// Expected words, one rule each.
macro_rules! keywords {
    ($rule:expr, $($name:ident $word:literal),* $(,)?) => {
        match $rule {
            $(Rule::$name => Some(Expected { phrase: concat!("`", $word, "`"), words: &[$word] }),)*
            _ => None,
        }
    };
}

/// Nothing for rules that say nothing to a user, such as the end of a piece.
pub(super) fn expected(rule: Rule) -> Option<Expected> {
    let some = |phrase, words| Some(Expected { phrase, words });
    match rule {
        Rule::NAME => some("a name", &[]),
        Rule::NUMBER => some("a number", &[]),
        Rule::INTEGER => some("a whole number", &[]),
        Rule::DECIMAL => some("a number such as `2.5`", &[]),
        Rule::PERCENT => some("a percentage such as `30%`", &[]),
        Rule::DURATION => some("a length of time such as `10ms`", &[]),
        Rule::VERSION => some("a version such as `5.14`", &[]),
        Rule::STRING | Rule::BARE | Rule::pattern => some("a pattern", &[]),
        Rule::COLON => some("`:`", &[]),
        Rule::COMMA => some("`,`", &[]),
        Rule::DASH => some("`-`", &[]),
        Rule::LPAREN => some("`(`", &[]),
        Rule::RPAREN => some("`)`", &[]),
        Rule::KIND | Rule::class_header => some("a class", &["rt", "deadline", "fair", "batch", "unmanaged", "class"]),
        Rule::HOLD_OR_PUSH | Rule::equal_prio => some("`push` or `hold`", &["push", "hold"]),
        Rule::INSIST_OR_YIELD | Rule::on_change => some("`insist` or `yield`", &["insist", "yield"]),
        Rule::ON_OR_OFF => some("`on` or `off`", &["on", "off"]),
        Rule::CORE_OR_CPU => some("`core` or `cpu`", &["core", "cpu"]),
        Rule::IDLE_UNIT => some("`cpu`, `core`, `llc` or `node`", &["cpu", "core", "llc", "node"]),
        Rule::PLACE => some("`cgroup`, `affinity` or `move`", &["cgroup", "affinity", "move"]),
        Rule::POLICY => {
            some("a scheduling policy such as `other`", &["other", "batch", "idle", "fifo", "rr", "deadline"])
        }
        Rule::sharer => some("`nobody`, `itself` or `class`", &["nobody", "itself", "class"]),
        Rule::prefer_idle => some("`idle`", &["idle"]),
        Rule::prefer_last => some("`last`", &["last"]),
        Rule::CPU_OPERATOR => some("`and`, `within` or `except`", &["and", "within", "except"]),
        Rule::CORES => some("`cores`", &["cores"]),
        Rule::CPUS => some("`cpus`", &["cpus"]),
        Rule::cpu_set | Rule::cpu_term => some("a set of CPUs such as `cores 0-3`", CPU_WORDS),
        Rule::process_set | Rule::all_of | Rule::process_term | Rule::predicate | Rule::FIELD => {
            some("a predicate such as `exe nginx`", PREDICATE_WORDS)
        }
        Rule::linux => some("`linux`", &["linux"]),
        Rule::smt => some("`smt`", &["smt"]),
        Rule::core_scheduling => some("`core scheduling`", &["core"]),
        Rule::cgroup_v2 => some("`cgroup v2`", &["cgroup"]),
        Rule::host => some("`host`", &["host"]),
        Rule::floor => some("`at least`", &["at"]),
        Rule::feature => some("`feature`", &["feature"]),
        Rule::rt_runtime => some("`rt runtime`", &["rt"]),
        Rule::autogroup => some("`autogroup`", &["autogroup"]),
        Rule::processes_header => some("`processes`", &["processes"]),
        Rule::zone_header => some("`zone`", &["zone"]),
        Rule::with_descendants => some("`with`", &["with"]),
        rule => keyword(rule),
    }
}

fn keyword(rule: Rule) -> Option<Expected> {
    keywords! {
        rule,
        KW_ALL "all", KW_AND "and", KW_AT "at", KW_AUTOGROUP "autogroup", KW_BANDWIDTH "bandwidth", KW_BELOW "below",
        KW_BY "by", KW_CGROUP "cgroup", KW_CLAMP "clamp", KW_CLASS "class", KW_CORE "core", KW_CORES "cores",
        KW_CPU "cpu", KW_DEADLINE "deadline", KW_DESCENDANTS "descendants", KW_EQUAL "equal", KW_EVERY "every",
        KW_FEATURE "feature", KW_FIFO "fifo", KW_HOST "host", KW_IDLE "idle", KW_INCLUDE "include",
        KW_ITSELF "itself", KW_KERNEL "kernel", KW_LAST "last", KW_LEAST "least", KW_LINUX "linux", KW_LLC "llc",
        KW_MATCH "match", KW_MEMORY "memory", KW_MOST "most", KW_NEVER "never", KW_NICE "nice", KW_NOBODY "nobody",
        KW_NOT "not", KW_OF "of", KW_ON "on", KW_ONLY "only", KW_OR "or", KW_PLACE "place", KW_POLICY "policy",
        KW_PREFER "prefer", KW_PRIO "prio", KW_PRIORITY "priority", KW_PROCESSES "processes", KW_QUOTA "quota",
        KW_REQUIRE "require", KW_ROBIN "robin", KW_ROUND "round", KW_RT "rt", KW_RUNTIME "runtime",
        KW_SCHEDULING "scheduling", KW_SHARE "share", KW_SIBLINGS "siblings", KW_SLICE "slice", KW_SMT "smt",
        KW_SPILL "spill", KW_TO "to", KW_V2 "v2", KW_WAIT "wait", KW_WEIGHT "weight", KW_WHEN "when", KW_WITH "with",
        KW_ZONE "zone",
    }
}
