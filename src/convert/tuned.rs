//! TuneD profiles: the section `[scheduler]` of `tuned.conf`, as TuneD's plugin `plugin_scheduler.py` reads it.
//!
//! The plugin goes through its groups in the order of their first field, compared as text, and each takes what it matches
//! from those before it. In a policy the first class wins, so the order is turned around.

mod ini;
mod isolation;
mod regex;

use std::cmp::Reverse;
use std::collections::HashMap;

use cotenant_compiler::{CpuId, CpuSet};

use self::ini::{Entry, entries};
use self::isolation::{Isolation, isolation};
use super::rule::{Class, Kind, Line, Rule};
use super::words::{cpus, string};
use super::{EVERYBODY, Input};

/// Options of the plugin that say who runs where.
const PLACING: [&str; 3] = ["isolated_cores", "ps_whitelist", "ps_blacklist"];

/// One rule for each group, and one for every other option.
pub(crate) fn rules(inputs: &[Input]) -> Vec<Rule> {
    let (rules, last): (Vec<_>, Vec<_>) = inputs.iter().map(profile).unzip();
    rules.into_iter().chain(last).flatten().collect()
}

/// The rules of one profile, and those that come below all profiles' rules, because they take everybody.
fn profile(input: &Input) -> (Vec<Rule>, Vec<Rule>) {
    let (all, mut rules) = entries(input);
    let variables: HashMap<&str, &str> = all
        .iter()
        .filter(|entry| entry.section == "variables")
        .map(|entry| (entry.key.as_str(), entry.value.as_str()))
        .collect();
    let mut groups = Vec::new();
    let mut options: HashMap<String, (Line, String)> = HashMap::new();
    let mut sections = Vec::new();
    // A section of any name may be one of the plugin's.
    let typed = |entry: &Entry| entry.key == "type" && entry.value == "scheduler";
    let ours: Vec<&str> = all.iter().filter(|entry| typed(entry)).map(|entry| entry.section.as_str()).collect();
    for entry in all.iter().filter(|entry| entry.section != "variables" && !typed(entry)) {
        if entry.section == "main" && entry.key == "include" {
            let why = format!("include: what profile `{}` says; convert it, too", entry.value);
            rules.push(Rule::lost(entry.line.clone(), why));
            continue;
        }
        if entry.section != "scheduler" && !ours.contains(&entry.section.as_str()) {
            if !sections.contains(&entry.section) {
                sections.push(entry.section.clone());
                let why = format!("section [{}]: only [scheduler] says which processes run where", entry.section);
                rules.push(Rule::lost(entry.line.clone(), why));
            }
            continue;
        }
        match expanded(&entry.value, &variables) {
            Err(why) => rules.push(Rule::lost(entry.line.clone(), format!("{}: {why}", entry.key))),
            Ok(value) if entry.key.starts_with("group.") => groups.push((entry, value)),
            Ok(value) if PLACING.contains(&entry.key.as_str()) || entry.key.starts_with("cgroup.") => {
                options.insert(entry.key.clone(), (entry.line.clone(), value));
            }
            Ok(_) => rules.push(Rule::lost(entry.line.clone(), format!("{}: {}", entry.key, reason(&entry.key)))),
        }
    }
    let (rest, isolation) = isolation(&options);
    let mut groups: Vec<(String, Rule)> =
        groups.into_iter().map(|(entry, value)| group(entry, &value, &options, rest.as_ref())).collect();
    groups.reverse();
    groups.sort_by_key(|(priority, _)| Reverse(priority.clone()));
    rules.extend(groups.into_iter().map(|(_, rule)| rule));
    (rules, isolation)
}

fn reason(key: &str) -> &'static str {
    match key {
        "runtime" | "perf_mmap_pages" | "perf_process_fork" => {
            "how TuneD notices processes; `cotenant enforce` always does"
        }
        "default_irq_smp_affinity" | "irq_process" => "interrupts are not placed by policies",
        "cgroup_mount_point"
        | "cgroup_mount_point_init"
        | "cgroup_groups_init"
        | "cgroup_for_isolated_cores"
        | "cgroup_ps_blacklist" => "control groups are made and chosen by cotenant itself",
        key if key.starts_with("sched_") || key.starts_with("numa_balancing") => {
            "a setting of the whole kernel, not of processes"
        }
        _ => "no clause says this",
    }
}

