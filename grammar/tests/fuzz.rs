//! Fuzzing on a stable compiler: seeded mutations of the corpus in `fuzz/`, for two seconds or as many as `FUZZ_SECONDS`
//! says. A text that breaks an invariant is printed, so that it can be put into the corpus.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "fuzz/invariants.rs"]
mod invariants;
#[path = "fuzz/mutate.rs"]
mod mutate;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutate::{Mutator, Random};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The texts below a folder, in order of their names.
fn texts(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|it| it == "policy")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// The words of the dictionary, in libFuzzer's notation.
fn dictionary() -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(root().join("fuzz/policy.dict")).unwrap();
    let words = text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    words.map(unescaped).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = word.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.clone().next()) {
            (b'\\', Some(b'x')) => {
                let digits: String = bytes.by_ref().skip(1).take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            (b'\\', Some(other)) => {
                bytes.next();
                out.push(other);
            }
            _ => out.push(byte),
        }
    }
    out
}

#[test]
fn no_mutation_of_the_corpus_breaks_an_invariant() {
    let corpus: Vec<String> = ["fuzz/corpus/policy", "policies", "tests/ui"].into_iter().flat_map(texts).collect();
    corpus.iter().for_each(|text| invariants::check(text));
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut random = Random::new(0x0c07_e4a7);
    let mutator = Mutator { corpus: &corpus, dictionary: &dictionary() };
    let mut count = 0_u64;
    while Instant::now() < end {
        let text = mutator.mutation(&mut random);
        let held = std::panic::catch_unwind(|| invariants::check(&text));
        assert!(held.is_ok(), "after {count} texts, this one breaks an invariant: {text:?}");
        count += 1;
    }
    println!("{count} texts");
    assert!(count > 10, "only {count} texts in {seconds} s");
}
