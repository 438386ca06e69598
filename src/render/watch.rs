//! `status --watch`: what is in force, drawn again and again. Nothing here reads or waits: a scene and how it is looked at go
//! in, cells of a terminal come out.

mod clauses;
mod gaze;
mod help;
mod machine;
mod tables;

use std::collections::BTreeMap;

use cotenant_compiler::CpuId;
use cotenant_compiler::topology::Topology;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::counted::counted;
use super::printable::one_line;
use super::status_json::{Class, Document, Member};
use crate::failure::Failure;
pub(crate) use gaze::{Gaze, Key};

/// What there is to see at one moment.
pub(crate) struct Scene {
    document: Document,
    machine: Topology,
    /// What part of the time since the moment before each CPU ran anything, from 0 to 1.
    loads: BTreeMap<CpuId, f64>,
    colour: bool,
}

impl Scene {
    /// Of the daemon's answer.
    pub(crate) fn new(
        answer: &str,
        machine: Topology,
        loads: BTreeMap<CpuId, f64>,
        colour: bool,
    ) -> Result<Scene, Failure> {
        Ok(Scene { document: Document::read(answer)?, machine, loads, colour })
    }

    /// The classes that the filter leaves: those whose name has it, or that of one of their processes.
    fn classes<'a>(&'a self, filter: &'a str) -> impl Iterator<Item = (usize, &'a Class)> {
        let has = move |class: &Class| {
            class.name.contains(filter) || class.members.iter().any(|member| member.comm.contains(filter))
        };
        self.document.classes.iter().enumerate().filter(move |(_, class)| has(class))
    }

    /// The chosen one of them.
    fn chosen<'a>(&'a self, gaze: &'a Gaze) -> Option<&'a Class> {
        self.classes(gaze.filter()).nth(gaze.class_row()).map(|(_, class)| class)
    }

    /// The processes of a class that the filter leaves: all where the class's own name has it.
    fn members<'a>(&self, class: &'a Class, filter: &str) -> Vec<&'a Member> {
        let whole = class.name.contains(filter);
        class.members.iter().filter(|member| whole || member.comm.contains(filter)).collect()
    }

    /// Chooses a class that is there, whatever is there now.
    pub(crate) fn settle(&self, gaze: &mut Gaze) {
        gaze.settle(self.classes(gaze.filter()).count());
        let processes = self.chosen(gaze).map_or(0, |class| self.members(class, gaze.filter()).len());
        gaze.settle_processes(processes);
    }

    /// The colour that a class has here; of many, some have the same.
    fn style(&self, class: usize) -> Style {
        const COLOURS: [Color; 6] =
            [Color::Green, Color::Yellow, Color::Cyan, Color::Magenta, Color::Blue, Color::LightRed];
        match COLOURS.get(class % COLOURS.len()) {
            Some(colour) if self.colour => Style::new().fg(*colour),
            _ => Style::new(),
        }
    }

    fn alarm(&self) -> Style {
        if self.colour { Style::new().fg(Color::Red).bold() } else { Style::new().bold() }
    }
}

/// Draws everything, and says how many rows there are for processes: a page of them.
pub(crate) fn draw(frame: &mut Frame<'_>, scene: &Scene, gaze: &Gaze) -> usize {
    let area = frame.area();
    let rows = |lines: &[Line<'_>]| u16::try_from(lines.len()).unwrap_or(u16::MAX);
    // Nothing, or lines with an empty one below.
    let apart = |lines: &[Line<'_>]| if lines.is_empty() { 0 } else { rows(lines) + 1 };
    let title = title(scene, area.width);
    // The machine has half of the height at most, and is folded where that is not enough.
    let cores = machine::lines(scene, area.width, area.height.saturating_sub(6) / 2);
    let classes = tables::classes(scene, gaze, area.width);
    let of_title = rows(&title).max(2);
    let of_classes = rows(&classes).min(area.height / 3 + 1);
    // Clauses have a third of what is left; processes, of which there may be many, the rest.
    let left = area.height.saturating_sub(of_title + rows(&cores) + of_classes + 3);
    let clauses = clauses::lines(scene, gaze, area.width, left / 3);
    let parts = [
        Constraint::Length(of_title),
        Constraint::Length(rows(&cores) + 1),
        Constraint::Length(of_classes + 1),
        Constraint::Length(apart(&clauses)),
        Constraint::Min(0),
        Constraint::Length(1),
    ];
    let [head, top, middle, below, bottom, foot] = Layout::vertical(parts).areas(area);
    frame.render_widget(Paragraph::new(title), head);
    frame.render_widget(Paragraph::new(cores), top);
    let scrolled = u16::try_from(gaze.class_row()).unwrap_or(0).saturating_sub(of_classes.saturating_sub(2));
    frame.render_widget(Paragraph::new(classes).scroll((scrolled, 0)), middle);
    frame.render_widget(Paragraph::new(clauses), below);
    frame.render_widget(Paragraph::new(tables::members(scene, gaze, bottom)), bottom);
    frame.render_widget(Paragraph::new(footer(gaze)), foot);
    if gaze.helps() {
        help::draw(frame, area);
    }
    tables::rows_of_members(bottom)
}

/// What is wrong stands first, so that a narrow terminal cuts off something else.
fn title(scene: &Scene, width: u16) -> Vec<Line<'static>> {
    let daemon = &scene.document.daemon;
    let count = |number: u64, word| counted(usize::try_from(number).unwrap_or(usize::MAX), word);
    let mut spans = vec![Span::styled(format!("cotenant {}", daemon.version), Modifier::BOLD)];
    let alarms = [
        (scene.document.failures.len() as u64, format!("{} not enforced", scene.document.failures.len())),
        (daemon.contested, format!("{} contested", daemon.contested)),
        (daemon.lost, format!("events lost {}", count(daemon.lost, "time"))),
    ];
    for (_, alarm) in alarms.into_iter().filter(|(number, _)| *number > 0) {
        spans.push(Span::styled(format!("  {alarm}"), scene.alarm()));
    }
    spans.push(Span::raw(format!("  watched by the {}, {}", daemon.eyes, count(daemon.events, "event"))));
    if let Some(sensor) = &daemon.sensor {
        spans.push(Span::raw(format!(", {} moved", count(sensor.moves, "thread"))));
    }
    let changes = [("policy", &daemon.last_reload), ("machine", &daemon.last_machine)];
    let changes = changes.into_iter().filter_map(|(what, change)| {
        let change = change.as_ref().filter(|change| change.outcome != "unchanged")?;
        let style = if change.outcome == "applied" { Style::new() } else { scene.alarm() };
        let detail = one_line(change.detail.lines().next().unwrap_or_default());
        Some(Line::styled(format!("last change of the {what} {}: {detail}", change.outcome), style))
    });
    std::iter::once(Line::from(spans)).chain(changes).map(|line| tables::clip(line, width)).collect()
}

fn footer(gaze: &Gaze) -> Line<'static> {
    match gaze.being_typed() {
        Some(filter) => Line::raw(format!("/{filter}_   Enter keeps it, Esc drops it")),
        None if !gaze.filter().is_empty() => {
            Line::raw(format!("only what has `{}`   / another   Esc everything   q quit", one_line(gaze.filter())))
        }
        None => Line::raw("q quit   Up/Down class   PgUp/PgDn processes   / filter   ? help"),
    }
}

#[cfg(test)]
mod tests;
