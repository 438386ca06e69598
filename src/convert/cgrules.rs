//! `cgrules.conf` of libcgroup: who goes into which control group. See cgrules.conf(5).
//!
//! The first rule that matches wins, as in a policy. Where its group may run stands in another file, cgconfig.conf(5), in
//! which [`groups`] looks it up.

pub(super) mod cgconfig;
mod groups;

use std::collections::HashMap;

use self::groups::Effect;
pub(crate) use self::groups::Groups;
use super::Input;
use super::rule::{Class, Kind, Line, Rule};
use super::words::{literal, string};

/// A rule with its `%` lines.
struct Raw {
    lines: Vec<Line>,
    user: String,
    process: Option<String>,
    /// Controllers and the group, of each line.
    targets: Vec<(String, String)>,
    options: Vec<String>,
}

/// One rule for each rule of the files, and for each line that is wrong. Without a cgconfig.conf no group is known.
pub(crate) fn rules(inputs: &[Input], groups: Option<&Groups>) -> Vec<Rule> {
    let mut faults = Vec::new();
    let mut raw: Vec<Raw> = Vec::new();
    for line in inputs.iter().flat_map(Input::lines) {
        let text = line.text.clone();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            ["%", controllers, group, ..] => match raw.last_mut() {
                Some(above) => {
                    above.targets.push(((*controllers).to_owned(), (*group).to_owned()));
                    above.lines.push(line);
                }
                None => faults.push(Rule::fault(line, "`%` continues the rule above, and there is none")),
            },
            [who, controllers, group, options @ ..] => {
                let (user, process) = who.split_once(':').map_or((*who, None), |(user, process)| (user, Some(process)));
                let options = options.iter().flat_map(|it| it.split(',')).map(str::to_owned).collect();
                raw.push(Raw {
                    lines: vec![line],
                    user: user.to_owned(),
                    process: process.filter(|it| !it.is_empty()).map(str::to_owned),
                    targets: vec![((*controllers).to_owned(), (*group).to_owned())],
                    options,
                });
            }
            _ => faults.push(Rule::fault(line, "a rule has three parts: user, controllers, destination")),
        }
    }
    // What a group limits it limits for all of its rules together.
    let mut uses: HashMap<String, usize> = HashMap::new();
    raw.iter().flat_map(|raw| &raw.targets).for_each(|(_, group)| *uses.entry(group.clone()).or_default() += 1);
    faults.into_iter().chain(raw.into_iter().map(|raw| rule(raw, groups, &uses))).collect()
}

fn rule(raw: Raw, groups: Option<&Groups>, uses: &HashMap<String, usize>) -> Rule {
    let mut lost = Vec::new();
    let processes = processes(&raw, &mut lost);
    let ignored = raw.options.iter().any(|option| option == "ignore");
    for option in raw.options.iter().filter(|option| *option != "ignore") {
        lost.push(format!("option `{option}`: no clause says this"));
    }
    let mut clauses: Vec<String> = Vec::new();
    for (controllers, group) in raw.targets.iter().filter(|_| !ignored) {
        let Some(groups) = groups else {
            lost.push(format!("group `{group}`: its CPUs stand in cgconfig.conf; name it with --cgconfig"));
            continue;
        };
        let Effect { clauses: more, lost: also, shared } = groups.effect(controllers, group);
        if !shared.is_empty() && (group.contains('%') || uses.get(group).is_some_and(|uses| *uses > 1)) {
            let limits = shared.join(" and ");
            lost.push(format!(
                "{limits}: group `{group}` had it for all its members together, and now each class has its own"
            ));
        }
        clauses.extend(more);
        lost.extend(also);
    }
    let name = match (&raw.process, raw.user.trim_start_matches('@')) {
        (Some(process), "*") => last_part(process).to_owned(),
        (Some(process), user) => format!("{user}-{}", last_part(process)),
        (None, "*") => "everybody".to_owned(),
        (None, user) => user.to_owned(),
    };
    let kind = if ignored { Kind::Unmanaged } else { Kind::Fair };
    let class = Class { name, kind, processes, clauses };
    Rule { lines: raw.lines, class: Some(class), lost, fault: false, refused: false }
}

fn processes(raw: &Raw, lost: &mut Vec<String>) -> String {
    let who = match raw.user.strip_prefix('@') {
        Some(group) => {
            lost.push(format!(
                "members that /etc/group lists: `group {group}` is the effective group, and who is only listed has another"
            ));
            Some(format!("group {}", string(group)))
        }
        None if raw.user == "*" => None,
        None => Some(format!("user {}", string(&raw.user))),
    };
    // A `*` at the end is libcgroup's only wildcard.
    let program = raw.process.as_deref().map(|process| match process.strip_suffix('*') {
        Some(start) => format!("exe {}", string(&format!("{}*", literal(start)))),
        None => format!("exe {}", string(&literal(process))),
    });
    match (who, program) {
        (Some(who), Some(program)) => format!("{who} and {program}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => super::EVERYBODY.to_owned(),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
