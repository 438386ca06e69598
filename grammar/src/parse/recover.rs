//! Says what is wrong in a piece that the grammar set aside.
//!
//! One finding a piece. The likeliest slips are tried first, because pest's own account of them points elsewhere: a string
//! or parenthesis left open, a forgotten `,` or `:`. Else the piece is read again with the rule it should have followed,
//! and the furthest place that pest reached is where the mistake is.

use pest::Parser;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

use super::expected::{CLAUSE_WORDS, CONDITION_WORDS, KNOB_WORDS, STATEMENT_WORDS, expected};
use super::{PolicyParser, Reader, Rule, token};
use crate::mistake::{Mistake, Place};
use crate::tree::{At, CpuExpr, Definition, ProcessExpr, Statement};
use crate::{Span, nearest};

/// What a bad piece should have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Clause,
    /// Behind `share core with …,`, where another name may follow.
    ClauseOrSharer,
    Condition,
    Knob,
    Zone,
    Processes,
}

impl Body {
    /// The rule for the whole piece.
    fn whole(self) -> Rule {
        match self {
            Body::Clause | Body::ClauseOrSharer => Rule::clause_alone,
            Body::Condition => Rule::condition_alone,
            Body::Knob => Rule::knob_alone,
            Body::Zone => Rule::zone_alone,
            Body::Processes => Rule::processes_alone,
        }
    }

    /// The rule for as much of it as can be read.
    fn beginning(self) -> Rule {
        match self {
            Body::Clause | Body::ClauseOrSharer => Rule::clause_body,
            Body::Condition => Rule::condition_body,
            Body::Knob => Rule::knob_body,
            Body::Zone => Rule::cpu_set,
            Body::Processes => Rule::process_set,
        }
    }

    /// What it is in the words of a finding about its first word.
    fn place(self) -> Place {
        match self {
            Body::Clause | Body::ClauseOrSharer => Place::Clause,
            Body::Condition => Place::Condition,
            Body::Knob => Place::Knob,
            Body::Zone | Body::Processes => Place::Inside,
        }
    }
}

/// Words that a piece of this kind begins with.
fn first_words(place: Place) -> &'static [&'static str] {
    match place {
        Place::Statement => STATEMENT_WORDS,
        Place::Clause => CLAUSE_WORDS,
        Place::Condition => CONDITION_WORDS,
        Place::Knob => KNOB_WORDS,
        Place::Predicate | Place::CpuSet | Place::Inside => &[],
    }
}

/// Where pest stopped, in bytes.
pub(super) fn position(location: &InputLocation) -> usize {
    match location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => *at,
    }
}

/// A token of a bad piece, its span relative to the file.
struct Token<'a> {
    rule: Rule,
    text: &'a str,
    span: Span,
}

impl<'a> Reader<'a> {
    /// Reports the first mistake of an unreadable clause or body.
    pub(super) fn bad_piece(&mut self, pair: &Pair<'a, Rule>, body: Body) {
        let tokens = self.tokens(pair);
        if let Some(mistake) = open_string(&tokens).or_else(|| open_parenthesis(&tokens)) {
            self.broken_off = tokens.last().map(|last| last.span);
            return self.report(mistake);
        }
        let start = pair.as_span().start();
        if let (Body::Clause | Body::ClauseOrSharer, Some(first)) = (body, tokens.first()) {
            if first.text.starts_with(|c: char| c.is_ascii_digit()) {
                return self.report(Mistake::CommaInCpus { at: first.span });
            }
            let sharers = ["class", "itself", "nobody"];
            if body == Body::ClauseOrSharer && nearest(first.text, sharers).is_some() {
                let (at, word) = (first.span, first.text.to_owned());
                return self.report(Mistake::UnknownWord { place: Place::Inside, at, word, known: sharers.to_vec() });
            }
        }
        let run_on = self.run_on(pair.as_str(), start, body, &tokens);
        if let Some((after, next)) = run_on
            && first_words(body.place()).contains(&next.text)
        {
            return self.report(Mistake::MissingComma { after, next: next.span, write: None });
        }
        let wrong = self.furthest(body.whole(), pair.as_str(), start, &tokens, body.place());
        let wrong = match (wrong, run_on) {
            // No word that could go on from here is near this one; one that begins another clause may be.
            (Some(Mistake::Unexpected { at, found, expected }), Some((after, next))) if at == next.span => {
                Some(match nearest(&found, first_words(body.place()).iter().copied()) {
                    Some(word) => Mistake::MissingComma { after, next: at, write: Some(word) },
                    None if expected.is_empty() => Mistake::Unexpected { at, found, expected: vec!["`,`", "`;`"] },
                    None => Mistake::Unexpected { at, found, expected },
                })
            }
            (wrong, _) => wrong,
        };
        self.report_any(wrong);
    }

