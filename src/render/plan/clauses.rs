//! The clauses of a class, each with the promise made for it.

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{KeptClause, Means, Strength};
use cotenant_grammar::Span;

use crate::render::table::{Fit, fit, lines, row, table};
use crate::terminal::Look;

/// How long the tick loop takes at most to keep a reactive clause, unless the daemon is told otherwise.
const TICK: &str = "10 ms";

/// How long the sensor takes: median 0.08 ms, 90 % within 0.12 ms, in an emulated machine.
const SENSOR: &str = "0.1 ms";

/// Below this width a clause's place is its line and column alone; the file stands above the table.
const ROOM_FOR_FILES: usize = 100;

/// Characters of a path that are shown whole; of longer ones the file's name.
const SHORT_PATH: usize = 24;

pub(super) fn clauses<'a>(clauses: impl IntoIterator<Item = &'a KeptClause>, plan: &Plan, look: Look) -> String {
    let mut kept = table(&["clause", "effect here", "kept by", "strength", "at"], look);
    for clause in clauses {
        row(
            &mut kept,
            [
                clause.text.clone(),
                clause.effect.clone(),
                clause.means.words().to_owned(),
                clause.strength.word().to_owned(),
                clause.span.map_or_else(String::new, |span| place(span, plan, look)),
            ],
        );
    }
    fit(&mut kept, &[Fit::AtMost(20), Fit::AtLeast(20), Fit::Whole, Fit::Whole, Fit::Whole]);
    lines(&mut kept)
}

fn place(span: Span, plan: &Plan, look: Look) -> String {
    let Some(source) = plan.sources.get(span.source) else { return String::new() };
    let at = source.location(span.start);
    let path = source.name();
    let file = match path.rsplit('/').next() {
        _ if look.width < ROOM_FOR_FILES => return format!("{}:{}", at.line, at.column),
        Some(name) if path.chars().count() > SHORT_PATH => format!("…/{name}"),
        _ => path.to_owned(),
    };
    format!("{file}:{}:{}", at.line, at.column)
}

/// What the strengths in the plan mean.
pub(super) fn legend(plan: &Plan) -> String {
    let clauses = || plan.classes.iter().filter_map(|class| class.placement.as_ref()).flat_map(|it| &it.clauses);
    let watched = |means: Means| clauses().any(|it| it.strength == Strength::Reactive && it.means == means);
    let mut reactive = match (watched(Means::Sensor), watched(Means::TickLoop)) {
        (true, true) => format!("the sensor keeps it within {SENSOR}, the tick loop within one tick, {TICK}"),
        (true, false) => format!("the sensor keeps it, within {SENSOR} as a rule"),
        (false, true) => format!("a loop keeps it, within one tick, {TICK}"),
        (false, false) => String::new(),
    };
    if watched(Means::Look) {
        reactive.push_str(if reactive.is_empty() {
            "a look each second keeps it"
        } else {
            "; what is insisted on, within a second"
        });
    }
    let meanings = [
        (Strength::Strict, "the kernel guarantees it".to_owned()),
        (Strength::Bounded, "the kernel keeps it, but for the share that is stated".to_owned()),
        (Strength::Reactive, reactive),
        (Strength::Refused, "it is not kept; see the warnings".to_owned()),
    ];
    let kernel = || plan.kernel.iter().map(|setting| &setting.kept);
    let used = |strength: Strength| clauses().chain(kernel()).any(|clause| clause.strength == strength);
    let used = meanings.iter().filter(|(strength, _)| used(*strength));
    let said: String = used.map(|(strength, meaning)| format!("{:<8}  {meaning}\n", strength.word())).collect();
    if said.is_empty() { said } else { format!("\n{said}") }
}
