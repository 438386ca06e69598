//! Conditions on the host, and settings of its kernel.

use pest::iterators::Pair;

use super::recover::Body;
use super::{Reader, Rule};
use crate::mistake::Mistake;
use crate::tree::{At, Condition, Knob, LinuxVersion};

impl<'a> Reader<'a> {
    /// A `require` statement.
    pub(super) fn require(&mut self, pair: Pair<'a, Rule>) -> Vec<At<Condition>> {
        self.listed(pair, Body::Condition, Self::condition)
    }

    /// A `kernel` statement.
    pub(super) fn kernel(&mut self, pair: Pair<'a, Rule>) -> Vec<At<Knob>> {
        self.listed(pair, Body::Knob, Self::knob)
    }

    /// The readable items of a statement `header: item, item;`.
    fn listed<T>(
        &mut self,
        pair: Pair<'a, Rule>,
        body: Body,
        read: fn(&mut Self, Pair<'a, Rule>) -> Option<T>,
    ) -> Vec<At<T>> {
        let header = pair.clone().into_inner().next().map(|header| self.span(&header)).unwrap_or_default();
        let mut items = Vec::new();
        let mut empty = true;
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::EQUALS => self.equals(&part),
                Rule::conditions | Rule::knobs => {
                    empty = false;
                    let listed = part.into_inner().filter(|it| matches!(it.as_rule(), Rule::condition | Rule::knob));
                    for item in listed.filter_map(|item| item.into_inner().next()) {
                        let span = self.span(&item);
                        match item.as_rule() {
                            Rule::bad_clause => self.bad_piece(&item, body),
                            Rule::empty_clause => self.empty_clause(&item),
                            _ => items.extend(read(self, item).map(|value| At { value, span })),
                        }
                    }
                }
                Rule::missing_semicolon if !empty => self.missing_semicolon(&pair, &part),
                _ => {}
            }
        }
        if empty {
            self.report(Mistake::EmptyBody { header });
        }
        items
    }

    fn condition(&mut self, pair: Pair<'a, Rule>) -> Option<Condition> {
        let rule = pair.as_rule();
        let number = pair.clone().into_inner().find(|part| part.as_rule() == Rule::NUMBER);
        let last = pair.into_inner().last()?;
        Some(match rule {
            Rule::linux => Condition::Linux(self.version(&last)),
            Rule::smt => Condition::Smt,
            Rule::core_scheduling => Condition::CoreScheduling,
            Rule::cgroup_v2 => Condition::CgroupV2,
            Rule::floor => Condition::AtLeastCores(self.number(&number?)),
            Rule::host => Condition::Host(self.pattern(last)),
            _ => return None,
        })
    }

    fn knob(&mut self, pair: Pair<'a, Rule>) -> Option<Knob> {
        let rule = pair.as_rule();
        let name = pair.clone().into_inner().find(|part| part.as_rule() == Rule::NAME);
        let last = pair.into_inner().last()?;
        let on = last.as_str() == "on";
        Some(match rule {
            Rule::feature => Knob::Feature { name: self.name(&name?), on },
            Rule::rt_runtime => Knob::RtRuntime(self.percent(&last)),
            Rule::autogroup => Knob::Autogroup(on),
            _ => return None,
        })
    }

    fn version(&mut self, pair: &Pair<'a, Rule>) -> At<LinuxVersion> {
        let span = self.span(pair);
        let (major, minor) = pair.as_str().split_once('.').unwrap_or((pair.as_str(), "0"));
        let value = match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => LinuxVersion { major, minor },
            _ => {
                self.report(Mistake::NumberTooLarge { at: span, text: pair.as_str().to_owned() });
                LinuxVersion { major: 0, minor: 0 }
            }
        };
        At { value, span }
    }
}
