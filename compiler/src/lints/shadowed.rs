//! Classes that never get a process, because a class above takes all they match.

use super::class::Class;
use super::cover::covered_by_earlier;
use super::logic::{Case, Logic};
use super::mistake::Lint;

/// Earlier classes named in one finding.
const MOST_NAMED: usize = 3;

pub(super) fn shadowed(classes: &[Class<'_>], logic: &Logic, report: &mut dyn FnMut(Lint)) {
    let cases: Vec<&[Case<'_>]> = classes.iter().map(Class::cases).collect();
    for (class, covers) in classes.iter().zip(covered_by_earlier(logic, &cases)) {
        let Some(covers) = covers else { continue };
        let by: Vec<&Class<'_>> = covers.iter().take(MOST_NAMED).filter_map(|at| classes.get(*at)).collect();
        // Two classes of one name that both match by it: the name was reported.
        let by_name = |class: &Class<'_>| class.class.matched.is_none().then(|| class.name());
        if by_name(class).is_some() && by.iter().any(|earlier| by_name(earlier) == by_name(class)) {
            continue;
        }
        let by = by.into_iter().map(|earlier| (earlier.part.at, earlier.name())).collect();
        report(Lint::Shadowed { class: class.name(), at: class.part.at, by });
    }
}
