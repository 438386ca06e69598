//! Sets of CPUs.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::mistake::{Mistake, Place};
use crate::nearest;
use crate::tree::{At, CoreKind, CpuExpr, CpuOperator, Part, Unit, Units};

/// Words that begin a set of CPUs, for suggestions.
pub(super) const CPU_WORDS: &[&str] = &[
    "all",
    "cpu",
    "cpus",
    "core",
    "cores",
    "llc",
    "node",
    "package",
    "performance",
    "efficiency",
    "siblings",
    "fronts",
];

impl<'a> Reader<'a> {
    /// A `cpu_set` pair.
    pub(super) fn cpu_expr(&mut self, pair: Pair<'a, Rule>) -> CpuExpr {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let Some(first) = parts.next().map(|term| self.cpu_term(term)) else {
            return CpuExpr::damaged(span);
        };
        let mut rest = Vec::new();
        while let (Some(operator), Some(term)) = (parts.next(), parts.next()) {
            let value = match operator.as_str() {
                "within" => CpuOperator::Within,
                "except" => CpuOperator::Except,
                _ => CpuOperator::And,
            };
            rest.push((At { value, span: self.span(&operator) }, self.cpu_term(term)));
        }
        if rest.is_empty() { first } else { CpuExpr::Chain(Box::new(first), rest) }
    }

    fn cpu_term(&mut self, pair: Pair<'a, Rule>) -> CpuExpr {
        let mut parts = Vec::new();
        let mut expr = CpuExpr::damaged(self.span(&pair));
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::PART => {
                    let value = if inner.as_str() == "siblings" { Part::Siblings } else { Part::Fronts };
                    parts.push(At { value, span });
                }
                Rule::misspelt_part => self.misspelt(&inner, Place::CpuSet, &["siblings", "fronts"]),
                Rule::misspelt_kind => expr = self.misspelt_kind(inner),
                Rule::cpu_set => expr = self.cpu_expr(inner),
                Rule::KW_ALL => expr = CpuExpr::All(At { value: (), span }),
                Rule::zone_name => expr = CpuExpr::Zone(self.name(&inner)),
                Rule::units => expr = self.units(inner),
                Rule::misspelt_units => expr = self.misspelt_units(inner),
                Rule::kind_cores => {
                    let efficient = inner.as_str().starts_with("efficiency");
                    let value = if efficient { CoreKind::Efficiency } else { CoreKind::Performance };
                    expr = CpuExpr::KindCores(At { value, span });
                }
                _ => {}
            }
        }
        if parts.is_empty() { expr } else { CpuExpr::Part(parts, Box::new(expr)) }
    }

    fn units(&mut self, pair: Pair<'a, Rule>) -> CpuExpr {
        let span = self.span(&pair);
        let mut unit = Unit::Cpu;
        let mut numbers = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::UNIT => unit = unit_of(inner.as_str()),
                Rule::NUMBER => numbers.push(self.number::<u32>(&inner)),
                _ => {}
            }
        }
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return CpuExpr::damaged(span);
        };
        if first.value > last.value {
            let at = first.span.to(last.span);
            self.report(Mistake::ReversedRange { at, first: first.value.to_string(), last: last.value.to_string() });
            return CpuExpr::damaged(span);
        }
        CpuExpr::Units(At { value: Units { unit, first: first.value, last: last.value }, span })
    }

    fn misspelt_units(&mut self, pair: Pair<'a, Rule>) -> CpuExpr {
        self.misspelt(&pair, Place::CpuSet, CPU_WORDS);
        CpuExpr::damaged(self.span(&pair))
    }

    /// `perfomance cores`, or a zone's name and what does not belong behind it.
    fn misspelt_kind(&mut self, pair: Pair<'a, Rule>) -> CpuExpr {
        let kinds = ["performance", "efficiency"];
        let mut parts = pair.clone().into_inner();
        match (parts.next(), parts.next()) {
            (Some(name), Some(cores)) if nearest(name.as_str(), kinds).is_none() => {
                let (at, found) = (self.span(&cores), cores.as_str().to_owned());
                self.report(Mistake::Unexpected { at, found, expected: vec!["`and`, `within` or `except`", "`,`"] });
            }
            _ => self.misspelt(&pair, Place::CpuSet, &["performance", "efficiency"]),
        }
        CpuExpr::damaged(self.span(&pair))
    }

    /// Reports the first word of a pair as none of those that are known.
    pub(super) fn misspelt(&mut self, pair: &Pair<'a, Rule>, place: Place, known: &[&'static str]) {
        let Some(word) = pair.clone().into_inner().next() else { return };
        let (at, word) = (self.span(&word), word.as_str().to_owned());
        self.report(Mistake::UnknownWord { place, at, word, known: known.to_vec() });
    }
}

fn unit_of(word: &str) -> Unit {
    match word.trim_end_matches('s') {
        "core" => Unit::Core,
        "llc" => Unit::Llc,
        "node" => Unit::Node,
        "package" => Unit::Package,
        _ => Unit::Cpu,
    }
}
