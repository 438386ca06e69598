//! What the colours mean: one entry a class, in matching order, then what hatching and dots say.

use cotenant_compiler::Plan;
use cotenant_compiler::plan::PlannedClass;

use super::MARGIN;
use super::paint::Palette;
use super::text::{Canvas, Style, wrapped};
use crate::render::tiers;

/// Below this, entries wrap into a column that is hard to read.
pub(super) const LEAST_WIDTH: u32 = 640;

const SAMPLE: (u32, u32) = (36, 18);
/// Where an entry's text begins, counted from the margin.
const INDENT: u32 = 96;
const LINE: u32 = 17;
/// About the width of a character of the legend, in tenths of a pixel.
const CHARACTER: u32 = 72;
/// Classes listed; a picture of more is a poster.
const MOST: usize = 40;

/// Draws the legend from `y` down, and says where it ends.
pub(super) fn draw(plan: &Plan, palette: &Palette<'_>, mut y: u32, width: u32, canvas: &mut Canvas) -> u32 {
    let characters = ((width - INDENT) * 10 / CHARACTER) as usize;
    if plan.classes.is_empty() {
        canvas.text(MARGIN, y, Style::Plain, "no classes: nothing would be done");
        return y;
    }
    for (at, class) in plan.classes.iter().enumerate().take(MOST) {
        let samples = palette.samples(at);
        for (step, band) in (0..).zip(&samples) {
            canvas.band((MARGIN + step * (SAMPLE.0 + 8), y - 13, SAMPLE.0, SAMPLE.1), &band.fill());
        }
        let (name, kind) = (class.name.as_str(), class.kind.word());
        let head = if name == kind { name.to_owned() } else { format!("{name} ({kind})") };
        canvas.text(MARGIN + INDENT, y, Style::Strong, &head);
        for line in said(class).iter().flat_map(|text| wrapped(text, characters)) {
            y += LINE;
            canvas.text(MARGIN + INDENT, y, Style::Quiet, &line);
        }
        y += LINE + 9;
    }
    if let Some(more) = plan.classes.len().checked_sub(MOST).filter(|more| *more > 0) {
        canvas.text(MARGIN + INDENT, y, Style::Quiet, &format!("and {more} more, see `cotenant plan`"));
        y += LINE + 9;
    }
    let key = key(plan, palette);
    if !key.is_empty() {
        for line in wrapped(&key, (width * 10 / CHARACTER) as usize) {
            canvas.text(MARGIN, y, Style::Quiet, &line);
            y += LINE;
        }
    }
    y - LINE
}

/// Processes, CPUs and clauses of a class.
fn said(class: &PlannedClass) -> Vec<String> {
    let descendants = if class.with_descendants { " with descendants" } else { "" };
    let mut said = vec![format!("{}{descendants}", class.selector)];
    match &class.placement {
        None => said.push("never touched".to_owned()),
        Some(placement) => {
            said.push(format!("CPUs {}", tiers(placement).join(", ")));
            // The line before says where it runs, and the head of what kind it is.
            let told = ["on", class.kind.word()];
            let clauses = placement.clauses.iter().map(|clause| clause.text.as_str());
            let clauses: Vec<&str> = clauses.filter(|text| !told.contains(text)).collect();
            said.push(clauses.join(" · "));
        }
    }
    said
}

fn key(plan: &Plan, palette: &Palette<'_>) -> String {
    let overflows = (0..plan.classes.len()).any(|at| palette.samples(at).iter().any(|band| band.is_overflow()));
    let gated = plan.classes.iter().any(|class| class.placement.as_ref().is_some_and(|it| it.gate.is_some()));
    let empty = plan.topology.online().iter().any(|cpu| palette.bands(cpu).is_empty());
    let parts = [
        (overflows, "hatched: used when the rest is full"),
        (gated, "dotted: only while others leave it idle"),
        (empty, "grey: no class of the policy"),
    ];
    let said: Vec<&str> = parts.iter().filter(|(used, _)| *used).map(|(_, words)| *words).collect();
    said.join("; ")
}
