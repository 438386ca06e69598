//! What a check of several machines found: each finding once, with the machines it holds on.

use std::collections::BTreeMap;

use cotenant_compiler::plan::Facilities;
use cotenant_compiler::topology::Topology;
use cotenant_compiler::{Checked, Plan};
use cotenant_grammar::{Code, Diagnostic, Diagnostics, Span};

use crate::fleet::Host;

/// Machines named in a sentence; of more, some are named and all counted.
const MOST_NAMED: usize = 4;

/// A finding and where it holds.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) diagnostic: Diagnostic,
    /// Machines it holds on, by position in the fleet; absent where that is all of them.
    on: Option<Vec<usize>>,
}

/// Everything one check found, ordered by place.
#[derive(Debug)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    fleet: Vec<String>,
    /// Machines the policy is refused on.
    pub(crate) refused: usize,
    /// Classes of the policy, where it compiles on any machine.
    pub(crate) classes: Option<usize>,
}

impl Findings {
    /// Checks a policy against every machine. What needs no machine was asked once, and equal machines are asked once.
    /// `here` is what only the machine this program runs on can tell, and `facilities` what it has; they are asked where that is
    /// one of them. `noted` is what else is to be said of a plan.
    pub(crate) fn of(
        checked: &Checked,
        hosts: &[Host],
        here: impl Fn() -> Diagnostics,
        facilities: impl Fn(&Topology) -> Facilities,
        noted: impl Fn(&Plan) -> Diagnostics,
    ) -> Findings {
        let mut seen = Merged::default();
        // Classes of the plan, where there is one, machine by machine.
        let mut plans: Vec<Option<usize>> = Vec::new();
        for (at, host) in hosts.iter().enumerate() {
            let equal = hosts.iter().take(at).position(|it| !it.live && !host.live && it.topology == host.topology);
            let known = equal.and_then(|equal| Some((equal, *plans.get(equal)?)));
            plans.push(match known {
                Some((equal, classes)) => {
                    seen.repeat(equal, at);
                    classes
                }
                None => {
                    let facilities = if host.live { facilities(&host.topology) } else { Facilities::default() };
                    let (plan, found) = checked.plan(&host.topology, facilities);
                    found.iter().for_each(|diagnostic| seen.add(diagnostic, at));
                    if let Some(plan) = &plan {
                        noted(plan).iter().for_each(|diagnostic| seen.add(diagnostic, at));
                    }
                    plan.map(|plan| plan.classes.len())
                }
            });
            if host.live {
                here().iter().for_each(|diagnostic| seen.add(diagnostic, at));
            }
        }
        let everywhere = checked.diagnostics().iter().map(|it| Finding { diagnostic: it.clone(), on: None });
        let mut list: Vec<Finding> = everywhere.chain(seen.finish(hosts.len())).collect();
        list.sort_by_key(|finding| finding.diagnostic.primary.span);
        Findings {
            list,
            fleet: hosts.iter().map(|host| host.name.clone()).collect(),
            refused: plans.iter().filter(|classes| classes.is_none()).count(),
            classes: plans.iter().find_map(|classes| *classes),
        }
    }

    /// The findings.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.list.iter()
    }

    /// How many machines were asked about.
    pub(crate) fn machines(&self) -> usize {
        self.fleet.len()
    }

    /// The machines a finding holds on; absent where that is all of them.
    pub(crate) fn names<'a>(&'a self, finding: &Finding) -> Option<Vec<&'a str>> {
        let on = finding.on.as_ref()?;
        Some(on.iter().filter_map(|at| self.fleet.get(*at)).map(String::as_str).collect())
    }

    /// What a finding says, and on which machines it holds where that is not all of them.
    pub(crate) fn message(&self, finding: &Finding) -> String {
        let message = &finding.diagnostic.message;
        match self.names(finding) {
            Some(names) => format!("{message} ({})", on(&names, self.fleet.len())),
            None => message.clone(),
        }
    }

    /// The findings with the machines in the message, for formats that are sentences.
    pub(crate) fn said(&self) -> Diagnostics {
        let mut said = Diagnostics::default();
        for finding in &self.list {
            said.push(Diagnostic { message: self.message(finding), ..finding.diagnostic.clone() });
        }
        said
    }
}

/// `on machines a.xml, b.xml`, or `on 12 of 100 machines: a.xml, b.xml, c.xml, d.xml, …`.
fn on(names: &[&str], all: usize) -> String {
    match names {
        [one] => format!("on machine {one}"),
        few if few.len() <= MOST_NAMED => format!("on machines {}", few.join(", ")),
        many => {
            let named: Vec<&str> = many.iter().copied().take(MOST_NAMED).collect();
            format!("on {} of {all} machines: {}, …", many.len(), named.join(", "))
        }
    }
}

/// Equal diagnostics of several machines, joined.
#[derive(Default)]
struct Merged {
    list: Vec<(Diagnostic, Vec<usize>)>,
    /// Where in the list to look for an equal one.
    places: BTreeMap<(Span, Code), Vec<usize>>,
}

impl Merged {
    fn add(&mut self, diagnostic: &Diagnostic, machine: usize) {
        let places = self.places.entry((diagnostic.primary.span, diagnostic.code)).or_default();
        for at in places.iter() {
            if let Some((_, machines)) = self.list.get_mut(*at).filter(|(known, _)| known == diagnostic) {
                if machines.last() != Some(&machine) {
                    machines.push(machine);
                }
                return;
            }
        }
        places.push(self.list.len());
        self.list.push((diagnostic.clone(), vec![machine]));
    }

    /// Everything found on one machine holds on another that is its equal.
    fn repeat(&mut self, machine: usize, again: usize) {
        let held = self.list.iter_mut().filter(|(_, machines)| machines.contains(&machine));
        held.for_each(|(_, machines)| machines.push(again));
    }

    fn finish(self, all: usize) -> impl Iterator<Item = Finding> {
        self.list
            .into_iter()
            .map(move |(diagnostic, machines)| Finding { diagnostic, on: (machines.len() < all).then_some(machines) })
    }
}
