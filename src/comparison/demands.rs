//! What a class asks for beyond its CPUs and its scheduling policy, in words.

use cotenant_compiler::plan::{CoreSharing, Demands, Placement, Preference, Reservation};

use super::aspects::{Aspect, aspect};

/// One heading for each thing that is asked for.
pub(super) fn of(placement: &Placement) -> Vec<Aspect> {
    let it: &Demands = &placement.demands;
    // Kept by watching, it is the class's gate, which has been told.
    let idle = it.only_when_idle.filter(|_| placement.gate.is_none());
    let said = [
        ("reservation", it.deadline.as_ref().map(reservation)),
        ("prefers", it.preference.as_ref().map(preference)),
        ("shares cores with", it.share_core.as_ref().map(sharing)),
        ("runs", idle.map(|unit| format!("only when {} idle", unit.word()))),
        ("waits at most", it.wait_at_most.map(|time| time.to_string())),
        ("slice", it.slice.map(|time| time.to_string())),
        ("weight", it.weight.map(|weight| weight.to_string())),
        ("quota", it.quota.map(|quota| quota.to_string())),
        ("clamp", it.clamp.map(|(low, high)| format!("{low}-{high}"))),
        ("memory bandwidth", it.memory_bandwidth.map(|share| format!("at most {share}"))),
        ("llc", it.llc_share.map(|share| format!("at most {share}"))),
        ("when others change a thread", it.on_change.map(|what| what.word().to_owned())),
        ("placed by", it.place_by.map(|means| means.word().to_owned())),
    ];
    said.into_iter().filter_map(|(what, text)| Some(aspect(what, text?))).collect()
}

fn reservation(it: &Reservation) -> String {
    let deadline = if it.deadline == it.period { String::new() } else { format!(", deadline {}", it.deadline) };
    format!("{} every {}{deadline}", it.runtime, it.period)
}

fn preference(it: &Preference) -> String {
    match it {
        Preference::IdleCpu => "an idle CPU".to_owned(),
        Preference::LastCpu => "the CPU where it last ran".to_owned(),
        Preference::Cpus(cpus) => format!("CPUs {}", cpus.brief()),
    }
}

fn sharing(it: &CoreSharing) -> String {
    let itself = it.itself.then(|| "itself".to_owned());
    let others = it.classes.iter().map(|name| format!("class {name}"));
    let words: Vec<String> = itself.into_iter().chain(others).collect();
    if words.is_empty() { "nobody".to_owned() } else { words.join(", ") }
}
