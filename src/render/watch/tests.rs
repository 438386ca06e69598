use cotenant_compiler::topology::TopologySource;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;

mod machine;
mod picture;

fn clauses(any: bool) -> serde_json::Value {
    if !any {
        return serde_json::json!([]);
    }
    serde_json::json!([
        {"text": "on", "effect": "CPUs 0-3", "means": "allowed CPUs", "strength": "strict"},
        {"text": "prefer idle core", "effect": "0-3: moved off a shared core while another is idle", "means": "sensor",
            "strength": "reactive"},
        {"text": "share core with itself", "effect": "nobody else", "means": "nothing", "strength": "refused"},
    ])
}

/// A daemon with these classes, as the control socket tells of it.
fn answer(members: usize, detail: &str) -> String {
    let member = |at: usize| {
        serde_json::json!({"pid": 1000 + at, "comm": format!("worker/{at}"), "place": "move", "reason": null, "cookies": [],
            "threads": 4, "conforming": 4 - at % 2, "theirs": at % 2, "contested": at == 1})
    };
    let class = |name: &str, kind: &str, cpus: Option<&str>, frozen: bool, members: Vec<serde_json::Value>| {
        serde_json::json!({"name": name, "kind": kind, "cpus": cpus, "frozen": frozen, "threads": 4 * members.len(),
            "conforming": 4 * members.len(), "places": {"move": members.len()}, "cookies": [], "members": members,
            "clauses": clauses(cpus.is_some())})
    };
    let document = serde_json::json!({"schema_version": 1, "daemon": {"version": "1.2.3", "pid": 1, "tick_ms": 10.0, "events": 99,
        "lost": 0, "ticks": 0, "placed": 0, "released": 0, "contested": 1, "eyes": "sensor", "sensor": {"switches": 0, "rings": 0,
        "gate_rings": 0, "moves": 12, "unmade": 0, "lost": 0, "unknown": 0}, "last_machine": null,
        "last_reload": {"outcome": "refused", "detail": detail}},
        "classes": [class("web", "rt", Some("0-3"), false, (0..members).map(member).collect()),
            class("batch", "batch", Some("4,6"), true, Vec::new()), class("others", "unmanaged", None, false, Vec::new())],
        "failures": []});
    document.to_string()
}

fn scene(machine: &str, members: usize, colour: bool) -> Scene {
    let machine = Topology::load(&TopologySource::Synthetic(machine.to_owned())).unwrap();
    let loads = [(0, 1.0), (1, 0.5), (2, 0.01)].map(|(cpu, load)| (CpuId(cpu), load)).into();
    Scene::new(&answer(members, "p.policy: no clause\u{1b}[31m\nmore"), machine, loads, colour)
        .unwrap_or_else(|failure| panic!("{}", failure.text()))
}

fn drawn(scene: &Scene, keys: &[Key], width: u16, height: u16) -> Buffer {
    let mut gaze = Gaze::default();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut show = |gaze: &mut Gaze| {
        scene.settle(gaze);
        let mut page = 0;
        terminal.draw(|frame| page = draw(frame, scene, gaze)).unwrap();
        gaze.fit(page);
    };
    show(&mut gaze);
    for key in keys {
        assert!(gaze.key(*key));
        show(&mut gaze);
    }
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    rows.map(|cells| row(cells).trim_end().to_owned() + "\n").collect()
}

#[test]
fn eighty_columns_show_machine_classes_and_processes() {
    insta::assert_snapshot!(text(&drawn(&scene("pack:1 core:4 pu:2", 30, true), &[], 80, 24)));
}

#[test]
fn a_filter_leaves_what_has_it_and_says_so() {
    let keys: Vec<Key> = "/batch".chars().map(Key::Letter).chain([Key::Enter]).collect();
    let screen = text(&drawn(&scene("pack:1 core:4 pu:2", 3, true), &keys, 80, 20));
    assert!(
        screen.contains("> ■ batch") && !screen.contains("■ web") && screen.contains("only what has `batch`"),
        "{screen}"
    );
    let none: Vec<Key> = "/nothing".chars().map(Key::Letter).chain([Key::Enter]).collect();
    assert!(text(&drawn(&scene("pack:1 core:4 pu:2", 3, true), &none, 80, 20)).contains("no class has that"));
}

