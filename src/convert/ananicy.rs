//! Rule files of ananicy and ananicy-cpp: one JSON object a line, `#` before a comment.
//!
//! A rule names a program and may name a type, whose fields it takes over where it has none of its own. Types and groups
//! may stand in any file, before or after they are named. Of several definitions of a name the last one holds.

mod record;

use std::collections::HashMap;

use serde_json::{Map, Value};

use self::record::{Record, records};
use super::Input;
use super::rule::{Class, Kind, Line, Rule};
use super::words::{literal, string};

/// Fields that say who is meant or how it is called.
const NAMES: [&str; 3] = ["name", "type", "cgroup"];

/// Fields that are not about CPUs, and what sets them instead.
const ELSEWHERE: [(&str, &str); 4] = [
    ("ioclass", "not a matter of CPUs; `IOSchedulingClass=` of a unit sets it"),
    ("ionice", "not a matter of CPUs; `IOSchedulingPriority=` of a unit sets it"),
    ("oom_score_adj", "not a matter of CPUs; `OOMScoreAdjust=` of a unit sets it"),
    ("latency_nice", "Linux has no such attribute; `slice` is the nearest there is"),
];

/// One rule for each line that names a program, and for each that is wrong.
pub(crate) fn rules(inputs: &[Input]) -> Vec<Rule> {
    let (mut types, mut groups, mut programs, mut faults) = (HashMap::new(), HashMap::new(), Vec::new(), Vec::new());
    for record in inputs.iter().flat_map(records) {
        let Record { line, fields } = record;
        match fields {
            Err(what) => faults.push(Rule::fault(line, what)),
            Ok(fields) if fields.contains_key("name") => programs.push((line, fields)),
            Ok(fields) => match (text(&fields, "type"), text(&fields, "cgroup")) {
                (Some(name), _) => drop(types.insert(name, fields)),
                (None, Some(name)) => drop(groups.insert(name, fields)),
                (None, None) => faults.push(Rule::fault(line, "none of `name`, `type` and `cgroup` is in it")),
            },
        }
    }
    // Of several rules for a program only the last is in force.
    let last: HashMap<String, (usize, String)> = programs
        .iter()
        .enumerate()
        .filter_map(|(at, (line, fields))| {
            Some((text(fields, "name")?, (at, format!("{}:{}", line.file, line.number))))
        })
        .collect();
    let programs = programs.into_iter().enumerate().map(|(at, (line, fields))| match text(&fields, "name") {
        None => Rule::fault(line, "`name` is not a text"),
        Some(name) if name.is_empty() => Rule::fault(line, "`name` is empty"),
        Some(name) => match last.get(&name) {
            Some((other, place)) if *other != at => Rule::lost(
                line,
                format!("the rule: {} is defined again at {place}, and the last one holds", quoted(&name)),
            ),
            _ => rule(line, &name, &fields, &types, &groups),
        },
    });
    faults.into_iter().chain(programs).collect()
}

type Known = HashMap<String, Map<String, Value>>;

fn rule(line: Line, name: &str, own: &Map<String, Value>, types: &Known, groups: &Known) -> Rule {
    let mut lost = Vec::new();
    let mut fields = own.clone();
    if own.contains_key("type") {
        match text(own, "type").and_then(|name| types.get(&name)) {
            Some(inherited) => inherited.iter().for_each(|(key, value)| {
                fields.entry(key.clone()).or_insert_with(|| value.clone());
            }),
            None => lost
                .push(format!("type {}: defined in none of the files given", own.get("type").unwrap_or(&Value::Null))),
        }
    }
    let kind = kind(&fields, &mut lost);
    let mut clauses = scheduling(&fields, kind, &mut lost);
    clauses.extend(ceiling(&fields, groups, &mut lost));
    for (key, value) in &fields {
        if let Some((_, why)) = ELSEWHERE.iter().find(|(other, _)| other == key) {
            lost.push(format!("{key} {value}: {why}"));
        } else if !NAMES.contains(&key.as_str()) && !["sched", "nice", "rtprio"].contains(&key.as_str()) {
            lost.push(format!("{} {value}: the field is not known", quoted(key)));
        }
    }
    // The daemons compare the last part of the executable, and Wine runs every program in one of its own.
    let field = if name.to_lowercase().ends_with(".exe") { "script" } else { "exe" };
    let processes = format!("{field} {}", string(&literal(name)));
    Rule::of(line, Class { name: name.to_owned(), kind, processes, clauses }, lost)
}

fn kind(fields: &Map<String, Value>, lost: &mut Vec<String>) -> Kind {
    match fields.get("sched").map(|value| value.as_str().unwrap_or_default()) {
        None => Kind::Fair,
        Some("fifo" | "rr") => Kind::Rt,
        Some("idle") => Kind::Batch,
        Some("other" | "normal") => Kind::Fair,
        Some("batch") => {
            lost.push("sched batch: no class runs under SCHED_BATCH; `batch` would be SCHED_IDLE".to_owned());
            Kind::Fair
        }
        Some(_) => {
            let value = fields.get("sched").unwrap_or(&Value::Null);
            lost.push(format!("sched {value}: not one of fifo, rr, idle, batch and other"));
            Kind::Fair
        }
    }
}

/// The clauses that say how, as far as they fit the kind.
fn scheduling(fields: &Map<String, Value>, kind: Kind, lost: &mut Vec<String>) -> Vec<String> {
    let mut clauses = Vec::new();
    if kind == Kind::Rt {
        clauses.push(if text(fields, "sched").as_deref() == Some("fifo") { "fifo" } else { "round robin" }.to_owned());
    }
    for (key, fits, clause) in [("rtprio", Kind::Rt, "priority"), ("nice", Kind::Fair, "nice")] {
        match (fields.get(key), fields.get(key).and_then(number)) {
            (None, _) => {}
            (Some(value), None) => lost.push(format!("{key} {value}: not a whole number")),
            (Some(_), Some(number)) if fits == kind => clauses.push(format!("{clause} {number}")),
            (Some(value), _) if kind == Kind::Fair => lost.push(format!("{key} {value}: it needs sched fifo or rr")),
            (Some(value), _) => {
                lost.push(format!("{key} {value}: it has no effect under the policy that sched asks for"))
            }
        }
    }
    clauses
}

/// The ceiling that the group sets. `CPUQuota` is a share of all CPUs, in percent.
fn ceiling(fields: &Map<String, Value>, groups: &Known, lost: &mut Vec<String>) -> Option<String> {
    let value = fields.get("cgroup")?;
    let Some(group) = value.as_str().and_then(|name| groups.get(name)) else {
        lost.push(format!("cgroup {value}: defined in none of the files given"));
        return None;
    };
    for (key, other) in group.iter().filter(|(key, _)| !["cgroup", "CPUQuota"].contains(&key.as_str())) {
        lost.push(format!("{} {other} of cgroup {value}: the field is not known", quoted(key)));
    }
    let quota = group.get("CPUQuota")?;
    match quota.as_f64() {
        Some(percent) if percent >= 100.0 => None,
        Some(percent) if percent > 0.0 => {
            lost.push(format!(
                "CPUQuota {quota} of cgroup {value}: it was a share of the time, for all of the group together; \
                 it is now one of the cores, for this class"
            ));
            Some(format!("at most {percent}% of cores"))
        }
        _ => {
            lost.push(format!("CPUQuota {quota} of cgroup {value}: not a share from 1 to 100"));
            None
        }
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}

/// A whole number; rule files write some of them as texts.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
