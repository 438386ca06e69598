//! A policy between the questions that need no machine and those that do.

use cotenant_grammar::{Diagnostics, SourceSet};

use crate::plan::Facilities;
use crate::policy::{self, Policy};
use crate::topology::Topology;
use crate::{Plan, lints, plan, resolve};

/// A policy that was read and checked as far as no machine is needed: what one check of a fleet shares.
#[derive(Debug, Clone)]
pub struct Checked {
    policy: Policy,
    /// What the lints ask each machine.
    asked: lints::ForMachine,
    diagnostics: Diagnostics,
}

/// Reads and checks a policy, without regard to any machine.
#[must_use]
pub fn check(sources: SourceSet) -> Checked {
    let (parsed, mut diagnostics) = cotenant_grammar::parse(sources);
    lints::on_text(&parsed, &mut diagnostics);
    let resolved = resolve::resolve(parsed, &mut diagnostics);
    let policy = policy::check(resolved, &mut diagnostics);
    let asked = lints::on_policy(&policy, &mut diagnostics);
    Checked { policy, asked, diagnostics }
}

impl Checked {
    /// What there is to say about the text on every machine, in the order in which it was found.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Plans it for a machine: a plan unless there is an error, here or on every machine, and what there is to say about
    /// the text on this machine in addition to [`Checked::diagnostics`].
    #[must_use]
    pub fn plan(&self, topology: &Topology, facilities: Facilities) -> (Option<Plan>, Diagnostics) {
        self.clone().plan_apart(topology, facilities)
    }

    /// Plans it for the only machine that is asked about, and says everything there is to say, ordered by place.
    #[must_use]
    pub fn into_plan(self, topology: &Topology, facilities: Facilities) -> (Option<Plan>, Diagnostics) {
        let mut diagnostics = self.diagnostics.clone();
        let (plan, more) = self.plan_apart(topology, facilities);
        diagnostics.extend(more);
        diagnostics.sort();
        (plan, diagnostics)
    }

    fn plan_apart(self, topology: &Topology, facilities: Facilities) -> (Option<Plan>, Diagnostics) {
        let mut here = Diagnostics::default();
        let sound = !self.diagnostics.has_errors();
        let plan = plan::plan(self.policy, topology, facilities, sound, &mut here);
        lints::on_machine(&self.asked, plan.as_ref(), topology, &mut here);
        let refused = self.diagnostics.has_errors() || here.has_errors();
        (plan.filter(|_| !refused), here)
    }
}
