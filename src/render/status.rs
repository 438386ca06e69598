//! The status of a daemon as an operator reads it.

use cotenant_compiler::CpuSet;

use super::counted::counted;
use super::printable;
use super::printable::one_line;
use super::status_json::{Class, Clause, Document, Member};
use super::table::{Fit, fit, lines, row, table};
use crate::failure::Failure;
use crate::terminal::Look;

/// Processes named for each class; of more, the first.
const MEMBERS_SHOWN: usize = 10;

/// The daemon's answer as tables.
pub(crate) fn status(answer: &str, look: Look) -> Result<String, Failure> {
    let document = Document::read(answer)?;
    let daemon = &document.daemon;
    let mut text = format!(
        "cotenant {} (process {}), {}, {} followed",
        daemon.version,
        daemon.pid,
        counted(document.classes.len(), "class"),
        counted(usize::try_from(daemon.events).unwrap_or(usize::MAX), "event"),
    );
    if daemon.lost > 0 {
        text.push_str(&format!(", events lost {} times and everything scanned again", daemon.lost));
    }
    text.push('\n');
    text.push_str(&eyes(&document));
    for (what, reload) in [("policy", &daemon.last_reload), ("machine", &daemon.last_machine)] {
        let Some(reload) = reload else { continue };
        let detail = if reload.detail.is_empty() { String::new() } else { format!(": {}", reload.detail) };
        text.push_str(&printable(&format!("last change of the {what} {}{detail}\n", reload.outcome)));
    }
    text.push('\n');
    text.push_str(&classes(&document, look));
    for class in document.classes.iter().filter(|class| !class.members.is_empty()) {
        text.push_str(&members(class, look));
    }
    if !document.failures.is_empty() {
        text.push_str("\nnot enforced\n");
        for refusal in &document.failures {
            let line = format!("  process {} of class `{}`: {}\n", refusal.pid, refusal.class, refusal.error);
            text.push_str(&printable(&line));
        }
    }
    text.push_str(&promises(&document, look));
    Ok(text)
}

/// What watches, how fast it reacts, and what went unseen.
fn eyes(document: &Document) -> String {
    let daemon = &document.daemon;
    let Some(sensor) = &daemon.sensor else {
        return format!("watched by the tick loop, every {} ms\n", daemon.tick_ms);
    };
    let count = |number: u64, word| counted(usize::try_from(number).unwrap_or(usize::MAX), word);
    let mut text = format!("watched by the sensor, 0.1 ms: {} moved", count(sensor.moves, "thread"));
    for (number, what) in
        [(sensor.unmade, "not moved"), (sensor.lost, "bells lost"), (sensor.unknown, "switches unknown")]
    {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    text.push('\n');
    text
}

fn classes(document: &Document, look: Look) -> String {
    // Few hosts have cookies and few policies ask for one.
    let cookied = document.classes.iter().any(|class| !class.cookies.is_empty());
    let mut heads = vec!["class", "kind", "CPUs now", "processes", "threads as wanted", "placed by"];
    heads.extend(cookied.then_some("cookie"));
    let mut overview = table(&heads, look);
    for class in &document.classes {
        let places: Vec<String> = class.places.iter().map(|(place, count)| format!("{place} {count}")).collect();
        let cookie = cookied.then(|| cookies(&class.cookies));
        row(
            &mut overview,
            [
                class.name.clone(),
                class.kind.clone(),
                cpus(class),
                class.members.len().to_string(),
                format!("{} of {}", class.conforming, class.threads),
                places.join(", "),
            ]
            .into_iter()
            .chain(cookie),
        );
    }
    lines(&mut overview)
}

fn cpus(class: &Class) -> String {
    let Some(list) = &class.cpus else { return "never touched".to_owned() };
    let cpus = list.parse::<CpuSet>().map_or_else(|_| list.clone(), |cpus| cpus.brief());
    match (class.frozen, class.places.contains_key("affinity")) {
        (false, _) => cpus,
        (true, false) => format!("stopped (then {cpus})"),
        // Masks cannot be empty: what is placed by affinity keeps one CPU, at SCHED_IDLE where the class is batch.
        (true, true) => format!("stopped, by affinity one CPU (then {cpus})"),
    }
}

/// One cookie as the kernel tells it, `0` for none; of several, how many there are.
fn cookies(shown: &[String]) -> String {
    match shown {
        [] => String::new(),
        [one] => one.clone(),
        many if many.iter().any(|cookie| cookie == "0") => format!("{}, and threads without", many.len() - 1),
        many => format!("{} of them", many.len()),
    }
}

fn members(class: &Class, look: Look) -> String {
    let cookied = !class.cookies.is_empty();
    let mut heads = vec!["process", "name", "threads as wanted", "placed by"];
    heads.extend(cookied.then_some("cookie"));
    heads.push("");
    let mut listed = table(&heads, look);
    for member in class.members.iter().take(MEMBERS_SHOWN) {
        row(
            &mut listed,
            [
                member.pid.to_string(),
                one_line(&member.comm),
                format!("{} of {}", member.conforming, member.threads),
                member.place.clone(),
            ]
            .into_iter()
            .chain(cookied.then(|| cookies(&member.cookies)))
            .chain([remark(member)]),
        );
    }
    let more = class.members.len().saturating_sub(MEMBERS_SHOWN);
    let more = if more == 0 { String::new() } else { format!("and {more} more\n") };
    format!("\n{} class {}\n\n{}{more}", class.kind, printable(&class.name), lines(&mut listed))
}

/// What else is to be said of a process.
fn remark(member: &Member) -> String {
    let theirs = match member.theirs {
        0 => None,
        theirs if theirs == member.threads => Some("changed by somebody else".to_owned()),
        theirs => Some(format!("{theirs} changed by somebody else")),
    };
    let contested = member.contested.then(|| "contested".to_owned());
    let remarks: Vec<String> = [contested, theirs, member.reason.clone()].into_iter().flatten().collect();
    remarks.join("; ")
}

/// How strongly a clause is kept, and within what time where something has to happen first.
pub(super) fn strength(clause: &Clause, tick_ms: f64) -> String {
    match (clause.strength.as_str(), clause.means.as_str()) {
        ("reactive", "sensor") => "reactive, 0.1 ms".to_owned(),
        ("reactive", "look each second") => "reactive, 1 s".to_owned(),
        ("reactive", _) => format!("reactive, {tick_ms} ms"),
        (other, _) => other.to_owned(),
    }
}

/// How each clause is kept; reactive ones within a tick of this daemon.
fn promises(document: &Document, look: Look) -> String {
    let mut kept = table(&["class", "clause", "effect here", "kept by", "strength"], look);
    let mut any = false;
    for class in &document.classes {
        for clause in &class.clauses {
            any = true;
            let strength = strength(clause, document.daemon.tick_ms);
            row(
                &mut kept,
                [class.name.clone(), clause.text.clone(), clause.effect.clone(), clause.means.clone(), strength],
            );
        }
    }
    fit(&mut kept, &[Fit::Whole, Fit::AtMost(20), Fit::AtLeast(20), Fit::Whole, Fit::Whole]);
    if any { format!("\n{}", lines(&mut kept)) } else { String::new() }
}
