//! Slips of the hand in every keyword of the language.

use std::collections::BTreeSet;

use crate::{SourceSet, parse};

/// Sentences in which every keyword stands where it means something.
const SENTENCES: &[&str] = &[
    "rt class a: match exe a, fifo, priority 3, round robin, push equal prio, hold equal prio;",
    "deadline class a: match exe a, runtime 1ms every 10ms, deadline 5ms;",
    "fair class a: match exe a, nice 3, slice 3ms, weight 200, quota 2 cpus, clamp 10%-50%, insist, yield;",
    "batch class a: match exe a, only when core idle, wait at most 3s, memory bandwidth at most 30%;",
    "batch class a: match exe a, only when cpu idle, llc at most 30%, place by cgroup;",
    "class a: match exe a with descendants, only when llc idle, place by affinity, with descendants;",
    "class a: match exe a, only when node idle, place by move;",
    "class a: match exe a, prefer idle core, spill to siblings below 2 idle cores, never spill;",
    "class a: match exe a, prefer idle cpu, share core with nobody;",
    "class a: match exe a, prefer last cpu, share core with itself, class b;",
    "class a: match exe a, prefer core 3, share core with class b, itself;",
    "class a: on all, at least 2 cores, at most 3 cores, at most 30% of cores;",
    "unmanaged: match exe a and comm b or thread c;",
    "unmanaged class a: match script a and arg b or user c and not group d;",
    "class a: match cgroup a and unit b or slice c and container d;",
    "class a: match parent (exe a) and ancestor (exe b) or not (exe c);",
    "class a: match policy other or policy batch or policy idle;",
    "class a: match policy fifo or policy rr or policy deadline;",
    "zone z: cpu 0 and cpus 1-2 and core 3 and cores 4-5;",
    "zone z: llc 0 within node 1 except package 2;",
    "zone z: performance cores except efficiency cores;",
    "zone z: siblings of node 0 and fronts of node 1;",
    "processes p: exe a or exe b;",
    "include \"a\";",
    "require: linux 5.14, smt, core scheduling, cgroup v2, at least 4 cores, host a;",
    "kernel: feature A on, rt runtime 90%, autogroup off;",
];

/// Every word of the grammar's keyword rules.
fn keywords() -> BTreeSet<&'static str> {
    let grammar = include_str!("../../policy.pest");
    let rules = grammar
        .lines()
        .filter(|line| line.ends_with("~ !name_char }") && line.contains("= @{") && !line.starts_with("DURATION"));
    let words = rules.flat_map(|rule| rule.split('"').skip(1).step_by(2));
    words.filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_alphanumeric())).collect()
}

/// A word with one letter dropped, doubled or swapped with the next.
fn slips(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut slips = BTreeSet::new();
    for at in 0..letters.len() {
        let mut dropped = letters.clone();
        dropped.remove(at);
        let mut doubled = letters.clone();
        doubled.insert(at, letters[at]);
        let mut swapped = letters.clone();
        swapped.swap(at, (at + 1).min(letters.len() - 1));
        slips.extend([dropped, doubled, swapped].map(String::from_iter));
    }
    slips.retain(|slip| slip != word && !slip.is_empty());
    slips
}

/// What was wrong with how a slip was reported; nothing if it was reported well.
fn fault(text: &str, slip: &str, at: usize, word: &str) -> Option<String> {
    let (parsed, diagnostics) = parse(SourceSet::one("t", text));
    let said: Vec<_> = diagnostics
        .iter()
        .map(|it| {
            (parsed.sources.text(it.primary.span), it.primary.span.start as usize, it.help.clone().unwrap_or_default())
        })
        .collect();
    match &said[..] {
        // Some slips make another word that may stand there, such as `cpu` for `cpus`, or a name.
        [] => keywords().contains(slip).then_some(()).map_or(Some("not reported".to_owned()), |()| None),
        [(under, start, help)] if *under == slip && *start == at && is_for(help, word) => None,
        said => Some(format!("{said:?}")),
    }
}

/// Singular and plural are one word.
fn is_for(help: &str, word: &str) -> bool {
    let stem = |word: &str| word.trim_end_matches('s').to_owned();
    help.strip_prefix("write `").is_some_and(|rest| stem(rest.trim_end_matches('`')) == stem(word))
}

#[test]
fn nearly_every_slip_is_reported_at_its_place_with_the_right_word() {
    let keywords = keywords();
    assert!(keywords.len() > 90, "{keywords:?}");
    let mut unseen = keywords.clone();
    let (mut all, mut misses) = (0, Vec::new());
    for sentence in SENTENCES {
        assert_eq!(parse(SourceSet::one("t", *sentence)).1.iter().count(), 0, "{sentence}");
        let mut at = 0;
        for word in sentence.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let start = at;
            at += word.len();
            let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if !keywords.contains(word) {
                continue;
            }
            unseen.remove(word);
            for slip in slips(word) {
                let text = format!("{}{slip}{}", &sentence[..start], &sentence[start + word.len()..]);
                all += 1;
                misses.extend(
                    fault(&text, &slip, start, word).map(|fault| format!("{text}  {slip} for {word}: {fault}")),
                );
            }
        }
    }
    assert_eq!(unseen, BTreeSet::new(), "every keyword has a sentence");
    let share = misses.len() as f64 / all as f64;
    println!("{} of {all} slips missed, {:.1} %:\n{}", misses.len(), share * 100.0, misses.join("\n"));
    assert!(share <= 0.05, "{} of {all} slips are not reported well:\n{}", misses.len(), misses.join("\n"));
}
