//! What a policy asks of the host and what it sets there for all, as values.

use cotenant_compiler::plan::{KernelSetting, Requirement};
use cotenant_grammar::SourceSet;
use cotenant_grammar::tree::{At, Knob};
use serde::Serialize;

use super::demands::percent;
use super::{Clause, clause};
use crate::render::place::Place;

/// One condition; null is what it does not speak of.
#[derive(Serialize)]
pub(super) struct Required<'a> {
    /// `linux`, `core scheduling`, `cgroup v2`, `host`, `smt` or `cores`.
    what: &'static str,
    /// The oldest release.
    linux: Option<Release>,
    /// The pattern of the host's name, as a policy writes it.
    host: Option<String>,
    /// For `cores`.
    least_cores: Option<u32>,
    source: Place<'a>,
}

/// The first two numbers of a release.
#[derive(Serialize)]
struct Release {
    major: u32,
    minor: u32,
}

/// One setting, and what is promised for it.
#[derive(Serialize)]
pub(super) struct Setting<'a> {
    /// `feature`, `rt runtime` or `autogroup`.
    knob: &'static str,
    /// The scheduler's name for the feature; null for the others.
    feature: Option<&'a str>,
    /// Null for `rt runtime`.
    on: Option<bool>,
    /// Null for the others.
    rt_runtime_percent: Option<f64>,
    #[serde(flatten)]
    kept: Clause<'a>,
}

pub(super) fn required<'a>(required: &At<Requirement>, sources: &'a SourceSet) -> Required<'a> {
    let (mut linux, mut host, mut least_cores) = (None, None, None);
    let what = match &required.value {
        Requirement::Linux(least) => {
            linux = Some(Release { major: least.major, minor: least.minor });
            "linux"
        }
        Requirement::Host(pattern) => {
            host = Some(pattern.to_string());
            "host"
        }
        Requirement::Cores(least) => {
            least_cores = Some(*least);
            "cores"
        }
        Requirement::CoreScheduling => "core scheduling",
        Requirement::CgroupV2 => "cgroup v2",
        Requirement::Smt => "smt",
    };
    Required { what, linux, host, least_cores, source: Place::new(required.span, sources) }
}

pub(super) fn setting<'a>(setting: &'a KernelSetting, sources: &'a SourceSet) -> Setting<'a> {
    let (knob, feature, on, rt_runtime_percent) = match &setting.knob {
        Knob::Feature { name, on } => ("feature", Some(name.value.as_str()), Some(*on), None),
        Knob::RtRuntime(share) => ("rt runtime", None, None, Some(percent(share.value))),
        Knob::Autogroup(on) => ("autogroup", None, Some(*on), None),
    };
    Setting { knob, feature, on, rt_runtime_percent, kept: clause(&setting.kept, sources) }
}
