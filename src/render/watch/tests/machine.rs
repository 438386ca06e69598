//! How the machine is drawn: as it stands, in the room that there is.

use super::*;

/// The lines of the machine, which are those above the first empty one.
fn machine(name: &str, width: u16, height: u16) -> Vec<String> {
    let screen = text(&drawn(&scene(name, 2, true), &[], width, height));
    screen.lines().skip(2).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_clauses_of_the_chosen_class_say_by_what_they_are_kept_and_how_fast() {
    let screen = text(&drawn(&scene("pack:1 core:4 pu:2", 2, true), &[], 100, 40));
    let rows = [
        "clause (2 siblings open)   kept by                strength         effect",
        "on                         allowed CPUs           strict           CPUs 0-3",
        "prefer idle core           sensor                 reactive, 0.1 ms 0-3: moved off a shared core…",
        "share core with itself     nothing                refused          nobody else",
    ];
    rows.iter().for_each(|row| assert!(screen.contains(row), "{row}\n{screen}"));
    let few = text(&drawn(&scene("pack:1 core:4 pu:2", 2, true), &[], 100, 20));
    assert!(few.contains("… 2 more clauses; `cotenant status` has all"), "{few}");
    let unmanaged = text(&drawn(&scene("pack:1 core:4 pu:2", 2, true), &[Key::End], 100, 40));
    assert!(!unmanaged.contains("kept by"), "{unmanaged}");
    let alone = text(&drawn(&scene("pack:1 core:4 pu:1", 2, true), &[], 100, 40));
    assert!(alone.contains("clause                     kept by"), "{alone}");
}

#[test]
fn packages_caches_cores_and_siblings_are_drawn_as_they_stand() {
    assert_eq!(
        machine("pack:2 l3:2 core:2 pu:2", 80, 24),
        ["package 0 llc 0 █▄ ▁. llc 1 .. ..", "package 1 llc 2 .. .. llc 3 .. .."]
    );
    assert_eq!(machine("pack:1 l3:2 core:3 pu:1", 80, 24), ["llc 0 █ ▄ ▁ llc 1 . . ."]);
    assert_eq!(machine("pack:1 l2:4 core:1 pu:2", 80, 24), ["cores █▄ ▁. .. .."], "caches of one core are cores");
    assert_eq!(
        machine("pack:1 l3:3 core:4 pu:2", 40, 24),
        ["llc 0 █▄ ▁. .. .. llc 1 .. .. .. ..", "llc 2 .. .. .. .."],
        "a cache stays on a line"
    );
    assert_eq!(
        machine("pack:2 core:8 pu:1", 20, 24),
        ["package 0 █ ▄ ▁ . .", "          . . .", "package 1 . . . . .", "          . . ."],
        "the rest of a package stands below it"
    );
}

#[test]
fn nothing_of_a_machine_is_beyond_the_edge() {
    let marks = |lines: &[String]| lines.concat().chars().filter(|c| ".▁▄█".contains(*c)).count();
    let of_cores = |lines: &Vec<String>| lines.last().unwrap().starts_with("a mark is a core");
    for width in (30..120).step_by(7) {
        assert_eq!(marks(&machine("pack:2 l3:2 core:9 pu:2", width, 60)), 72, "CPUs on {width} columns");
        let name = "pack:2 l3:2 core:35 pu:2";
        let cores = (10..60).map(|height| machine(name, width, height)).find(of_cores).unwrap();
        assert_eq!(marks(&cores), 140, "{width} columns: {cores:#?}");
    }
}

#[test]
fn a_machine_too_large_for_its_cpus_is_drawn_by_cores_and_by_caches() {
    let every = "pack:2 l3:16 core:8 pu:2";
    let cpus = machine(every, 200, 80);
    assert_eq!((cpus.len(), cpus.concat().chars().filter(|c| ".▁▄█".contains(*c)).count()), (6, 512));
    let cores = machine(every, 80, 24);
    assert_eq!(cores.last().unwrap(), "a mark is a core, as busy as the busiest of its CPUs");
    assert!(cores[0].starts_with("package 0 llc 0 █▁...... llc 1"), "{cores:#?}");
    assert!(cores.iter().any(|line| line.ends_with("llc 31 ........")), "{cores:#?}");
    let caches = machine(every, 80, 18);
    assert_eq!(caches.last().unwrap(), "a mark is a cache, as busy as its cores on average");
    assert!(caches[0].starts_with("package 0 llc 0 ▂ llc 1 ."), "(1 + 0.01) / 8: {caches:#?}");
    let none = machine(every, 80, 10);
    assert_eq!(none.last().unwrap(), "… 256 cores in all, more than fit here");
}
