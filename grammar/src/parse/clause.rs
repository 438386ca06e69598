//! The clauses of classes but `match`, which may be two at once.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::mistake::{Mistake, Place};
use crate::tree::{At, Clause, EqualPrio, IdleUnit, OnChange, PlaceBy, Sharer};

impl<'a> Reader<'a> {
    pub(super) fn clause_body(&mut self, pair: Pair<'a, Rule>) -> Option<Clause> {
        let rule = pair.as_rule();
        let parts: Vec<_> = pair.into_inner().collect();
        let find = |rule: Rule| parts.iter().find(|part| part.as_rule() == rule);
        let find_last = |rule: Rule| parts.iter().rev().find(|part| part.as_rule() == rule);
        Some(match rule {
            Rule::on_clause => Clause::On(self.cpu_expr(find(Rule::cpu_set)?.clone())),
            Rule::prefer => self.preference(parts.into_iter().next_back()?)?,
            Rule::spill => Clause::Spill { below: find(Rule::NUMBER).map(|number| self.number(number)) },
            Rule::never_spill => Clause::NeverSpill,
            Rule::share_core => {
                let sharers = parts.into_iter().filter(|part| part.as_rule() == Rule::sharer);
                Clause::ShareCore(sharers.filter_map(|part| self.sharer(part)).collect())
            }
            Rule::gate => {
                let unit = find(Rule::IDLE_UNIT)?;
                Clause::OnlyWhenIdle(At { value: idle_unit(unit.as_str()), span: self.span(unit) })
            }
            Rule::wait => Clause::WaitAtMost(self.duration(find(Rule::DURATION)?)),
            Rule::floor => Clause::AtLeastCores(self.number(find(Rule::NUMBER)?)),
            Rule::ceiling => match find(Rule::PERCENT) {
                Some(share) => Clause::AtMostShare(self.percent(share)),
                None => Clause::AtMostCores(self.number(find(Rule::NUMBER)?)),
            },
            Rule::equal_prio => Clause::EqualPrio(match find(Rule::HOLD_OR_PUSH)?.as_str() {
                "push" => EqualPrio::Push,
                _ => EqualPrio::Hold,
            }),
            Rule::priority => Clause::Priority(self.number(find(Rule::INTEGER)?)),
            Rule::fifo => Clause::Fifo,
            Rule::round_robin => Clause::RoundRobin,
            Rule::runtime => Clause::Runtime {
                runtime: self.duration(find(Rule::DURATION)?),
                every: self.duration(find_last(Rule::DURATION)?),
            },
            Rule::deadline => Clause::Deadline(self.duration(find(Rule::DURATION)?)),
            Rule::nice => Clause::Nice(self.number(find(Rule::INTEGER)?)),
            Rule::slice => Clause::Slice(self.duration(find(Rule::DURATION)?)),
            Rule::weight => Clause::Weight(self.number(find(Rule::INTEGER)?)),
            Rule::quota => Clause::Quota(self.quota(find(Rule::DECIMAL)?)),
            Rule::clamp => {
                let (low, high) = (self.percent(find(Rule::PERCENT)?), self.percent(find_last(Rule::PERCENT)?));
                if low.value > high.value {
                    let at = low.span.to(high.span);
                    let (first, last) = (low.value.to_string(), high.value.to_string());
                    self.report(Mistake::ReversedRange { at, first, last });
                    return None;
                }
                Clause::Clamp { low, high }
            }
            Rule::memory_bandwidth => Clause::MemoryBandwidth(self.percent(find(Rule::PERCENT)?)),
            Rule::llc_share => Clause::LlcShare(self.percent(find(Rule::PERCENT)?)),
            Rule::with_descendants => Clause::WithDescendants,
            Rule::on_change => Clause::OnChange(match parts.first()?.as_str() {
                "insist" => OnChange::Insist,
                _ => OnChange::Yield,
            }),
            Rule::place_by => {
                let place = find(Rule::PLACE)?;
                Clause::PlaceBy(At { value: place_by(place.as_str()), span: self.span(place) })
            }
            _ => return None,
        })
    }

    fn preference(&mut self, pair: Pair<'a, Rule>) -> Option<Clause> {
        Some(match pair.as_rule() {
            Rule::prefer_last => Clause::PreferLastCpu,
            Rule::prefer_idle => match pair.into_inner().next_back()?.as_str() {
                "cpu" => Clause::PreferIdleCpu,
                _ => Clause::PreferIdleCore,
            },
            Rule::misspelt_preference => {
                self.misspelt(&pair, Place::Inside, &["idle", "last", "performance", "efficiency"]);
                return None;
            }
            _ => Clause::PreferCpus(self.cpu_expr(pair)),
        })
    }

    fn sharer(&mut self, pair: Pair<'a, Rule>) -> Option<At<Sharer>> {
        let span = self.span(&pair);
        let last = pair.into_inner().next_back()?;
        let value = match last.as_rule() {
            Rule::KW_NOBODY => Sharer::Nobody,
            Rule::KW_ITSELF => Sharer::Itself,
            _ => Sharer::Class(self.name(&last)),
        };
        Some(At { value, span })
    }
}

fn idle_unit(word: &str) -> IdleUnit {
    match word {
        "cpu" => IdleUnit::Cpu,
        "llc" => IdleUnit::Llc,
        "node" => IdleUnit::Node,
        _ => IdleUnit::Core,
    }
}

fn place_by(word: &str) -> PlaceBy {
    match word {
        "cgroup" => PlaceBy::Cgroup,
        "move" => PlaceBy::Move,
        _ => PlaceBy::Affinity,
    }
}
