//! Sets of CPUs with every zone put in place of its name.

use std::sync::Arc;

use cotenant_grammar::tree::{At, CoreKind, CpuExpr, CpuOperator, Part, Units};

use super::names::Names;
use crate::mistake::Mistake;

/// A set of CPUs that means something on every machine; what it means there is the planner's to find out.
#[derive(Debug, Clone)]
pub(crate) enum Cpus {
    All,
    Units(At<Units>),
    KindCores(CoreKind),
    Part(Vec<Part>, Box<Cpus>),
    Chain(Box<Cpus>, Vec<(CpuOperator, Cpus)>),
    /// A zone, shared among its users.
    Zone(Arc<Cpus>),
}

pub(super) fn cpus(expr: &CpuExpr, zones: &mut Names<CpuExpr, Cpus>, report: &mut dyn FnMut(Mistake)) -> Option<Cpus> {
    Some(match expr {
        CpuExpr::All(_) => Cpus::All,
        CpuExpr::Units(units) => Cpus::Units(*units),
        CpuExpr::KindCores(kind) => Cpus::KindCores(kind.value),
        CpuExpr::Part(parts, inner) => {
            let parts = parts.iter().map(|part| part.value).collect();
            Cpus::Part(parts, Box::new(cpus(inner, zones, report)?))
        }
        CpuExpr::Chain(first, rest) => {
            let first = cpus(first, zones, report);
            // Every part is looked at, so that two unknown names give two findings.
            let rest: Vec<_> = rest.iter().map(|(op, part)| Some((op.value, cpus(part, zones, report)?))).collect();
            Cpus::Chain(Box::new(first?), rest.into_iter().collect::<Option<_>>()?)
        }
        CpuExpr::Zone(name) => match zones.look_up("zone", name, cpus, report)? {
            zone @ Cpus::Zone(_) => zone,
            other => Cpus::Zone(Arc::new(other)),
        },
        CpuExpr::Damaged(_) => return None,
    })
}

impl Cpus {
    /// Every numbered unit in the expression, for findings about them.
    pub(crate) fn units(&self, found: &mut Vec<At<Units>>) {
        match self {
            Cpus::Units(units) => found.push(*units),
            Cpus::Part(_, inner) => inner.units(found),
            Cpus::Zone(inner) => inner.units(found),
            Cpus::Chain(first, rest) => {
                first.units(found);
                rest.iter().for_each(|(_, part)| part.units(found));
            }
            Cpus::All | Cpus::KindCores(_) => {}
        }
    }
}
