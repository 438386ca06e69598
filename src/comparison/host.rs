//! What a policy asks of the host and what it sets there for all, each under a heading by which two policies are compared.

use cotenant_compiler::Plan;
use cotenant_compiler::plan::Requirement;
use cotenant_grammar::tree::Knob;

use super::Change;
use super::aspects::{Aspect, aspect, differences};

/// Other conditions on the host.
pub(super) fn requirements(old: &Plan, new: &Plan) -> Vec<Change> {
    differences(&required(old), &required(new))
}

/// Other settings of the kernel.
pub(super) fn kernel(old: &Plan, new: &Plan) -> Vec<Change> {
    differences(&set(old), &set(new))
}

fn required(plan: &Plan) -> Vec<Aspect> {
    let mut all: Vec<Aspect> = Vec::new();
    for required in &plan.requirements {
        let (what, text) = match &required.value {
            Requirement::Linux(least) => ("linux", least.to_string()),
            Requirement::CoreScheduling => ("core scheduling", "required".to_owned()),
            Requirement::CgroupV2 => ("cgroup v2", "required".to_owned()),
            Requirement::Host(pattern) => ("host", pattern.to_string()),
            Requirement::Smt => ("smt", "required".to_owned()),
            Requirement::Cores(least) => ("cores", format!("at least {least}")),
        };
        // A condition may be made more than once, and each must be met.
        match all.iter_mut().find(|it| it.what == what) {
            Some(known) if known.text == text => {}
            Some(known) => known.text.push_str(&format!(" and {text}")),
            None => all.push(aspect(what, text)),
        }
    }
    all
}

fn set(plan: &Plan) -> Vec<Aspect> {
    let on_or_off = |on: bool| if on { "on" } else { "off" };
    let setting = |knob: &Knob| match knob {
        Knob::Feature { name, on } => aspect(format!("feature {}", name.value), on_or_off(*on)),
        Knob::RtRuntime(share) => aspect("rt runtime", share.value.to_string()),
        Knob::Autogroup(on) => aspect("autogroup", on_or_off(*on)),
    };
    plan.kernel.iter().map(|it| setting(&it.knob)).collect()
}
