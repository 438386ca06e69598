//! What a plan requires of the host it is put in force on, and what it sets there for all.

use std::fmt;

use cotenant_grammar::tree::{At, Condition, Knob, LinuxVersion};
use cotenant_grammar::{Diagnostic, Span};

use super::{KeptClause, Means, Plan, Strength};
use crate::mistake::{HostMistake, Mistake};
use crate::selector::{Pattern, Scope};
use crate::topology::Topology;

/// A condition that a policy makes. A plan is only made for a machine whose shape meets what is asked of it; the rest is for
/// the host to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// At least this release.
    Linux(LinuxVersion),
    /// `PR_SCHED_CORE`.
    CoreScheduling,
    /// The unified hierarchy.
    CgroupV2,
    /// The host's name.
    Host(Pattern),
    /// Cores with more than one thread.
    Smt,
    /// At least so many cores.
    Cores(u32),
}

/// What is known of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The running kernel's release.
    pub linux: LinuxVersion,
    /// The name, as gethostname(2) gives it.
    pub name: String,
    /// Whether `PR_SCHED_CORE` is built in; on machines without SMT, whether it would be.
    pub core_scheduling: bool,
    /// Whether the unified hierarchy is mounted and has the cpuset controller.
    pub cgroup_v2: bool,
}

/// A condition that a host does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Where the policy requires it.
    pub span: Span,
    /// What is required and what there is, such as `requires linux 6.12, and this host runs 5.14`.
    pub reason: String,
}

/// A setting of the kernel, and what is promised for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSetting {
    /// The setting.
    pub knob: Knob,
    /// What it comes to.
    pub kept: KeptClause,
}

impl Plan {
    /// The conditions that a host does not meet, in the order of the policy. A plan with any must not be put in force.
    #[must_use]
    pub fn unmet(&self, host: &Host) -> Vec<Unmet> {
        let reason = |requirement: &Requirement| match requirement {
            Requirement::Linux(least) if host.linux < *least => Some(format!("this host runs {}", host.linux)),
            Requirement::CoreScheduling if !host.core_scheduling => Some("its kernel is built without it".to_owned()),
            Requirement::CgroupV2 if !host.cgroup_v2 => Some("this host does not offer it".to_owned()),
            Requirement::Host(name) if !name.matches(host.name.as_bytes()) => Some(format!("this is `{}`", host.name)),
            _ => None,
        };
        let unmet = |at: &At<Requirement>| {
            let reason = reason(&at.value)?;
            Some(Unmet { span: at.span, reason: format!("requires {}, and {reason}", at.value) })
        };
        self.requirements.iter().filter_map(unmet).collect()
    }
}

impl From<Unmet> for Diagnostic {
    fn from(unmet: Unmet) -> Diagnostic {
        HostMistake::UnmetOnHost { at: unmet.span, reason: unmet.reason }.into()
    }
}

impl fmt::Display for Requirement {
    /// As a policy writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requirement::Linux(version) => write!(f, "linux {version}"),
            Requirement::CoreScheduling => f.write_str("core scheduling"),
            Requirement::CgroupV2 => f.write_str("cgroup v2"),
            Requirement::Host(pattern) => write!(f, "host {pattern}"),
            Requirement::Smt => f.write_str("smt"),
            Requirement::Cores(1) => f.write_str("at least 1 core"),
            Requirement::Cores(least) => write!(f, "at least {least} cores"),
        }
    }
}

/// Answers what the machine's shape answers; the rest is for the host.
pub(super) fn requirements(
    conditions: Vec<At<Condition>>,
    topology: &Topology,
    report: &mut impl FnMut(Mistake),
) -> Vec<At<Requirement>> {
    let mut kept = Vec::new();
    for At { value, span } in conditions {
        let mut refuse =
            |what: String, has: String| report(HostMistake::RequirementUnmet { at: span, what, has }.into());
        let value = match value {
            Condition::Smt => {
                if !topology.has_smt() {
                    refuse("SMT".to_owned(), "one thread a core".to_owned());
                }
                Requirement::Smt
            }
            Condition::AtLeastCores(number) => {
                let has = topology.cores().len();
                if number.value as usize > has {
                    refuse(format!("{} cores", number.value), has.to_string());
                }
                Requirement::Cores(number.value)
            }
            Condition::Linux(version) => Requirement::Linux(version.value),
            Condition::CoreScheduling => Requirement::CoreScheduling,
            Condition::CgroupV2 => Requirement::CgroupV2,
            Condition::Host(name) => match Pattern::new(&name.value, Scope::Text) {
                _ if name.value.is_empty() => {
                    report(Mistake::EmptyPattern { at: name.span });
                    continue;
                }
                Ok(pattern) => Requirement::Host(pattern),
                Err(bad) => {
                    report(Mistake::BadGlob { at: name.span, reason: bad.to_string() });
                    continue;
                }
            },
        };
        kept.push(At { value, span });
    }
    kept
}

/// Every setting, none of which is carried out yet.
pub(super) fn kernel(knobs: Vec<At<Knob>>) -> Vec<KernelSetting> {
    let on_or_off = |on: bool| if on { "on" } else { "off" };
    let setting = |At { value: knob, span }| {
        let text = match &knob {
            Knob::Feature { name, on } => format!("feature {} {}", name.value, on_or_off(*on)),
            Knob::RtRuntime(share) => format!("rt runtime {}", share.value),
            Knob::Autogroup(on) => format!("autogroup {}", on_or_off(*on)),
        };
        let effect = "not carried out yet: the kernel's setting is left as it is".to_owned();
        let kept = KeptClause { text, span: Some(span), effect, means: Means::None, strength: Strength::Refused };
        KernelSetting { knob, kept }
    };
    knobs.into_iter().map(setting).collect()
}
