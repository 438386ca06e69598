//! Classes, and the processes of the chosen one.

use cotenant_compiler::CpuSet;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::{Gaze, Scene};
use crate::render::printable::one_line;
use crate::render::status_json::{Class, Member};

/// Every class that the filter leaves, under a heading.
pub(super) fn classes(scene: &Scene, gaze: &Gaze, width: u16) -> Vec<Line<'static>> {
    let head = format!(
        "    {:<12} {:<9} {:<14} {:>5} {:>9} {:<8} {}",
        "class", "kind", "CPUs now", "procs", "as wanted", "strength", "placed by"
    );
    let mut lines = vec![Line::styled(head, Modifier::UNDERLINED)];
    for (row, (at, class)) in scene.classes(gaze.filter()).enumerate() {
        let is_chosen = row == gaze.class_row();
        let weight = if is_chosen { Modifier::BOLD } else { Modifier::empty() };
        let text = format!(
            " {:<12} {:<9} {:<14} {:>5} {:>9} {:<8}",
            cut(&class.name, 12),
            class.kind,
            cut(&cpus(class), 14),
            class.members.len(),
            format!("{}/{}", class.conforming, class.threads),
            strength(class),
        );
        let mut spans = vec![
            Span::raw(if is_chosen { "> " } else { "  " }),
            Span::styled("■", scene.style(at)),
            Span::styled(text, weight),
        ];
        // First, where a narrow terminal cuts the line.
        let contested = class.members.iter().filter(|member| member.contested).count();
        if contested > 0 {
            spans.push(Span::styled(format!(" {contested} contested"), scene.alarm()));
        }
        let placed: Vec<String> = class.places.iter().map(|(means, count)| format!("{means} {count}")).collect();
        spans.push(Span::styled(format!(" {}", placed.join(", ")), weight));
        lines.push(clip(Line::from(spans), width));
    }
    lines
}

fn cpus(class: &Class) -> String {
    let Some(list) = &class.cpus else { return "never touched".to_owned() };
    let cpus = list.parse::<CpuSet>().map_or_else(|_| list.clone(), |cpus| cpus.brief());
    if class.frozen { format!("waits ({cpus})") } else { cpus }
}

/// The weakest that any clause is kept with, which is what somebody may rely on.
fn strength(class: &Class) -> &'static str {
    const WEAKEST_FIRST: [&str; 4] = ["refused", "reactive", "bounded", "strict"];
    let kept = |word: &&&str| class.clauses.iter().any(|clause| clause.strength == **word);
    WEAKEST_FIRST.iter().find(kept).copied().unwrap_or_default()
}

/// How many processes fit there, under their heading.
pub(super) fn rows_of_members(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1))
}

/// The processes of the chosen class that the filter leaves, as they fit there.
pub(super) fn members(scene: &Scene, gaze: &Gaze, area: Rect) -> Vec<Line<'static>> {
    let Some(class) = scene.chosen(gaze) else {
        return vec![Line::raw("no class has that")];
    };
    let (members, shown) = (scene.members(class, gaze.filter()), rows_of_members(area));
    let above = gaze.rows_above(members.len(), shown);
    let head = format!("    {:>8} {:<16} {:>9} {:<10}", "process", "name", "as wanted", "placed by");
    let head = match members.len() > shown {
        true => format!("{head} ({} to {} of {})", above + 1, above + shown, members.len()),
        false => head,
    };
    let rows = members.into_iter().skip(above).take(shown).map(|member| clip(row(scene, member), area.width));
    std::iter::once(Line::styled(head, Modifier::UNDERLINED)).chain(rows).collect()
}

fn row(scene: &Scene, member: &Member) -> Line<'static> {
    let text = format!(
        "    {:>8} {:<16} {:>9} {:<10}",
        member.pid,
        cut(&one_line(&member.comm), 16),
        format!("{}/{}", member.conforming, member.threads),
        member.place
    );
    let mut spans = vec![Span::raw(text)];
    if member.contested {
        spans.push(Span::styled(" contested", scene.alarm()));
    }
    let refused = scene.document.failures.iter().filter(|refusal| refusal.pid == member.pid);
    spans.extend(refused.map(|refusal| Span::styled(format!(" {}", one_line(&refusal.error)), scene.alarm())));
    if member.theirs > 0 {
        spans.push(Span::raw(format!(" {} set by others", member.theirs)));
    }
    spans.extend(member.reason.iter().map(|reason| Span::raw(format!(" {reason}"))));
    Line::from(spans)
}

/// As much of it as has room.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room { text.to_owned() } else { text.chars().take(room - 1).chain(['…']).collect() }
}

/// The line in so many columns, with a mark where something is missing: half a number would be another one.
pub(super) fn clip(mut line: Line<'static>, width: u16) -> Line<'static> {
    let width = usize::from(width);
    if line.width() <= width {
        return line;
    }
    let mut mark = Span::raw("…");
    while line.width() + 1 > width {
        let Some(last) = line.spans.last_mut() else { break };
        mark.style = last.style;
        if last.content.to_mut().pop().is_none() {
            line.spans.pop();
        }
    }
    line.spans.push(mark);
    line
}
