//! What a guest says of a run, in words such as `n=6`.

use std::collections::BTreeMap;

/// The words of a line by their keys.
#[derive(Debug)]
pub(crate) struct Record(BTreeMap<String, String>);

impl Record {
    pub(crate) fn of(line: &str) -> Record {
        let pairs = line.split(' ').filter_map(|word| word.split_once('='));
        Record(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    #[track_caller]
    pub(crate) fn text(&self, key: &str) -> &str {
        self.0.get(key).unwrap_or_else(|| panic!("the guest did not say `{key}`: {:?}", self.0))
    }

    #[track_caller]
    pub(crate) fn number(&self, key: &str) -> f64 {
        let text = self.text(key);
        text.parse().unwrap_or_else(|_| panic!("the guest said `{key}={text}`, which is no number"))
    }
}
