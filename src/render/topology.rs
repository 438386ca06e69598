//! A machine as policies name it: one line a core, then the words a policy may use.

use comfy_table::CellAlignment;
use cotenant_compiler::CpuSet;
use cotenant_compiler::topology::{Core, CoreKind, Topology, summary};

use super::table::{lines, row, table};
use super::topology_json::kind;
use crate::terminal::Look;

/// The whole machine.
pub(crate) fn topology(machine: &Topology, look: Look) -> String {
    let mut text = format!("{}\n\n{}", summary(machine), cores(machine, look));
    if !machine.offline().is_empty() {
        text.push_str(&format!("\noffline: {}\n", range("cpu", machine.offline())));
    }
    text.push_str("\na policy may name:\n");
    text.push_str(&words(machine).into_iter().map(|word| format!("  {word}\n")).collect::<String>());
    text
}

fn is_hybrid(machine: &Topology) -> bool {
    machine.cores().iter().any(|core| core.kind == CoreKind::Efficiency)
}

fn cores(machine: &Topology, look: Look) -> String {
    let columns: [(bool, &str, Column); 7] = [
        (true, "core", |number, _| number.to_string()),
        (true, "front", |_, core| core.threads.first().map_or_else(String::new, ToString::to_string)),
        (machine.has_smt(), "siblings", |_, core| siblings(core)),
        (!machine.llcs().is_empty(), "llc", |_, core| core.llc.map_or_else(String::new, |llc| llc.to_string())),
        (true, "node", |_, core| core.node.to_string()),
        (true, "package", |_, core| core.package.to_string()),
        (is_hybrid(machine), "kind", |_, core| kind(core.kind).to_owned()),
    ];
    let columns = || columns.iter().filter(|(shown, ..)| *shown);
    let mut cores = table(&columns().map(|(_, head, _)| *head).collect::<Vec<_>>(), look);
    for (at, core) in machine.cores().iter().enumerate() {
        row(&mut cores, columns().map(|(.., text)| text(at, core)));
    }
    for (column, _) in cores.column_iter_mut().zip(columns()).filter(|(_, (_, head, _))| *head != "kind") {
        column.set_cell_alignment(CellAlignment::Right);
    }
    lines(&mut cores)
}

/// What a column says of a core, given with its logical number.
type Column = fn(usize, &Core) -> String;

fn siblings(core: &Core) -> String {
    let siblings: Vec<String> = core.threads.iter().skip(1).map(ToString::to_string).collect();
    if siblings.is_empty() { "-".to_owned() } else { siblings.join(",") }
}

/// Sets of CPUs that mean something here, ready to be typed behind `on`.
fn words(machine: &Topology) -> Vec<String> {
    let numbers = |count: usize| (0..count).map(|at| cotenant_compiler::CpuId(at as u32)).collect::<CpuSet>();
    let counted = [
        ("core", machine.cores().len()),
        ("llc", machine.llcs().len()),
        ("node", machine.nodes().len()),
        ("package", machine.packages().len()),
    ];
    let mut words = vec!["all".to_owned(), range("cpu", machine.online())];
    words.extend(counted.into_iter().filter(|(_, count)| *count > 0).map(|(unit, count)| range(unit, &numbers(count))));
    if machine.has_smt() {
        words.push("fronts of …, siblings of …".to_owned());
    }
    if is_hybrid(machine) {
        words.push("performance cores, efficiency cores".to_owned());
    }
    words
}

/// The parts with these numbers as a policy writes them: `cores 0-15`, `cpus 0-3 and cpu 6`.
fn range(unit: &str, numbers: &CpuSet) -> String {
    let piece = |(first, last): (cotenant_compiler::CpuId, cotenant_compiler::CpuId)| match first == last {
        true => format!("{unit} {first}"),
        false => format!("{unit}s {first}-{last}"),
    };
    numbers.ranges().map(piece).collect::<Vec<_>>().join(" and ")
}
