//! What neighbours cost, as tables, as a document and as a picture.

mod picture;

use cotenant_compiler::topology::{Topology, summary};
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::table::{lines, row, table};
use crate::probe::{Cost, Distance, Findings, Work, cost_of, matters, verdicts};
use crate::terminal::Look;
pub(crate) use picture::probe_svg;

/// A table for each place, what was not to be measured, and what it means.
pub(crate) fn probe(findings: &Findings, look: Look) -> String {
    let mut text = String::new();
    for spot in &findings.spots {
        let (victim, distance) = (findings.victim, spot.distance);
        text.push_str(&format!(
            "CPU {victim}, a neighbour {} (CPU {}): CPU time for the same work\n",
            distance.words(),
            spot.cpu
        ));
        let heads: Vec<String> = Work::ALL.map(|work| format!("beside {}", work.word())).into_iter().collect();
        let heads: Vec<&str> = std::iter::once("victim").chain(heads.iter().map(String::as_str)).collect();
        let mut costs = table(&heads, look);
        for victim in Work::ALL {
            let cells = Work::ALL.map(|neighbour| cell(cost_of(&findings.costs, distance, victim, neighbour)));
            row(&mut costs, std::iter::once(victim.word().to_owned()).chain(cells));
        }
        text.push_str(&lines(&mut costs));
        text.push('\n');
    }
    for distance in findings.lacking() {
        text.push_str(&format!("not measured {}: {}\n", distance.words(), distance.lacking()));
    }
    if findings.lacking().next().is_some() {
        text.push('\n');
    }
    text.push_str("what it means\n");
    for verdict in verdicts(&findings.costs) {
        text.push_str(&format!("  {verdict}\n"));
    }
    text
}

/// `1.63× ±0.02 !`, the mark where a policy should do something about it.
fn cell(cost: Option<&Cost>) -> String {
    let Some(cost) = cost else { return "CPU was stolen".to_owned() };
    let mark = if matters(cost) { " !" } else { "" };
    format!("{:.2}× ±{:.2}{mark}", cost.slowdown, cost.spread)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    machine: String,
    victim_cpu: u32,
    costs: Vec<Entry>,
    not_measured: Vec<Lacking>,
    verdicts: &'a [String],
}

#[derive(Serialize)]
struct Entry {
    /// `sibling`, `cache`, `node` or `elsewhere`.
    distance: &'static str,
    neighbour_cpu: Option<u32>,
    victim: &'static str,
    neighbour: &'static str,
    slowdown: f64,
    spread: f64,
    turns: usize,
    stolen_turns: usize,
}

#[derive(Serialize)]
struct Lacking {
    distance: &'static str,
    reason: &'static str,
}

/// The findings as one JSON document.
pub(crate) fn probe_json(findings: &Findings, machine: &Topology) -> String {
    let cpu = |distance| findings.spots.iter().find(|spot| spot.distance == distance).map(|spot| spot.cpu.0);
    let entry = |cost: &Cost| Entry {
        distance: name(cost.distance),
        neighbour_cpu: cpu(cost.distance),
        victim: cost.victim.word(),
        neighbour: cost.neighbour.word(),
        slowdown: cost.slowdown,
        spread: cost.spread,
        turns: cost.turns,
        stolen_turns: cost.stolen,
    };
    let lacking = |distance: Distance| Lacking { distance: name(distance), reason: distance.lacking() };
    let document = Document {
        schema_version: SCHEMA_VERSION,
        machine: summary(machine),
        victim_cpu: findings.victim.0,
        costs: findings.costs.iter().map(entry).collect(),
        not_measured: findings.lacking().map(lacking).collect(),
        verdicts: &verdicts(&findings.costs),
    };
    // Cannot fail: nothing in it refuses, and every number is finite.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn name(distance: Distance) -> &'static str {
    match distance {
        Distance::Sibling => "sibling",
        Distance::Cache => "cache",
        Distance::Node => "node",
        Distance::Elsewhere => "elsewhere",
    }
}

#[cfg(test)]
mod tests {
    use cotenant_compiler::CpuId;

    use super::*;
    use crate::probe::Spot;

    /// A machine with siblings, in one cache of one node.
    fn findings() -> Findings {
        let spots = vec![
            Spot { distance: Distance::Sibling, cpu: CpuId(1) },
            Spot { distance: Distance::Cache, cpu: CpuId(2) },
        ];
        let pairs = [Distance::Sibling, Distance::Cache].into_iter().flat_map(|distance| {
            Work::ALL.into_iter().flat_map(move |victim| Work::ALL.map(|neighbour| (distance, victim, neighbour)))
        });
        let cost = |(at, (distance, victim, neighbour))| Cost {
            distance,
            victim,
            neighbour,
            slowdown: 1.64 - 0.02 * f64::from(at),
            spread: 0.01,
            turns: 5,
            stolen: 1,
        };
        // One that could not be measured.
        let costs = (0..).zip(pairs).map(cost).filter(|cost| cost.victim != Work::Walk || cost.neighbour != Work::Walk);
        Findings { victim: CpuId(0), spots, costs: costs.collect() }
    }

    #[test]
    fn figures_what_lacks_and_what_to_do_are_told() {
        insta::assert_snapshot!(probe(&findings(), Look { width: 100, colour: false }));
    }

    #[test]
    fn a_picture_is_a_document_with_every_figure() {
        let svg = probe_svg(&findings());
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
        let texts: Vec<&str> = document
            .descendants()
            .filter(|node| node.is_text())
            .filter_map(|node| node.text())
            .map(str::trim)
            .collect();
        assert_eq!(texts.iter().filter(|text| text.ends_with('×')).count(), 30, "{texts:?}");
        assert!(texts.contains(&"1.64×") && texts.iter().any(|text| text.contains("on its sibling")), "{texts:?}");
    }
}
