//! From text to tree, with recovery.
//!
//! pest reads the whole file once; the grammar puts what it cannot read into `bad_…` pieces, each no larger than its
//! clause or statement. [`recover`] then reads such a piece again with the rule it should have followed, and says what was
//! wrong in it. Nothing here fails: the result is a tree and a list of findings.

mod class;
mod cpus;
mod expected;
mod limits;
mod processes;
mod recover;
mod token;

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

/// Reads all texts. The tree holds everything that could be read, whatever was wrong beside it.
#[must_use]
pub fn parse(sources: SourceSet) -> (Parsed, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let mut statements = Vec::new();
    for (id, source) in sources.iter() {
        let mut reader = Reader { source: id, text: source.text(), offset: 0, diagnostics: &mut diagnostics };
        reader.file(&mut statements);
    }
    (Parsed { sources, statements }, diagnostics)
}

/// One text being read, and where findings go.
struct Reader<'a> {
    source: SourceId,
    text: &'a str,
    /// Where the piece that pest is reading begins in `text`; 0 but while a bad piece is read again.
    offset: usize,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Reader<'a> {
    fn file(&mut self, statements: &mut Vec<Statement>) {
        if let Err(mistake) = limits::check(self.text, self.source) {
            return self.report(mistake);
        }
        match PolicyParser::parse(Rule::file, self.text) {
            Ok(pairs) => {
                let top = pairs.flat_map(Pair::into_inner);
                statements.extend(top.filter_map(|pair| self.statement(pair)));
            }
            // The catch-all rules leave no text unread, so this is a gap in the grammar; it still gets a place.
            Err(error) => {
                let at = recover::position(&error.location) as u32;
                let at = Span { source: self.source, start: at, end: at };
                self.report(Mistake::Unexpected { at, found: String::new(), expected: vec!["a statement"] });
            }
        }
    }

    fn statement(&mut self, pair: Pair<'a, Rule>) -> Option<Statement> {
        match pair.as_rule() {
            Rule::class => self.class(pair).map(Statement::Class),
            Rule::zone => {
                let (name, body) = self.definition(pair, Body::Zone)?;
                let body = body.map_or(CpuExpr::damaged(name.span), |body| self.cpu_expr(body));
                Some(Statement::Zone(Definition { name, body }))
            }
            Rule::processes => {
                let (name, body) = self.definition(pair, Body::Processes)?;
                let body = body.map_or(ProcessExpr::damaged(name.span), |body| self.process_expr(body));
                Some(Statement::Processes(Definition { name, body }))
            }
            Rule::stray_semicolon => {
                let at = self.span(&pair);
                self.report(Mistake::EmptyStatement { at });
                None
            }
            Rule::bad_statement => self.bad_statement(pair),
            _ => None,
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
                Rule::missing_semicolon => self.missing_semicolon(&pair, &part),
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

    /// Reports a forgotten `;`, unless the statement lost it to a string or parenthesis that was reported already.
    fn missing_semicolon(&mut self, statement: &Pair<'a, Rule>, marker: &Pair<'a, Rule>) {
        let before = statement.clone().into_inner().rev().find(|part| part.as_rule() != Rule::missing_semicolon);
        let Some(last) = before.map(token::last_leaf) else { return };
        if last.as_rule() == Rule::UNCLOSED_STRING {
            return;
        }
        let after = self.span(&last);
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
