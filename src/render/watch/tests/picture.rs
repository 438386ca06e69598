//! The picture in the README, which is a screen as it is drawn.

use std::fmt::Write;

use ratatui::buffer::Cell;

use super::*;

const PICTURE: &str = "docs/status.svg";

/// Pixels of a cell.
const CELL: (f64, f64) = (8.4, 17.0);

/// Two caches of four cores: a web service on the fronts of the first with two siblings as overflow, batch work on cores that
/// nobody else uses, and a nightly report.
fn screen() -> Buffer {
    let member = |pid: usize, comm: &str, threads: usize| {
        serde_json::json!({"pid": pid, "comm": comm, "place": "move", "reason": null, "cookies": [], "threads": threads,
            "conforming": threads, "theirs": 0, "contested": false})
    };
    let clause = |text: &str, means: &str, strength: &str, effect: &str| serde_json::json!({"text": text, "effect": effect, "means": means, "strength": strength});
    let class = |name: &str,
                 kind: &str,
                 cpus: &str,
                 clauses: Vec<serde_json::Value>,
                 members: Vec<serde_json::Value>| {
        let threads: u64 = members.iter().filter_map(|member| member["threads"].as_u64()).sum();
        serde_json::json!({"name": name, "kind": kind, "cpus": cpus, "frozen": false, "threads": threads, "conforming": threads,
            "places": {"move": members.len()}, "cookies": [], "members": members,
            "clauses": clauses})
    };
    let web =
        [(2101, "web", 9), (2107, "web", 9), (2110, "web", 9)].map(|(pid, comm, threads)| member(pid, comm, threads));
    let batch = [member(3310, "encode", 4), member(3311, "encode", 4)];
    let of_web = vec![
        clause("round robin, priority 1", "sched_setattr", "strict", "SCHED_RR 1"),
        clause("prefer idle core", "tick loop", "reactive", "fronts 0,2,4,6 first, siblings 1,3,5,7 as overflow"),
    ];
    let of_batch = vec![clause("only when core idle", "core-scheduling cookie", "bounded", "gives way")];
    let of_report = vec![clause("on", "allowed CPUs", "strict", "CPUs 8-9")];
    let mut document: serde_json::Value = serde_json::from_str(&answer(0, "")).unwrap();
    document["daemon"]["eyes"] = "tick loop".into();
    document["daemon"]["sensor"] = serde_json::Value::Null;
    document["daemon"]["events"] = 48_211.into();
    document["daemon"]["contested"] = 0.into();
    document["daemon"]["last_reload"] =
        serde_json::json!({"outcome": "applied", "detail": "class `web`: `spill to siblings` is new"});
    document["classes"] = serde_json::json!([
        class("web", "rt", "0,2,4,6,1,3", of_web, web.to_vec()),
        class("batch", "batch", "10-15", of_batch, batch.to_vec()),
        class("report", "fair", "8-9", of_report, vec![member(3790, "report", 1)]),
    ]);
    let machine = TopologySource::Synthetic("pack:1 l3:2 core:4 pu:2".to_owned());
    let loads = [1.0, 0.6, 0.9, 0.5, 0.95, 0.0, 0.8, 0.0, 0.4, 0.0, 1.0, 1.0, 1.0, 1.0, 0.97, 1.0];
    let loads = (0..).zip(loads).map(|(cpu, load)| (CpuId(cpu), load)).collect();
    let scene = Scene::new(&document.to_string(), Topology::load(&machine).unwrap(), loads, true);
    drawn(&scene.unwrap_or_else(|failure| panic!("{}", failure.text())), &[], 100, 20)
}

fn colour(cell: &Cell) -> &'static str {
    match cell.fg {
        Color::Green => "#7ec16e",
        Color::Yellow => "#e0b14a",
        Color::Cyan => "#59b8c4",
        Color::Reset => "#d7d7d7",
        other => panic!("{other}"),
    }
}

fn svg(buffer: &Buffer) -> String {
    let (width, height) = (f64::from(buffer.area.width) * CELL.0 + 20.0, f64::from(buffer.area.height) * CELL.1 + 20.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\">\n\
         <title>cotenant status --watch</title>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d1f21\"/>\n"
    );
    for (row, cells) in buffer.content.chunks(usize::from(buffer.area.width)).enumerate() {
        let mut column = 0;
        for run in cells.chunk_by(|a, b| (a.fg, a.modifier) == (b.fg, b.modifier)) {
            let text: String = run.iter().map(Cell::symbol).collect();
            let (x, y) = (10.0 + column as f64 * CELL.0, 10.0 + (row as f64 + 0.8) * CELL.1);
            column += run.len();
            if text.trim().is_empty() {
                continue;
            }
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let bold = if run[0].modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            let line =
                if run[0].modifier.contains(Modifier::UNDERLINED) { " text-decoration=\"underline\"" } else { "" };
            let length = run.len() as f64 * CELL.0;
            let fill = colour(&run[0]);
            writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" fill=\"{fill}\"{bold}{line} xml:space=\"preserve\">{text}</text>"
            )
            .unwrap();
        }
    }
    svg + "</svg>\n"
}

/// `README_UPDATE=1` draws it anew.
#[test]
fn the_picture_in_the_readme_is_what_is_drawn() {
    let picture = svg(&screen());
    roxmltree::Document::parse(&picture).unwrap();
    if std::env::var_os("README_UPDATE").is_some() {
        std::fs::write(PICTURE, &picture).unwrap();
    }
    assert_eq!(std::fs::read_to_string(PICTURE).unwrap(), picture, "run this test with README_UPDATE=1");
}
