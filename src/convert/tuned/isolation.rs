//! `isolated_cores`: CPUs that everybody is to leave, but for groups that name them.

use std::collections::HashMap;

use cotenant_compiler::CpuSet;

use super::{PLACING, regex};
use crate::convert::EVERYBODY;
use crate::convert::rule::{Class, Kind, Line, Rule};
use crate::convert::words::cpus;

/// What `isolated_cores` means for groups that name no CPUs of their own.
pub(super) struct Isolation {
    pub(super) clause: String,
    /// Whether it holds for all of them, there being no lists of whom to leave alone.
    pub(super) everybody: bool,
}

/// The same for whom no group takes: the last class. And what is to be said where there is none.
pub(super) fn isolation(options: &HashMap<String, (Line, String)>) -> (Option<Isolation>, Vec<Rule>) {
    let Some((line, value)) = options.get("isolated_cores") else {
        let lonely = PLACING.iter().filter_map(|key| options.get(*key).map(|(line, _)| (key, line)));
        let lost = lonely.map(|(key, line)| Rule::lost(line.clone(), format!("{key}: it goes with isolated_cores")));
        return (None, lost.collect());
    };
    let Some(isolated) = value.parse::<CpuSet>().ok().as_ref().and_then(cpus) else {
        return (None, vec![Rule::fault(line.clone(), format!("isolated_cores: `{value}` is not a list of CPUs"))]);
    };
    let clause = format!("on all except ({isolated})");
    let mut processes = EVERYBODY.to_owned();
    let mut rule = Rule { lines: vec![line.clone()], class: None, lost: Vec::new(), fault: false, refused: false };
    for (key, word) in [("ps_whitelist", "and"), ("ps_blacklist", "and not")] {
        let Some((line, value)) = options.get(key) else { continue };
        rule.lines.push(line.clone());
        // The plugin separates expressions by `;`.
        let parts = value.split(';').filter(|it| !it.is_empty()).map(|it| regex::processes("comm", it));
        match parts.collect::<Result<Vec<String>, String>>() {
            Ok(parts) if parts.is_empty() => {}
            Ok(parts) => processes.push_str(&format!(" {word} ({})", parts.join(" or "))),
            Err(why) => rule.lost.push(format!("isolated_cores: {key} `{value}`: {why}")),
        }
    }
    let everybody = rule.lines.len() == 1;
    // Without a list that cannot be said the class would take processes that it was to leave alone.
    if rule.lost.is_empty() {
        let name = "not-isolated".to_owned();
        rule.class = Some(Class { name, kind: Kind::Fair, processes, clauses: vec![clause.clone()] });
    }
    (Some(Isolation { clause, everybody }), vec![rule])
}
