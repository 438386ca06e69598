//! Why a process is where it is, as an operator reads it, on one screen.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cotenant_grammar::{Diagnostic, SourceSet};

use super::human::marked;
use super::table::{Fit, fit, lines, row, table};
use super::why_json::{Answer, Enforced, State, Tried};
use super::{one_line, printable};
use crate::terminal::Look;
use crate::why::{POSED, brief, sentence};

/// Classes shown that do not match, from the first; the last ones, where there are more, are those next to the one that does.
const SHOWN: usize = 12;

/// Threads shown.
const THREADS: usize = 8;

/// The longest command line shown, in characters.
const LINE: usize = 160;

/// The verdict at its clause, where there is one, and everything that led to it.
pub(crate) fn why(answer: &Answer, verdict: Option<&Diagnostic>, sources: &SourceSet, look: Look) -> String {
    let process = &answer.process;
    let mut text = match verdict {
        Some(verdict) => marked("why:", verdict, sources, look),
        None => {
            format!("process {} (`{}`) is in no class, and none comes near\n", process.pid, one_line(&process.comm))
        }
    };
    text.push('\n');
    text.push_str(&fields(answer, look));
    text.push_str(&tried(&answer.tried, look));
    if let Some(enforced) = &answer.enforced {
        text.push_str(&done(enforced, look));
    }
    text
}

fn fields(answer: &Answer, look: Look) -> String {
    let process = &answer.process;
    let args = brief(&process.args.join(" "), LINE);
    let list = |values: &[String]| (!values.is_empty()).then(|| values.join(", "));
    let parent = process.parent_comm.as_ref().map(|comm| format!("{} {comm}", process.parent));
    let rows = [
        ("exe", process.exe.clone()),
        ("comm", Some(process.comm.clone())),
        ("script", process.script.clone()),
        ("arg", (!args.is_empty()).then_some(args)),
        ("user", process.user.clone()),
        ("group", process.group.clone()),
        ("cgroup", list(&process.cgroups)),
        ("unit", list(&process.units)),
        ("slice", list(&process.slices)),
        ("container", list(&process.containers)),
        ("parent", parent),
    ];
    let mut listed = table(&["field", "value"], look);
    for (name, value) in rows {
        row(&mut listed, [name.to_owned(), value.map_or_else(|| "–".to_owned(), |value| one_line(&value))]);
    }
    lines(&mut listed)
}

fn tried(tried: &[Tried], look: Look) -> String {
    if tried.is_empty() {
        return String::new();
    }
    let mut listed = table(&["class, in order", "matches", "because"], look);
    let left_out = tried.len().saturating_sub(SHOWN + 1);
    for (at, class) in tried.iter().enumerate() {
        if left_out > 0 && (SHOWN / 2..SHOWN / 2 + left_out).contains(&at) {
            if at == SHOWN / 2 {
                row(&mut listed, [format!("… {left_out} more"), "no".to_owned(), String::new()]);
            }
            continue;
        }
        let mut reasons: Vec<String> = class.reasons.iter().map(sentence).collect();
        reasons.extend(class.posed.then(|| POSED.to_owned()));
        let matches = if class.matches { "yes" } else { "no" };
        row(&mut listed, [format!("{} {}", class.kind, class.class), matches.to_owned(), reasons.join("; ")]);
    }
    fit(&mut listed, &[Fit::Whole, Fit::Whole, Fit::AtLeast(20)]);
    format!("\n{}", lines(&mut listed))
}

/// What the daemon did, and what the kernel says of it.
fn done(enforced: &Enforced, look: Look) -> String {
    let mut text = format!("\nin class `{}` for {}", printable(&enforced.class), ago(enforced.since));
    text.push_str(&match (enforced.place.as_str(), &enforced.group) {
        ("move" | "cgroup", Some(group)) => format!(", placed by its cgroup `{}`", printable(group)),
        ("affinity", _) => ", placed by the masks of its threads".to_owned(),
        _ => String::new(),
    });
    if let Some(reason) = &enforced.reason {
        text.push_str(&format!(" ({})", printable(reason)));
    }
    if let Some(cpus) = &enforced.cpus {
        let stopped = if enforced.frozen { ", and it is stopped" } else { "" };
        text.push_str(&format!("; the class may use CPUs {cpus} now{stopped}"));
    }
    text.push('\n');
    if enforced.contested {
        text.push_str("contested: something else changes again and again what the class insists on\n");
    }
    if let Some(refused) = &enforced.refused {
        text.push_str(&format!("not enforced: {}\n", printable(refused)));
    }
    if enforced.threads.is_empty() {
        return text;
    }
    let mut listed = table(&["thread", "was", "written", "is now", ""], look);
    // Those of which there is something to say first.
    let (theirs, others): (Vec<_>, Vec<_>) = enforced.threads.iter().partition(|thread| thread.theirs);
    for thread in theirs.iter().chain(&others).take(THREADS) {
        let now = thread.now.as_ref().map_or_else(|| "ended".to_owned(), state);
        let remark = if thread.theirs { "changed by somebody else since" } else { "" };
        row(&mut listed, [thread.tid.to_string(), state(&thread.before), state(&thread.wrote), now, remark.to_owned()]);
    }
    text.push('\n');
    text.push_str(&lines(&mut listed));
    let more = enforced.threads.len().saturating_sub(THREADS);
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

fn state(state: &State) -> String {
    let cpus =
        state.cpus.as_ref().map(|cpus| if cpus == "any" { "any CPU".to_owned() } else { format!("CPUs {cpus}") });
    let parts: Vec<String> = [state.sched.clone(), cpus].into_iter().flatten().collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// How long ago a second since 1970 is.
fn ago(since: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    match now.saturating_sub(since) {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
