//! From text to tree, with recovery.
//!
//! pest reads a text statement by statement; the grammar puts what it cannot read into `bad_…` pieces, each no larger than
//! its clause or statement. [`recover`] then reads such a piece again with the rule it should have followed, and says what
//! was wrong in it. Nothing here fails: the result is a tree and a list of findings.

mod chunks;
mod class;
mod clause;
mod cpus;
mod expected;
mod host;
mod include;
mod limits;
mod processes;
mod quantity;
mod recover;
mod token;

pub use include::{IncludeSite, includes};
pub use processes::PREDICATE_WORDS;

use pest::Parser;
use pest::iterators::Pair;

use crate::mistake::Mistake;
use crate::tree::{At, CpuExpr, Definition, Name, Parsed, ProcessExpr, Statement};
use crate::{Diagnostic, Diagnostics, SourceId, SourceSet, Span};
use recover::Body;

/// The generated parser.
#[derive(pest_derive::Parser)]
#[grammar = "policy.pest"]
struct PolicyParser;

/// Reads all texts, each where it is included. The tree holds everything that could be read, whatever was wrong beside it.
#[must_use]
pub fn parse(sources: SourceSet) -> (Parsed, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let mut statements = Vec::new();
    let mut files = Files { sources: &sources, open: Vec::new() };
    for id in sources.roots() {
        files.read(id, &mut statements, &mut diagnostics);
    }
    (Parsed { sources, statements }, diagnostics)
}

/// The texts, and which of them are being read.
struct Files<'a> {
    sources: &'a SourceSet,
    /// The text being read, behind those that include it.
    open: Vec<SourceId>,
}

impl Files<'_> {
    fn read(&mut self, id: SourceId, statements: &mut Vec<Statement>, diagnostics: &mut Diagnostics) {
        let sources = self.sources;
        let Some(source) = sources.get(id) else { return };
        self.open.push(id);
        let mut reader = Reader { source: id, text: source.text(), offset: 0, broken_off: None, diagnostics };
        match limits::check(source.text(), id) {
            Err(mistake) => reader.report(mistake),
            Ok(()) => {
                chunks::chunks(source.text()).for_each(|(offset, chunk)| reader.chunk(offset, chunk, statements, self))
            }
        }
        self.open.pop();
    }
}

/// One text being read, and where findings go.
struct Reader<'a> {
    source: SourceId,
    /// The whole text.
    text: &'a str,
    /// Where the piece that pest is reading begins in it.
    offset: usize,
    /// The last word of a piece that was reported as unfinished.
    broken_off: Option<Span>,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn chunk(&mut self, offset: usize, chunk: &'a str, statements: &mut Vec<Statement>, files: &mut Files<'_>) {
        self.offset = offset;
        // A byte-order mark stands at the beginning of a text or is none.
        match PolicyParser::parse(if offset == 0 { Rule::file } else { Rule::rest }, chunk) {
            Ok(pairs) => {
                for pair in pairs.flat_map(Pair::into_inner) {
                    self.statement(pair, statements, files);
                }
            }
            // The catch-all rules leave no text unread, so this is a gap in the grammar; it still gets a place.
            Err(error) => {
                let at = self.bytes(recover::position(&error.location), 0);
                self.report(Mistake::Unexpected { at, found: String::new(), expected: vec!["a statement"] });
            }
        }
    }

    fn statement(&mut self, pair: Pair<'a, Rule>, statements: &mut Vec<Statement>, files: &mut Files<'_>) {
        match pair.as_rule() {
            Rule::class => statements.extend(self.class(pair).map(Statement::Class)),
            Rule::zone => {
                let Some((name, body)) = self.definition(pair, Body::Zone) else { return };
                let body = body.map_or(CpuExpr::damaged(name.span), |body| self.cpu_expr(body));
                statements.push(Statement::Zone(Definition { name, body }));
            }
            Rule::processes => {
                let Some((name, body)) = self.definition(pair, Body::Processes) else { return };
                let body = body.map_or(ProcessExpr::damaged(name.span), |body| self.process_expr(body));
                statements.push(Statement::Processes(Definition { name, body }));
            }
            Rule::require => statements.push(Statement::Require(self.require(pair))),
            Rule::kernel => statements.push(Statement::Kernel(self.kernel(pair))),
            Rule::include => self.include(pair, statements, files),
            Rule::stray_semicolon => {
                let at = self.span(&pair);
                self.report(Mistake::EmptyStatement { at });
            }
            Rule::bad_statement => statements.extend(self.bad_statement(pair)),
            _ => {}
        }
    }

    /// The name and, unless it was reported as unreadable, the body of a zone or process set.
    fn definition(&mut self, pair: Pair<'a, Rule>, kind: Body) -> Option<(Name, Option<Pair<'a, Rule>>)> {
        let (mut name, mut body, mut empty) = (None, None, true);
        let header = pair.clone().into_inner().next().map_or_else(Span::default, |header| self.span(&header));
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::zone_header | Rule::processes_header => name = part.into_inner().last().map(|it| self.name(&it)),
                Rule::EQUALS => self.equals(&part),
                Rule::cpu_set | Rule::process_set => (body, empty) = (Some(part), false),
                Rule::bad_body => {
                    empty = false;
                    self.bad_piece(&part, kind);
                }
                Rule::missing_semicolon if !empty => self.missing_semicolon(&pair, &part),
                _ => {}
            }
        }
        if empty {
            self.report(Mistake::EmptyBody { header });
        }
        Some((name?, body))
    }

    fn equals(&mut self, pair: &Pair<'_, Rule>) {
        let at = self.span(pair);
        self.report(Mistake::EqualsForColon { at });
    }

    /// Reports a forgotten `;`, unless the statement lost it together with what else was reported as missing there.
    fn missing_semicolon(&mut self, statement: &Pair<'a, Rule>, marker: &Pair<'a, Rule>) {
        let before = statement.clone().into_inner().rev().find(|part| part.as_rule() != Rule::missing_semicolon);
        let Some(last) = before.map(token::last_leaf) else { return };
        if last.as_rule() == Rule::UNCLOSED_STRING {
            return;
        }
        let after = self.span(&last);
        if self.broken_off.is_some_and(|broken| broken.end == after.end) {
            return;
        }
        let next = self.word_at(marker.as_span().start());
        self.report(Mistake::MissingSemicolon { after, next });
    }

    fn name(&self, pair: &Pair<'_, Rule>) -> Name {
        At { value: pair.as_str().to_owned(), span: self.span(pair) }
    }

    fn report(&mut self, mistake: Mistake) {
        self.diagnostics.push(Diagnostic::from(mistake));
    }
}

#[cfg(test)]
mod tests;
