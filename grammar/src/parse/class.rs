//! Classes and their clauses.

use pest::iterators::Pair;

use super::recover::Body;
use super::{Reader, Rule};
use crate::Span;
use crate::mistake::Mistake;
use crate::tree::{At, Class, ClassKind, Clause, Name};

impl<'a> Reader<'a> {
    pub(super) fn class(&mut self, pair: Pair<'a, Rule>) -> Option<Class> {
        let mut parts = pair.clone().into_inner();
        let header = parts.next()?;
        let at = self.span(&header);
        let (kind, name) = self.class_header(header);
        let named = name.is_some();
        let name = name.unwrap_or_else(|| At { value: kind.value.word().to_owned(), span: kind.span });
        let mut class =
            Class { kind, name, named, header: At { value: (), span: at }, clauses: Vec::new(), damaged: false };
        let mut empty = true;
        for part in parts {
            match part.as_rule() {
                Rule::EQUALS => self.equals(&part),
                Rule::clauses => {
                    empty = false;
                    part.into_inner()
                        .filter(|part| part.as_rule() == Rule::clause)
                        .for_each(|clause| self.clause(clause, &mut class));
                }
                Rule::missing_semicolon if !empty => self.missing_semicolon(&pair, &part),
                _ => {}
            }
        }
        if empty {
            class.damaged = true;
            self.report(Mistake::EmptyBody { header: at });
        }
        Some(class)
    }

    /// Kind and written name; a class without a kind is fair.
    fn class_header(&self, pair: Pair<'a, Rule>) -> (At<ClassKind>, Option<Name>) {
        let mut kind = At { value: ClassKind::Fair, span: self.span(&pair) };
        let mut name = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::KIND => kind = At { value: kind_of(part.as_str()), span: self.span(&part) },
                Rule::NAME => name = Some(self.name(&part)),
                _ => {}
            }
        }
        (kind, name)
    }

    fn clause(&mut self, pair: Pair<'a, Rule>, class: &mut Class) {
        let Some(body) = pair.into_inner().next() else { return };
        let span = self.span(&body);
        match body.as_rule() {
            Rule::bad_clause => {
                class.damaged = true;
                let in_list = matches!(class.clauses.last(), Some(At { value: Clause::ShareCore(_), .. }));
                self.bad_piece(&body, if in_list { Body::ClauseOrSharer } else { Body::Clause });
            }
            Rule::empty_clause => self.empty_clause(&body),
            Rule::match_clause => self.match_clause(body, class),
            _ => class.clauses.extend(self.clause_body(body).map(|value| At { value, span })),
        }
    }

    /// Reports a comma with nothing before it.
    pub(super) fn empty_clause(&mut self, pair: &Pair<'a, Rule>) {
        let at = self.word_at(pair.as_span().start());
        self.report(Mistake::EmptyClause { at });
    }

    /// `match X with descendants` is two clauses that happen to share a comma's place.
    fn match_clause(&mut self, pair: Pair<'a, Rule>, class: &mut Class) {
        let mut span: Option<Span> = None;
        for part in pair.into_inner() {
            let at = self.span(&part);
            match part.as_rule() {
                Rule::KW_MATCH => span = Some(at),
                Rule::process_set => {
                    let value = Clause::Match(self.process_expr(part));
                    class.clauses.push(At { value, span: span.map_or(at, |start| start.to(at)) });
                }
                Rule::with_descendants => class.clauses.push(At { value: Clause::WithDescendants, span: at }),
                _ => {}
            }
        }
    }
}

fn kind_of(word: &str) -> ClassKind {
    match word {
        "rt" => ClassKind::Rt,
        "deadline" => ClassKind::Deadline,
        "batch" => ClassKind::Batch,
        "unmanaged" => ClassKind::Unmanaged,
        _ => ClassKind::Fair,
    }
}
