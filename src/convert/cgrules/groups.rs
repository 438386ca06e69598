//! What the control groups of `cgconfig.conf` come to as clauses.

use std::collections::HashMap;

use cotenant_compiler::CpuSet;

use super::cgconfig::settings;
use crate::convert::Input;
use crate::convert::rule::Line;
use crate::convert::words::cpus;

/// The period of a quota that is not given, in microseconds; see "CFS Bandwidth Control" of the kernel's documents.
const USUAL_PERIOD: f64 = 100_000.0;

/// `cpu.shares` of a group that nobody touched, where `cpu.weight` is 100.
const USUAL_SHARES: f64 = 1024.0;

/// Settings of groups and templates, by the group's path.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Keys, values and their controllers in the order of the file.
    by_path: HashMap<String, Vec<(String, String, String)>>,
    /// What is wrong with the file, and where.
    pub(crate) faults: Vec<(Line, String)>,
}

/// What a group does to its members.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) clauses: Vec<String>,
    pub(super) lost: Vec<String>,
    /// Clauses among them that limit all members together.
    pub(super) shared: Vec<String>,
}

impl Groups {
    /// Reads a cgconfig.conf.
    pub(crate) fn read(input: &Input) -> Groups {
        let (settings, faults) = settings(input);
        let mut groups = Groups { faults, ..Groups::default() };
        for setting in settings {
            let Some([word, path]) = setting.blocks.first().map(Vec::as_slice) else { continue };
            if word != "group" && word != "template" {
                continue;
            }
            let known = groups.by_path.entry(trimmed(path).to_owned()).or_default();
            // Deeper blocks are `perm`, whose settings are not the group's.
            if let ([_, controller], false) = (setting.blocks.as_slice(), setting.key.is_empty()) {
                known.push((controller.join(" "), setting.key, setting.value));
            }
        }
        groups
    }

    /// What the group's settings of these controllers (separated by commas, `*` for all) come to.
    pub(super) fn effect(&self, controllers: &str, group: &str) -> Effect {
        let mut effect = Effect::default();
        let Some(settings) = self.by_path.get(trimmed(group)) else {
            effect.lost.push(format!("group `{group}`: the file that --cgconfig names does not define it"));
            return effect;
        };
        let asked = |controller: &str| controllers.split(',').any(|it| it == "*" || it == controller);
        let settings: Vec<_> = settings.iter().filter(|(controller, ..)| asked(controller)).collect();
        let period = settings.iter().rev().find(|(_, key, _)| key == "cpu.cfs_period_us");
        let period = period.and_then(|(.., value)| number(value)).unwrap_or(USUAL_PERIOD);
        for (_, key, value) in settings {
            effect.add(key, value, period);
        }
        if effect.clauses.is_empty() && effect.lost.is_empty() {
            effect.lost.push(format!("group `{group}`: it sets nothing for `{controllers}`"));
        }
        effect
    }
}

impl Effect {
    fn add(&mut self, key: &str, value: &str, period: f64) {
        let lose = |why: &str| format!("{key} = {value}: {why}");
        match key {
            "cpuset.cpus" => match value.parse::<CpuSet>().ok().as_ref().and_then(cpus) {
                Some(cpus) => self.clauses.push(format!("on {cpus}")),
                None => self.lost.push(lose("not a list of CPUs")),
            },
            "cpu.shares" | "cpu.weight" => match number(value) {
                Some(number) => {
                    let scale = if key == "cpu.shares" { 100.0 / USUAL_SHARES } else { 1.0 };
                    self.limit(format!("weight {}", (number * scale).round().clamp(1.0, 10_000.0)));
                }
                None => self.lost.push(lose("not a number")),
            },
            "cpu.cfs_quota_us" => match number(value) {
                Some(quota) if quota > 0.0 => self.quota(quota, period),
                Some(_) => {}
                None => self.lost.push(lose("not a number")),
            },
            "cpu.cfs_period_us" => {}
            "cpu.max" => match value.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["max", ..] => {}
                [quota, rest @ ..] => match (number(quota), rest.first().map_or(Some(USUAL_PERIOD), |it| number(it))) {
                    (Some(quota), Some(period)) => self.quota(quota, period),
                    _ => self.lost.push(lose("not a quota and a period")),
                },
                [] => self.lost.push(lose("not a quota and a period")),
            },
            "cpuset.mems" => self.lost.push(lose("where memory comes from is not a matter of CPUs")),
            _ => self.lost.push(lose("no clause says this")),
        }
    }

    fn quota(&mut self, quota: f64, period: f64) {
        // A policy takes hundredths; less than the least is refused there.
        self.limit(format!("quota {} cpus", (quota / period * 100.0).round() / 100.0));
    }

    fn limit(&mut self, clause: String) {
        self.shared.push(format!("`{clause}`"));
        self.clauses.push(clause);
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn trimmed(path: &str) -> &str {
    path.trim_matches('/')
}
