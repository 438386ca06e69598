//! The clauses of the chosen class: by what each is kept, how strongly and how fast, and what it comes to here.

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::tables::{clip, cut};
use super::{Gaze, Scene};
use crate::render::counted::counted;
use crate::render::printable::one_line;
use crate::render::status::strength;
use crate::render::status_json::{Class, Clause};

/// Fewer lines than these hold no clause beside a heading and a word about the rest.
const LEAST: usize = 3;

/// They in so many columns and at most so many lines; nothing where that says nothing.
pub(super) fn lines(scene: &Scene, gaze: &Gaze, width: u16, most: u16) -> Vec<Line<'static>> {
    let most = usize::from(most);
    let Some(class) = scene.chosen(gaze).filter(|class| !class.clauses.is_empty() && most >= LEAST) else {
        return Vec::new();
    };
    let head = format!("    {:<26} {:<22} {:<16} effect", heading(scene, class), "kept by", "strength");
    let mut lines = vec![Line::styled(head, Modifier::UNDERLINED)];
    lines.extend(class.clauses.iter().map(|clause| row(scene, clause)));
    if lines.len() > most {
        let unseen = counted(lines.len() - (most - 1), "more clause");
        lines.truncate(most - 1);
        lines.push(Line::raw(format!("    … {unseen}; `cotenant status` has all")));
    }
    lines.into_iter().map(|line| clip(line, width)).collect()
}

fn row(scene: &Scene, clause: &Clause) -> Line<'static> {
    let text = format!(
        "    {:<26} {:<22} {:<16} {}",
        cut(&one_line(&clause.text), 26),
        clause.means,
        strength(clause, scene.document.daemon.tick_ms),
        one_line(&clause.effect)
    );
    Line::styled(text, if clause.strength == "refused" { scene.alarm() } else { Style::new() })
}

/// Says also how many of the CPUs that the class may use now are siblings, on a machine that has some: how far it spilled.
fn heading(scene: &Scene, class: &Class) -> String {
    let cpus = class.cpus.as_ref().and_then(|list| list.parse().ok()).filter(|_| scene.machine.has_smt());
    cpus.map_or_else(
        || "clause".to_owned(),
        |cpus| format!("clause ({} open)", counted(scene.machine.siblings(&cpus).len(), "sibling")),
    )
}
