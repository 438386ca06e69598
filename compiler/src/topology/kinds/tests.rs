use super::*;

fn slow(kinds: &Kinds) -> String {
    (0..64).map(CpuId).filter(|cpu| kinds.of(*cpu) == CoreKind::Efficiency).collect::<CpuSet>().to_string()
}

/// What is slow among CPUs 0 to 63 where each element covers those of its mask.
fn slow_in_xml(elements: &str) -> String {
    slow(&Kinds::from_xml(&Document::parse(&format!("<topology>{elements}</topology>")).unwrap()))
}

fn element(mask: &str, attributes: &str, infos: &[(&str, &str)]) -> String {
    let infos: String =
        infos.iter().map(|(name, value)| format!("<info name=\"{name}\" value=\"{value}\"/>")).collect();
    format!("<cpukind cpuset=\"{mask}\" {attributes}>{infos}</cpukind>")
}

const LOW: &str = "0x0000000f";
const HIGH: &str = "0xffffffff,0xfffffff0";

#[test]
fn the_core_type_goes_before_any_number() {
    let core = element(LOW, "", &[("CoreType", "IntelCore"), ("FrequencyMaxMHz", "3000")]);
    let atom = element(HIGH, "", &[("CoreType", "IntelAtom"), ("FrequencyMaxMHz", "5000")]);
    assert_eq!(slow_in_xml(&(core + &atom)), "4-63");
}

#[test]
fn then_a_forced_efficiency_then_the_frequency() {
    let kinds = |low: &str, high: &str| {
        element(LOW, low, &[("FrequencyMaxMHz", "5000")]) + &element(HIGH, high, &[("FrequencyMaxMHz", "3000")])
    };
    assert_eq!(slow_in_xml(&kinds("forced_efficiency=\"0\"", "forced_efficiency=\"1\"")), "0-3");
    assert_eq!(slow_in_xml(&kinds("forced_efficiency=\"0\"", "")), "4-63", "one has none");
}

#[test]
fn three_kinds_have_one_fastest() {
    let kinds = [("0x1", "5000"), ("0x2", "4000"), ("0x4", "2000")];
    let text: String = kinds.iter().map(|(mask, mhz)| element(mask, "", &[("FrequencyMaxMHz", mhz)])).collect();
    assert_eq!(slow_in_xml(&text), "1-63", "and what belongs to no kind is not known to be fast");
}

#[test]
fn graded_cores_of_one_kind_are_one_kind() {
    let favoured = element(LOW, "", &[("FrequencyMaxMHz", "5700")]);
    let others = element(HIGH, "", &[("FrequencyMaxMHz", "5400")]);
    assert_eq!(slow_in_xml(&(favoured + &others)), "");
    assert_eq!(slow_in_xml(&element(LOW, "", &[])), "");
    assert_eq!(slow_in_xml(""), "");
}

#[test]
fn masks_are_read_as_hwloc_writes_them() {
    for (mask, cpus) in [
        ("0x0", ""),
        ("0x0000000f", "0-3"),
        ("0x00000001,0x80000000", "31-32"),
        ("0x1,,0x1", "0,64"),
        ("0x1,0x0,0x0,0x0,0x0", "128"),
    ] {
        assert_eq!(cpus_of_mask(mask).unwrap().to_string(), cpus, "{mask}");
    }
    for mask in ["f", "0xf...f", "0x1ffffffff", "0x-1"] {
        assert_eq!(cpus_of_mask(mask), None, "{mask}");
    }
}

/// A sysfs with these files.
fn sysfs(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join("devices").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn intels_hybrids_name_their_kinds() {
    let root = sysfs(&[("cpu_core/cpus", "0-15\n"), ("cpu_atom/cpus", "16-19\n"), ("cpu_lowpower/cpus", "20-21\n")]);
    assert_eq!(slow(&Kinds::from_sysfs(root.path())), "16-63");
    let root = sysfs(&[("cpu_core/cpus", "0-15\n"), ("cpu_atom/cpus", "\n")]);
    assert_eq!(slow(&Kinds::from_sysfs(root.path())), "", "every small core is switched off");
}

#[test]
fn arm_tells_capacities() {
    let (little, big) = ("446\n", "1024\n");
    let root = sysfs(&[
        ("system/cpu/online", "0-2\n"),
        ("system/cpu/cpu0/cpu_capacity", little),
        ("system/cpu/cpu1/cpu_capacity", little),
        ("system/cpu/cpu2/cpu_capacity", big),
    ]);
    assert_eq!(slow(&Kinds::from_sysfs(root.path())), "0-1,3-63");
    let root = sysfs(&[("system/cpu/online", "0\n"), ("system/cpu/cpu0/cpu_capacity", big)]);
    assert_eq!(slow(&Kinds::from_sysfs(root.path())), "");
    assert_eq!(Kinds::from_sysfs(sysfs(&[]).path()), Kinds::default());
}