    /// Reports what is wrong with text that begins no statement; a definition whose name can be made out is kept, so that
    /// its uses are not reported as well.
    pub(super) fn bad_statement(&mut self, pair: Pair<'a, Rule>) -> Option<Statement> {
        let tokens = self.tokens(&pair);
        let start = pair.as_span().start();
        if tokens.first().is_some_and(|first| first.rule == Rule::KW_INCLUDE) {
            let text = pair.as_str().trim_end().trim_end_matches(';');
            match open_string(&tokens) {
                Some(mistake) => self.report(mistake),
                None => {
                    let wrong = self.furthest(Rule::include_alone, text, start, &tokens, Place::Inside);
                    self.report_any(wrong);
                }
            }
            return None;
        }
        let header = PolicyParser::parse(Rule::header, pair.as_str()).ok().and_then(|mut pairs| pairs.next());
        let Some(header) = header else {
            let wrong = self.furthest(Rule::header_alone, pair.as_str(), start, &tokens, Place::Statement);
            self.report_any(wrong);
            return None;
        };
        let end = token::last_leaf(header.clone()).as_span().end();
        let header_span = self.bytes(start, start + end);
        let next = tokens.iter().find(|token| token.span.start >= header_span.end);
        match next {
            Some(next) if header.as_str().trim().len() == end && nearest(next.text, ["class"]).is_some() => {
                let (at, word) = (next.span, next.text.to_owned());
                self.report(Mistake::UnknownWord { place: Place::Inside, at, word, known: vec!["class"] });
            }
            _ => {
                let next = next.map_or(header_span, |next| next.span);
                self.report(Mistake::MissingColon { header: header_span, next });
            }
        }
        let rule = header.as_rule();
        let name = header.into_inner().next_back()?;
        let at = name.as_span();
        let name = At { value: name.as_str().to_owned(), span: self.bytes(start + at.start(), start + at.end()) };
        match rule {
            Rule::zone_header => {
                let body = CpuExpr::damaged(name.span);
                Some(Statement::Zone(Definition { name, body }))
            }
            Rule::processes_header => {
                let body = ProcessExpr::damaged(name.span);
                Some(Statement::Processes(Definition { name, body }))
            }
            _ => None,
        }
    }

    fn report_any(&mut self, mistake: Option<Mistake>) {
        if let Some(mistake) = mistake {
            self.report(mistake);
        }
    }

    fn tokens(&self, pair: &Pair<'a, Rule>) -> Vec<Token<'a>> {
        let tokens = pair.clone().into_inner().filter(|token| token.as_rule() != Rule::SEMICOLON);
        tokens.map(|it| Token { rule: it.as_rule(), text: it.as_str(), span: self.span(&it) }).collect()
    }

    /// The last word of a whole clause that something follows, and what does.
    fn run_on<'t>(
        &self,
        text: &str,
        start: usize,
        body: Body,
        tokens: &'t [Token<'a>],
    ) -> Option<(Span, &'t Token<'a>)> {
        let read = PolicyParser::parse(body.beginning(), text).ok()?.next_back()?;
        let end = token::last_leaf(read).as_span().end();
        let last = self.bytes(start + end, start + end).end;
        let next = tokens.iter().find(|token| token.span.start >= last)?;
        let before = tokens.iter().rev().find(|token| token.span.end <= last)?;
        // `match … with descendants` needs no comma; there the mistake stands further on.
        if next.text == "with" && tokens.first().is_some_and(|first| first.text == "match") {
            return None;
        }
        Some((before.span, next))
    }

    /// Reads the piece with `rule` and says where it went wrong, and how.
    fn furthest(
        &mut self,
        rule: Rule,
        text: &str,
        start: usize,
        tokens: &[Token<'a>],
        first: Place,
    ) -> Option<Mistake> {
        let error = PolicyParser::parse(rule, text).err()?;
        let at = self.bytes(start + position(&error.location), start).start;
        let rules = match error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives,
            ErrorVariant::CustomError { .. } => Vec::new(),
        };
        let (mut phrases, mut words) = (Vec::new(), Vec::new());
        for expected in rules.iter().filter_map(|rule| expected(*rule)) {
            if !phrases.contains(&expected.phrase) {
                phrases.push(expected.phrase);
            }
            words.extend_from_slice(expected.words);
        }
        let found = tokens.iter().enumerate().find(|(_, token)| token.span.end > at);
        let Some((index, found)) = found else {
            let after = tokens.last().map_or_else(|| self.bytes(start, start), |last| last.span);
            self.broken_off = Some(after);
            return Some(Mistake::Unfinished { after, expected: phrases });
        };
        let place = match (index, first) {
            (0, first) if !first_words(first).is_empty() => first,
            _ if rules.contains(&Rule::process_term) || rules.contains(&Rule::process_set) => Place::Predicate,
            _ if rules.contains(&Rule::cpu_term) || rules.contains(&Rule::cpu_set) => Place::CpuSet,
            _ => Place::Inside,
        };
        let begins = !first_words(place).is_empty();
        let known = if begins { first_words(place).to_vec() } else { words };
        let (at, word) = (found.span, found.text.to_owned());
        let is_word = found.rule == Rule::BARE;
        Some(if is_word && (begins || nearest(&word, known.iter().copied()).is_some()) {
            Mistake::UnknownWord { place, at, word, known }
        } else {
            Mistake::Unexpected { at, found: word, expected: phrases }
        })
    }
}

fn open_string(tokens: &[Token<'_>]) -> Option<Mistake> {
    let open = tokens.iter().find(|token| token.rule == Rule::UNCLOSED_STRING)?;
    Some(Mistake::UnclosedString { at: open.span })
}

fn open_parenthesis(tokens: &[Token<'_>]) -> Option<Mistake> {
    let mut open = Vec::new();
    for token in tokens {
        match token.rule {
            Rule::LPAREN => open.push(token.span),
            Rule::RPAREN if open.pop().is_none() => return Some(Mistake::StrayParenthesis { at: token.span }),
            _ => {}
        }
    }
    open.pop().map(|open| Mistake::UnclosedParenthesis { open })
}
