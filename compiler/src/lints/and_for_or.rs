//! `unit a and unit b`, which nearly always means `or`.

use cotenant_grammar::tree::{Field, ProcessExpr};

use super::mistake::Lint;

/// A process has one innermost unit in each hierarchy of control groups, and all hierarchies name the same. Only the old
/// version of control groups lets them differ, so this is no proof and therefore a warning.
pub(super) fn and_for_or(expr: &ProcessExpr, report: &mut dyn FnMut(Lint)) {
    let ProcessExpr::All(parts) = expr else { return };
    let unit = |part: &ProcessExpr| match part {
        ProcessExpr::Predicate(field, pattern) if field.value == Field::Unit => {
            (!pattern.value.contains(['*', '?', '[', '{'])).then(|| (part.span(), pattern.value.clone()))
        }
        _ => None,
    };
    let mut units = parts.iter().filter_map(unit);
    let Some((first, name)) = units.next() else { return };
    if let Some((second, _)) = units.find(|(_, other)| *other != name) {
        report(Lint::AndForOr { first, second });
    }
}