#[test]
fn a_filter_leaves_the_processes_that_have_it_and_all_of_a_class_that_has() {
    let filtered = |filter: &str| {
        let keys: Vec<Key> = filter.chars().map(Key::Letter).chain([Key::Enter]).collect();
        text(&drawn(&scene("pack:1 core:4 pu:2", 3, true), &keys, 80, 20))
    };
    let one = filtered("/worker/2");
    assert!(one.contains("■ web") && one.contains("worker/2") && !one.contains("worker/1"), "{one}");
    let all = filtered("/web");
    assert!((0..3).all(|at| all.contains(&format!("worker/{at}"))), "{all}");
}

#[test]
fn pages_go_to_the_last_process_and_at_once_back() {
    let after = |keys: &[Key]| text(&drawn(&scene("pack:1 core:4 pu:2", 30, true), keys, 80, 24));
    let last = after(&[Key::PageDown; 9]);
    assert!(last.contains("worker/29") && last.contains("of 30)"), "{last}");
    let back = after(&[&[Key::PageDown; 9][..], &[Key::PageUp]].concat());
    assert!(!back.contains("worker/29"), "{back}");
}

#[test]
fn what_is_wrong_is_seen_on_a_narrow_terminal_and_what_is_cut_is_marked() {
    let mut document: serde_json::Value = serde_json::from_str(&answer(2, "")).unwrap();
    document["daemon"]["lost"] = 2.into();
    document["failures"] = serde_json::json!([{"pid": 1000, "class": "web", "error":
        "/sys/fs/cgroup/cpuset/web/cpuset.cpus: write 0-3: No space left on device"}]);
    document["classes"][0]["places"] = serde_json::json!({"affinity": 123, "cgroup": 456});
    let machine = Topology::load(&TopologySource::Synthetic("pack:1 core:4 pu:2".to_owned())).unwrap();
    let scene = Scene::new(&document.to_string(), machine, BTreeMap::new(), true).unwrap_or_else(|_| panic!());
    let screen = text(&drawn(&scene, &[], 80, 24));
    let has = |line: &str| assert!(screen.lines().any(|shown| shown.contains(line)), "{line}\n{screen}");
    has("1 not enforced  1 contested  events lost 2 times  watched");
    has("refused  1 contested …");
    has("1000 worker/0               4/4 move       /sys/fs/cgroup/cpuset/web/cp…");
}

#[test]
fn a_large_machine_leaves_room_for_the_rest() {
    for (name, width, height) in [("pack:2 core:128 pu:2", 80, 24), ("pack:8 l3:16 core:8 pu:8", 80, 24)] {
        let screen = text(&drawn(&scene(name, 2, true), &[], width, height));
        assert!(screen.contains("q quit") && screen.contains("worker/1"), "{screen}");
    }
    let help = text(&drawn(&scene("pack:2 core:128 pu:2", 2, true), &[Key::Letter('?')], 80, 24));
    assert!(help.contains("any key closes") && help.contains("q, Ctrl-C"), "{help}");
}

#[test]
fn a_cpu_has_the_colour_of_who_may_run_there_and_none_without_colours() {
    let colour = |buffer: &Buffer, column: u16| buffer[(column, 2)].fg;
    let coloured = drawn(&scene("pack:1 core:4 pu:2", 1, true), &[], 80, 24);
    assert_eq!((colour(&coloured, 6), colour(&coloured, 12)), (Color::Green, Color::Yellow), "CPUs 0 and 4");
    assert_eq!(colour(&coloured, 13), Color::Reset, "nobody's");
    let plain = drawn(&scene("pack:1 core:4 pu:2", 1, false), &[], 80, 24);
    assert!(plain.content.iter().all(|cell| cell.fg == Color::Reset));
}

#[test]
fn the_smallest_terminal_is_drawn_on_without_a_fault() {
    for (width, height) in [(1, 1), (10, 3), (40, 8), (300, 100)] {
        drawn(&scene("pack:2 core:128 pu:2", 50, true), &[Key::End, Key::PageDown, Key::Letter('?')], width, height);
    }
}
