//! Whether some text is covered by all of these globs and by none of those, decided on automata.
//!
//! Each glob becomes the automaton of the very regular expression that matches it, so nothing here can disagree with the
//! matcher. All automata read one imagined text side by side, breadth first; when no state is left in which all that want the text
//! accept and none of the others does, there is no such text.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

use super::Logic;
use super::atom::Words;

pub(super) type Dfa = dense::DFA<Vec<u32>>;

/// Bytes of one automaton. Globs that people write need a hundredth of it.
const MOST_BYTES: usize = 1 << 20;

/// Steps of one product.
const MOST_STEPS: usize = 100_000;

/// Automata in one product.
const MOST_READERS: usize = 24;

/// A demand on the text: to be covered, or not to be.
#[derive(Clone, Copy)]
pub(super) struct Term<'a> {
    pub(super) words: Words<'a>,
    /// It concerns what stands behind the last `/` only.
    pub(super) last_part: bool,
    pub(super) wanted: bool,
}

impl Term<'_> {
    /// Whether the other denies in so many words what this one wants, which needs no automaton.
    fn is_opposed_by(&self, other: &Term<'_>) -> bool {
        self.wanted && !other.wanted && self.last_part == other.last_part && self.words.text() == other.words.text()
    }

    fn met_by(&self, text: &[u8]) -> bool {
        let last = || text.rsplit(|byte| *byte == b'/').next().unwrap_or(text);
        self.words.matches(if self.last_part { last() } else { text }) == self.wanted
    }
}

/// Whether no text of at most `longest` bytes meets all demands. False, too, where that takes too long to tell.
pub(super) fn no_word(logic: &Logic, terms: &[Term<'_>], longest: Option<usize>) -> bool {
    // A single word that is wanted is the only candidate, if what it says of a last part is all that is asked.
    let decisive = |term: &&Term<'_>| term.wanted && (!term.last_part || terms.iter().all(|term| term.last_part));
    let candidates = terms.iter().filter(decisive).filter_map(|term| term.words.one());
    if let Some(only) = candidates.into_iter().next() {
        let too_long = longest.is_some_and(|longest| only.len() > longest);
        return too_long || !terms.iter().all(|term| term.met_by(only.as_bytes()));
    }
    // One glob covers something; where it must also be short, brackets and braces need counting.
    let simple = |term: &Term<'_>| longest.is_none() || !term.words.text().contains(['[', '{']);
    match terms {
        [] => return false,
        [one] if one.wanted && simple(one) => return false,
        _ if terms
            .iter()
            .filter(|term| term.wanted)
            .any(|term| terms.iter().any(|other| term.is_opposed_by(other))) =>
        {
            return true;
        }
        _ if terms.len() > MOST_READERS => return false,
        _ => {}
    }
    let readers: Option<Vec<Reader<'_>>> = terms.iter().map(|term| Reader::new(logic, term)).collect();
    readers.is_some_and(|readers| nothing_accepted(logic, &readers, longest))
}

/// An automaton and what it is there for.
struct Reader<'a> {
    machine: Machine<'a>,
    /// Where it is before the text, and again behind each `/` where only the last part counts.
    start: State,
    last_part: bool,
    wanted: bool,
}

enum Machine<'a> {
    Word(&'a [u8]),
    Glob(Rc<Dfa>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// So many bytes of the word were read.
    Read(usize),
    /// Something else than the word was read.
    Astray,
    In(StateID),
}

impl<'a> Reader<'a> {
    fn new(logic: &Logic, term: &Term<'a>) -> Option<Reader<'a>> {
        let (machine, start) = match term.words {
            Words::One(word) => (Machine::Word(word.as_bytes()), State::Read(0)),
            Words::Glob(pattern) => {
                let dfa = logic.automaton(pattern.regex()?)?;
                let start =
                    dfa.start_state(&regex_automata::util::start::Config::new().anchored(Anchored::Yes)).ok()?;
                (Machine::Glob(dfa), State::In(start))
            }
        };
        Some(Reader { machine, start, last_part: term.last_part, wanted: term.wanted })
    }

    fn next(&self, state: State, byte: u8) -> State {
        if self.last_part && byte == b'/' {
            return self.start;
        }
        match (&self.machine, state) {
            (Machine::Word(word), State::Read(read)) if word.get(read) == Some(&byte) => State::Read(read + 1),
            (Machine::Glob(dfa), State::In(id)) => State::In(dfa.next_state(id, byte)),
            _ => State::Astray,
        }
    }

    fn accepts(&self, state: State) -> bool {
        match (&self.machine, state) {
            (Machine::Word(word), State::Read(read)) => read == word.len(),
            (Machine::Glob(dfa), State::In(id)) => dfa.is_match_state(dfa.next_eoi_state(id)),
            _ => false,
        }
    }

    /// Whether a text that led here may still satisfy the demand.
    fn may_succeed(&self, state: State) -> bool {
        let lost = match (&self.machine, state) {
            (Machine::Glob(dfa), State::In(id)) => dfa.is_dead_state(id),
            (_, state) => state == State::Astray,
        };
        !lost || !self.wanted || self.last_part
    }

    /// A number that two bytes share where they lead to the same states always.
    fn class(&self, byte: u8) -> usize {
        if self.last_part && byte == b'/' {
            return usize::MAX;
        }
        match &self.machine {
            Machine::Word(word) => word.iter().position(|in_word| *in_word == byte).unwrap_or(usize::MAX - 1),
            Machine::Glob(dfa) => usize::from(dfa.byte_classes().get(byte)),
        }
    }
}

fn nothing_accepted(logic: &Logic, readers: &[Reader<'_>], longest: Option<usize>) -> bool {
    let bytes = bytes_that_differ(readers);
    let start: Vec<State> = readers.iter().map(|reader| reader.start).collect();
    let mut seen = HashSet::from([start.clone()]);
    let mut waiting = VecDeque::from([(start, 0)]);
    let mut steps = 0;
    while let Some((states, length)) = waiting.pop_front() {
        let met = |(reader, state): (&Reader<'_>, &State)| reader.accepts(*state) == reader.wanted;
        if readers.iter().zip(&states).all(met) {
            return false;
        }
        if longest.is_some_and(|longest| length >= longest) {
            continue;
        }
        for byte in &bytes {
            steps += 1;
            let next: Vec<State> =
                readers.iter().zip(&states).map(|(reader, state)| reader.next(*state, *byte)).collect();
            let alive = readers.iter().zip(&next).all(|(reader, state)| reader.may_succeed(*state));
            if alive && seen.insert(next.clone()) {
                waiting.push_back((next, length + 1));
            }
        }
        if steps > MOST_STEPS || !logic.may_spend(bytes.len() * readers.len()) {
            return false;
        }
    }
    true
}

/// One byte for each way in which the automata can move. No text of a process holds a zero byte.
fn bytes_that_differ(readers: &[Reader<'_>]) -> Vec<u8> {
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    (1..=u8::MAX).filter(|byte| seen.insert(readers.iter().map(|reader| reader.class(*byte)).collect())).collect()
}

/// The automaton of an anchored expression, read exactly as globset reads it.
pub(super) fn build(regex: &str) -> Option<Dfa> {
    let limits = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(MOST_BYTES))
        .determinize_size_limit(Some(MOST_BYTES));
    let syntax = syntax::Config::new().utf8(false).dot_matches_new_line(true);
    dense::Builder::new().configure(limits).syntax(syntax).build(regex).ok()
}