/// The value with `${name}` filled in from the profile's own variables.
fn expanded(value: &str, variables: &HashMap<&str, &str>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("a `${` is not closed")?;
        // What a variable's value refers to is left unread, so that none can refer to itself.
        let known = variables.get(name).filter(|value| !value.contains("${"));
        out.push_str(before);
        out.push_str(known.ok_or_else(|| format!("the variable `{name}` has no plain value in this file"))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// A group as a rule, and its first field, by which the plugin sorts.
fn group(
    entry: &Entry,
    value: &str,
    options: &HashMap<String, (Line, String)>,
    rest: Option<&Isolation>,
) -> (String, Rule) {
    let line = entry.line.clone();
    let fields: Vec<&str> = value.splitn(5, ':').collect();
    let [priority, scheduler, prio, affinity, pattern] = fields.as_slice() else {
        let what = "a group has five fields: rule_prio:sched:prio:affinity:regex";
        return (String::new(), Rule::fault(line, what));
    };
    let mut lost = Vec::new();
    let processes = match regex::processes("exe", pattern) {
        Ok(processes) => processes,
        Err(why) => return ((*priority).to_owned(), Rule::lost(line, format!("the rule: regex `{pattern}`: {why}"))),
    };
    if processes != EVERYBODY {
        lost.push(
            "the regex was searched for in the whole command line; the class compares the executable alone".to_owned(),
        );
    }
    let (kind, mut clauses) = scheduling(scheduler, prio, &mut lost);
    match (*affinity, rest) {
        ("*", None) => {}
        ("*", Some(rest)) if rest.everybody => clauses.push(rest.clause.clone()),
        ("*", Some(rest)) => lost.push(format!(
            "isolated_cores: if ps_whitelist and ps_blacklist do not exempt these processes, add `{}`",
            rest.clause
        )),
        (affinity, _) => match named_cpus(affinity, options) {
            Some(cpus) => clauses.push(format!("on {cpus}")),
            None => {
                lost.push(format!("affinity `{affinity}`: not a mask of CPUs, such as `0f`, nor a cgroup defined here"))
            }
        },
    }
    let name = entry.key.trim_start_matches("group.").to_owned();
    ((*priority).to_owned(), Rule::of(line, Class { name, kind, processes, clauses }, lost))
}

fn scheduling(scheduler: &str, prio: &str, lost: &mut Vec<String>) -> (Kind, Vec<String>) {
    let number = prio.trim().parse::<i64>();
    let fair = (Kind::Fair, Vec::new());
    match (scheduler, number) {
        ("*", _) => {
            if prio != "*" {
                lost.push(format!("prio `{prio}`: it goes with f or r"));
            }
            fair
        }
        ("f" | "r", Ok(number)) => {
            let policy = if scheduler == "f" { "fifo" } else { "round robin" };
            (Kind::Rt, vec![policy.to_owned(), format!("priority {number}")])
        }
        ("f" | "r", Err(_)) => {
            lost.push(format!("sched `{scheduler}`: TuneD ignores it where the priority is `{prio}`"));
            fair
        }
        ("o" | "i", number) => {
            if number.is_ok_and(|number| number != 0) {
                lost.push(format!("prio `{prio}`: it goes with f or r"));
            }
            (if scheduler == "i" { Kind::Batch } else { Kind::Fair }, Vec::new())
        }
        ("b", _) => {
            lost.push("sched `b`: no class runs under SCHED_BATCH; `batch` would be SCHED_IDLE".to_owned());
            fair
        }
        _ => {
            lost.push(format!("sched `{scheduler}`: not one of f, r, o, b, i and *"));
            fair
        }
    }
}

/// CPUs by a mask in hexadecimal, as taskset(1) reads it, or by one of the profile's control groups.
fn named_cpus(affinity: &str, options: &HashMap<String, (Line, String)>) -> Option<String> {
    if let Some((_, list)) = options.get(affinity) {
        return cpus(&list.parse().ok()?);
    }
    let digits = affinity.trim().trim_start_matches("0x").replace(',', "");
    let mut set = CpuSet::new();
    for (place, digit) in (0_u32..).zip(digits.chars().rev()) {
        let digit = digit.to_digit(16)?;
        (0..4).filter(|bit| digit >> bit & 1 == 1).for_each(|bit| set.insert(CpuId(place * 4 + bit)));
    }
    cpus(&set)
}

/// A comparison with a text that anything may stand before or behind.
fn comparison(field: &str, glob: &str) -> String {
    format!("{field} {}", string(glob))
}
