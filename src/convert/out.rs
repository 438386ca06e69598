//! From rules to the text of a policy. The compiler decides what may stay.
//!
//! A converter cannot know all that the language refuses: a priority out of range, a name that begins with a blank, a rule
//! that others above it leave nothing to. So each class is compiled by itself, where it is refused clause by clause, and
//! then all of them together; what the compiler refuses becomes a comment with the compiler's own words.

use std::ops::Range;

use cotenant_compiler::check;
use cotenant_grammar::{Diagnostic, Severity, SourceSet, format};

use super::rule::{Class, Kind, Rule};
use super::words::{Names, comment};

/// A policy, and how much of what it came from is in it.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) policy: String,
    pub(crate) rules: Vec<Rule>,
}

/// Writes the policy. Rules stand in the order given: the first class that matches a process wins.
///
/// # Errors
/// What the compiler says of the whole, such as that it is too large; for that nothing can be left out.
pub(crate) fn write(heading: &str, rules: Vec<Rule>) -> Result<Converted, String> {
    let mut names = Names::default();
    let mut rules: Vec<Rule> = rules.into_iter().map(|rule| by_itself(named(rule, &mut names))).collect();
    // Each round refuses a class, or is the last. A class is refused for the sake of others only where those above it take
    // all it matches; they stay, so there is nothing left for a third round, as a rule.
    loop {
        let (text, ranges) = text(heading, &rules);
        let errors = errors(&text);
        if errors.is_empty() {
            return Ok(Converted { policy: format(&text), rules });
        }
        for error in errors {
            let at = error.primary.span.start as usize;
            let index = ranges.partition_point(|range| range.end <= at);
            let within = ranges.get(index).is_some_and(|range| range.contains(&at));
            match rules.get_mut(index).filter(|_| within) {
                Some(rule) if rule.class.is_some() => refuse(rule, &error.message),
                // Refused for another error in this round.
                Some(rule) if rule.refused => {}
                _ => return Err(error.message),
            }
        }
    }
}

fn named(mut rule: Rule, names: &mut Names) -> Rule {
    if let Some(class) = &mut rule.class {
        class.name = names.name(&class.name);
    }
    rule
}

/// The rule with as much of its class as the compiler takes where nothing else stands.
fn by_itself(mut rule: Rule) -> Rule {
    let Some(class) = &rule.class else { return rule };
    if errors(&statement(class)).is_empty() {
        return rule;
    }
    let mut kept = Class { clauses: Vec::new(), ..class.clone() };
    if let Some(error) = errors(&statement(&kept)).first() {
        refuse(&mut rule, &error.message);
        return rule;
    }
    for clause in &class.clauses {
        kept.clauses.push(clause.clone());
        if let Some(error) = errors(&statement(&kept)).first() {
            kept.clauses.pop();
            rule.lost.push(format!("`{clause}`: {}", error.message));
        }
    }
    Rule { class: Some(kept), ..rule }
}

fn refuse(rule: &mut Rule, why: &str) {
    rule.class = None;
    rule.refused = true;
    rule.lost.push(format!("the rule: {why}"));
}

/// What makes a policy be refused on every machine; which CPUs there are is for `lint` to say.
fn errors(text: &str) -> Vec<Diagnostic> {
    let checked = check(SourceSet::one("converted", text));
    checked.diagnostics().iter().filter(|finding| finding.severity == Severity::Error).cloned().collect()
}

fn statement(class: &Class) -> String {
    let clauses = class.clauses.iter().filter(|_| class.kind != Kind::Unmanaged);
    let clauses: String = clauses.map(|clause| format!(", {clause}")).collect();
    format!("{} {}: match {}{clauses};\n", class.kind.header(), class.name, class.processes)
}

/// The text, and where in it each rule stands.
fn text(heading: &str, rules: &[Rule]) -> (String, Vec<Range<usize>>) {
    let mut text = format!("# {}\n\n", comment(heading));
    let mut ranges = Vec::new();
    for rule in rules {
        let start = text.len();
        for line in &rule.lines {
            text.push_str(&format!("# from {}:{}: {}\n", comment(&line.file), line.number, comment(line.text.trim())));
        }
        for lost in &rule.lost {
            text.push_str(&format!("# not carried over: {}\n", comment(lost)));
        }
        if let Some(class) = &rule.class {
            text.push_str(&statement(class));
        }
        text.push('\n');
        ranges.push(start..text.len());
    }
    (text, ranges)
}
