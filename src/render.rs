//! Everything a user reads: diagnostics, plans, machines and pages, each in its formats.

mod counted;
mod cpus;
mod diff;
mod diff_json;
mod explain;
mod github;
mod human;
mod json;
mod metrics;
mod place;
mod plan;
mod plan_json;
mod printable;
mod probe;
mod reload;
mod sarif;
mod short;
mod snippets;
mod status;
mod status_json;
mod summary;
mod svg;
mod table;
mod topology;
mod topology_json;
mod watch;
mod why;
mod why_json;

pub(crate) use diff::diff;
pub(crate) use diff_json::diff_json;
pub(crate) use explain::{codes, hint, page};
pub(crate) use github::github;
pub(crate) use human::human;
pub(crate) use json::json;
pub(crate) use metrics::metrics;
pub(crate) use plan::{gate, plan, scheduling, tiers};
pub(crate) use plan_json::plan_json;
pub(crate) use printable::{one_line, printable};
pub(crate) use probe::{probe, probe_json, probe_svg};
pub(crate) use reload::{ReloadOutcome, reloaded};
pub(crate) use sarif::sarif;
pub(crate) use short::short;
pub(crate) use status::status;
pub(crate) use status_json::status_json;
pub(crate) use summary::{found, passed};
pub(crate) use svg::plan_svg;
pub(crate) use topology::topology;
pub(crate) use topology_json::{Machine, topology_json};
pub(crate) use watch::{Gaze, Key, Scene, draw};
pub(crate) use why::why;
pub(crate) use why_json::{Answer, Enforced, Fields, Reason, Site, Tried, story_json, why_json};

/// The version of every JSON document this program writes. It changes when a field is removed or comes to mean something
/// else; added fields leave it alone.
pub(crate) const SCHEMA_VERSION: u32 = 1;
