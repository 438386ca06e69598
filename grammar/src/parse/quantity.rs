//! Numbers, with and without units.

use pest::iterators::Pair;

use super::{Reader, Rule};
use crate::mistake::Mistake;
use crate::tree::{At, Duration, Percent, Quota, decimal};

impl Reader<'_> {
    /// A pair's text as a number, reported where it does not fit the type.
    pub(super) fn number<N: std::str::FromStr + Default>(&mut self, pair: &Pair<'_, Rule>) -> At<N> {
        let value = pair.as_str().parse().ok();
        self.or_too_large(pair, value).map(Option::unwrap_or_default)
    }

    /// `500us`, `10ms`, `1.5s`
    pub(super) fn duration(&mut self, pair: &Pair<'_, Rule>) -> At<Duration> {
        let text = pair.as_str();
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let digits = match text.get(number.len()..) {
            Some("us") => 3,
            Some("ms") => 6,
            _ => 9,
        };
        self.or_too_large(pair, decimal(number, digits)).map(|value| Duration(value.unwrap_or_default()))
    }

    /// `30%`
    pub(super) fn percent(&mut self, pair: &Pair<'_, Rule>) -> At<Percent> {
        let value = decimal(pair.as_str().trim_end_matches('%'), 2);
        self.or_too_large(pair, value).map(|value| Percent(value.unwrap_or_default()))
    }

    /// The 2.5 of `2.5 cpus`
    pub(super) fn quota(&mut self, pair: &Pair<'_, Rule>) -> At<Quota> {
        self.or_too_large(pair, decimal(pair.as_str(), 3)).map(|value| Quota(value.unwrap_or_default()))
    }

    /// Reports a number that does not fit.
    fn or_too_large<N>(&mut self, pair: &Pair<'_, Rule>, value: Option<N>) -> At<Option<N>> {
        let span = self.span(pair);
        if value.is_none() {
            self.report(Mistake::NumberTooLarge { at: span, text: pair.as_str().to_owned() });
        }
        At { value, span }
    }
}
