//! The means and strength chosen for each clause, as notes.

use cotenant_grammar::{Diagnostic, Diagnostics, Span};

use super::mistake::Lint;
use crate::Plan;
use crate::plan::{KeptClause, Means, PlannedClass, Strength};

/// One note for each class that something is promised to: by what each of its clauses is kept on the plan's machine and how
/// strongly. Asked for apart from everything else that is found, because a sound policy has as many of these as classes.
#[must_use]
pub fn kept_by(plan: &Plan) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for lint in plan.classes.iter().filter_map(note) {
        diagnostics.push(Diagnostic::from(lint));
    }
    diagnostics
}

fn note(class: &PlannedClass) -> Option<Lint> {
    let clauses = &class.placement.as_ref()?.clauses;
    let mut shown: Vec<(Span, String)> = Vec::new();
    for clause in clauses {
        let (span, said) = (clause.span.unwrap_or(class.header), said(clause));
        // `batch` is both the kind of the class and what its scheduling policy follows from; one place, one label.
        match shown.iter_mut().find(|(at, _)| *at == span) {
            Some((_, labels)) => *labels = format!("{labels}; {said}"),
            None => shown.push((span, said)),
        }
    }
    if shown.is_empty() {
        return None;
    }
    let strengths = [Strength::Strict, Strength::Bounded, Strength::Reactive, Strength::Refused];
    let count = |strength: Strength| clauses.iter().filter(|clause| clause.strength == strength).count();
    let counts = strengths.map(|strength| (strength.word(), count(strength)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    Some(Lint::KeptBy { class: class.name.clone(), counts, clauses: shown })
}

/// `reactive (tick loop): off every core on which others run`.
fn said(clause: &KeptClause) -> String {
    let (strength, effect) = (clause.strength.word(), &clause.effect);
    match clause.means {
        Means::Nothing | Means::None => format!("{strength}: {effect}"),
        means => format!("{strength} ({}): {effect}", means.words()),
    }
}
