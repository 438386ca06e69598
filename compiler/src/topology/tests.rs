//! The machines of `tests/machines`, synthetic ones, and the one this runs on.

use std::path::PathBuf;

use super::*;

fn machines() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/machines")
}

fn load(file: &str) -> Topology {
    Topology::load(&TopologySource::Xml(machines().join(file))).unwrap()
}

fn synthetic(description: &str) -> Result<Topology, TopologyError> {
    Topology::load(&TopologySource::Synthetic(description.to_owned()))
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn lists(sets: &[CpuSet]) -> Vec<String> {
    sets.iter().map(CpuSet::to_string).collect()
}

fn threads(topology: &Topology, core: usize) -> Vec<u32> {
    topology.cores()[core].threads.iter().map(|cpu| cpu.0).collect()
}

#[test]
fn every_machine_file_is_the_machine_its_name_says() {
    let mut seen = Vec::new();
    for (file, line) in [
        ("smt-16x2.xml", "1 package, 1 node, 1 llc, 16 cores, 32 CPUs (2 threads a core)"),
        ("no-smt-8.xml", "1 package, 1 node, 1 llc, 8 cores, 8 CPUs (1 thread a core)"),
        ("smt4-8x4.xml", "1 package, 1 node, 1 llc, 8 cores, 32 CPUs (4 threads a core)"),
        (
            "hybrid-8p-8e.xml",
            "1 package, 1 node, 1 llc, 16 cores (8 performance, 8 efficiency), 24 CPUs (1 or 2 threads a core)",
        ),
        ("numa-2x2.xml", "2 packages, 4 nodes, 4 llcs, 32 cores, 64 CPUs (2 threads a core)"),
        ("sibling-offline-4x2.xml", "1 package, 1 node, 1 llc, 4 cores, 7 CPUs (1 or 2 threads a core), 1 offline"),
        ("smt-128x2-8llc.xml", "1 package, 1 node, 8 llcs, 128 cores, 256 CPUs (2 threads a core)"),
    ] {
        let topology = load(file);
        assert_eq!(summary(&topology), line, "{file}");
        assert_eq!(topology.has_smt(), file != "no-smt-8.xml", "{file}");
        seen.push(file.to_owned());
    }
    seen.sort();
    let mut there: Vec<String> =
        machines().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    assert_eq!(seen, there, "every file is tested");
}

#[test]
fn siblings_far_apart_in_number_share_a_core() {
    let topology = load("smt-16x2.xml");
    assert_eq!(threads(&topology, 3), [3, 19]);
    assert_eq!(topology.fronts(topology.online()), set("0-15"));
    assert_eq!(topology.siblings(topology.online()), set("16-31"));
    assert_eq!(lists(topology.llcs()), ["0-31"]);
    assert_eq!(topology.of_kind(CoreKind::Performance), set("0-31"));
}

#[test]
fn one_core_may_have_one_thread_or_four() {
    let single = load("no-smt-8.xml");
    assert_eq!(single.fronts(single.online()), set("0-7"));
    assert_eq!(single.siblings(single.online()), set(""));
    let four = load("smt4-8x4.xml");
    assert_eq!(threads(&four, 1), [4, 5, 6, 7]);
    assert_eq!(four.fronts(four.online()), set("0,4,8,12,16,20,24,28"));
    assert_eq!(four.siblings(&set("0-7")), set("1-3,5-7"));
}

#[test]
fn a_hybrid_machine_has_two_kinds() {
    let topology = load("hybrid-8p-8e.xml");
    assert_eq!(topology.of_kind(CoreKind::Performance), set("0-15"));
    assert_eq!(topology.of_kind(CoreKind::Efficiency), set("16-23"));
    assert_eq!(topology.fronts(topology.online()), set("0,2,4,6,8,10,12,14,16-23"));
    assert_eq!(lists(topology.llcs()), ["0-23"], "the clusters' level 2 caches are not the last");
}

#[test]
fn nodes_and_packages_nest() {
    let topology = load("numa-2x2.xml");
    assert_eq!(lists(topology.nodes()), ["0-7,32-39", "8-15,40-47", "16-23,48-55", "24-31,56-63"]);
    assert_eq!(topology.llcs(), topology.nodes());
    assert_eq!(lists(topology.packages()), ["0-15,32-47", "16-31,48-63"]);
    let core = topology.core_of(CpuId(52)).unwrap();
    assert_eq!((core.package, core.node, core.llc, core.cpus.clone()), (1, 2, Some(2), set("20,52")));
}

#[test]
fn an_offline_sibling_leaves_its_core_one_thread() {
    let topology = load("sibling-offline-4x2.xml");
    assert_eq!((topology.online(), topology.offline()), (&set("0-5,7"), &set("6")));
    assert_eq!((threads(&topology, 1), threads(&topology, 2)), (vec![1, 5], vec![2]));
    assert_eq!(topology.fronts(topology.online()), set("0-3"));
    assert_eq!(topology.core_of(CpuId(6)), None);
}

#[test]
fn many_caches_are_told_apart() {
    let topology = load("smt-128x2-8llc.xml");
    assert_eq!(topology.llcs().len(), 8);
    assert_eq!(topology.llcs()[7], set("112-127,240-255"));
    assert_eq!(threads(&topology, 127), [127, 255]);
}

#[test]
fn a_level_may_be_missing() {
    for (description, line) in [
        ("pack:2 core:8 pu:2", "2 packages, 1 node, 16 cores, 32 CPUs (2 threads a core)"),
        ("core:4 pu:2", "1 package, 1 node, 4 cores, 8 CPUs (2 threads a core)"),
        ("pack:2 pu:4", "2 packages, 1 node, 8 cores, 8 CPUs (1 thread a core)"),
        ("pu:4", "1 package, 1 node, 4 cores, 4 CPUs (1 thread a core)"),
        ("l2:2 core:1 pu:2", "1 package, 1 node, 2 llcs, 2 cores, 4 CPUs (2 threads a core)"),
        ("node:2 core:2 pu:1", "1 package, 2 nodes, 4 cores, 4 CPUs (1 thread a core)"),
        ("pack:2 [numa] l3:1 core:2 pu:2", "2 packages, 2 nodes, 2 llcs, 4 cores, 8 CPUs (2 threads a core)"),
    ] {
        assert_eq!(summary(&synthetic(description).unwrap()), line, "{description}");
    }
}

#[test]
fn a_bad_description_is_refused() {
    for description in [
        "",
        "foo",
        "pack:2 core:8",
        "pack:2,core:8",
        "pack:2 core:0 pu:2",
        "machine:2 pu:2",
        "a\0b",
        "pu:2(indexes=3,3)",
    ] {
        let error = synthetic(description).unwrap_err();
        assert!(matches!(error, TopologyError::Synthetic { .. }), "{description}: {error}");
        assert!(error.to_string().contains("such as \"pack:2 core:8 pu:2\""), "{error}");
    }
    assert!(matches!(synthetic("core:100000 pu:2").unwrap_err(), TopologyError::TooLarge { .. }));
    let misnumbered = synthetic("pu:2(indexes=0,70000)").unwrap_err();
    assert!(matches!(misnumbered, TopologyError::CpuNumber { cpu: 70_000, .. }), "{misnumbered}");
}

#[test]
fn a_bad_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        match Topology::load(&TopologySource::Xml(path)).unwrap_err() {
            TopologyError::NotHwloc { cause, .. } => cause,
            other => panic!("{name}: {other}"),
        }
    };
    assert!(refused("text.xml", b"class web: never spill;").starts_with("it is not XML ("));
    assert_eq!(refused("binary.xml", b"\xff\xfe\x00"), "it is not UTF-8 text");
    assert_eq!(refused("page.xml", b"<html/>"), "its outermost element is `html`, not `topology`");
    assert_eq!(refused("hollow.xml", b"<topology version=\"2.0\"/>"), "libhwloc finds no machine in it");

    let missing = Topology::load(&TopologySource::Xml(folder.path().join("none.xml"))).unwrap_err();
    assert!(matches!(missing, TopologyError::Missing { .. }), "{missing}");
    let directory = Topology::load(&TopologySource::Xml(folder.path().to_owned())).unwrap_err();
    assert!(matches!(directory, TopologyError::Unreadable { .. }), "{directory}");
}

#[test]
fn live_is_what_the_kernel_says() {
    let topology = Topology::load(&TopologySource::Live).unwrap();
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    assert_eq!(topology.online(), &online.parse().unwrap());
    assert!(!topology.online().is_empty());
}

#[test]
fn loads_in_parallel_agree() {
    let expected = [load("numa-2x2.xml"), synthetic("core:3 pu:2").unwrap()];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!([load("numa-2x2.xml"), synthetic("core:3 pu:2").unwrap()], expected);
                    assert!(synthetic("nonsense").is_err());
                }
            });
        }
    });
}
