//! The costs as a picture: a field for each pair, the darker, the dearer.

use std::fmt::Write;

use crate::probe::{Findings, Work, cost_of};

/// Width and height of a field.
const FIELD: (u32, u32) = (84, 34);

/// Where fields begin beside and below their names.
const LABELS: (u32, u32) = (90, 64);

/// One square of fields for each place.
pub(crate) fn probe_svg(findings: &Findings) -> String {
    let works = u32::try_from(Work::ALL.len()).unwrap_or(0);
    let places = u32::try_from(findings.spots.len()).unwrap_or(0);
    let square = LABELS.1 + works * FIELD.1 + 24;
    let (width, height) = (LABELS.0 + works * FIELD.0 + 20, places * square + 10);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<title>What a busy neighbour costs</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (place, spot) in (0..).zip(&findings.spots) {
        let top = place * square + 24;
        let head = format!("a neighbour {} (CPU {} beside CPU {})", spot.distance.words(), spot.cpu, findings.victim);
        text(&mut svg, 12, top, "start", "#222", &head);
        for (at, work) in (0..).zip(Work::ALL) {
            text(&mut svg, LABELS.0 + at * FIELD.0 + FIELD.0 / 2, top + 28, "middle", "#555", work.word());
            text(&mut svg, LABELS.0 - 10, top + 40 + at * FIELD.1 + 22, "end", "#555", work.word());
        }
        for (down, victim) in (0..).zip(Work::ALL) {
            for (across, neighbour) in (0..).zip(Work::ALL) {
                let (x, y) = (LABELS.0 + across * FIELD.0, top + 40 + down * FIELD.1);
                let cost = cost_of(&findings.costs, spot.distance, victim, neighbour);
                let (fill, ink) = cost.map_or(("#eee".to_owned(), "#555"), |cost| shade(cost.slowdown));
                let (width, height) = (FIELD.0 - 2, FIELD.1 - 2);
                // Writing to a string cannot fail.
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\" fill=\"{fill}\"/>"
                );
                let figure = cost.map_or_else(|| "stolen".to_owned(), |cost| format!("{:.2}×", cost.slowdown));
                text(&mut svg, x + width / 2, y + 21, "middle", ink, &figure);
            }
        }
    }
    svg + "</svg>\n"
}

/// The colour of a field, from white at no cost to deep red at twice the time, and that of what stands on it.
fn shade(slowdown: f64) -> (String, &'static str) {
    let part = (slowdown - 1.0).clamp(0.0, 1.0);
    let channel = |from: f64, to: f64| from + (to - from) * part;
    let colour = format!("rgb({:.0},{:.0},{:.0})", channel(244.0, 150.0), channel(246.0, 30.0), channel(248.0, 30.0));
    (colour, if part > 0.5 { "#fff" } else { "#222" })
}

fn text(svg: &mut String, x: u32, y: u32, anchor: &str, fill: &str, text: &str) {
    // No text here has a letter that would need another spelling.
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{fill}\">{text}</text>");
}
