//! What a change of a policy moves, as a document for programs.

use cotenant_compiler::Plan;
use cotenant_compiler::topology::summary;
use serde::Serialize;

use super::SCHEMA_VERSION;
use crate::comparison::{Change, Comparison, Described};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    /// The machine both plans are for.
    machine: String,
    added: Vec<Class<'a>>,
    changed: Vec<Changed<'a>>,
    removed: Vec<Class<'a>>,
    moved: Vec<Moved<'a>>,
    /// What the host must be.
    requirements: Vec<Difference<'a>>,
    /// Settings of the kernel.
    kernel: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Class<'a> {
    name: &'a str,
    kind: &'static str,
    says: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct Said<'a> {
    what: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Changed<'a> {
    name: &'a str,
    kind: &'static str,
    changes: Vec<Difference<'a>>,
}

/// Null is what is not said.
#[derive(Serialize)]
struct Difference<'a> {
    what: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct Moved<'a> {
    name: &'a str,
    /// The class tried right before it; null where it is tried first.
    behind: Option<&'a str>,
}

/// The comparison of two plans, `new` being the newer, as one JSON document.
pub(crate) fn diff_json(comparison: &Comparison, new: &Plan) -> String {
    let changed = comparison.changed.iter().map(|class| Changed {
        name: &class.name,
        kind: class.kind,
        changes: class.changes.iter().map(difference).collect(),
    });
    let moved = comparison.moved.iter();
    let document = Document {
        schema_version: SCHEMA_VERSION,
        machine: summary(&new.topology),
        added: comparison.added.iter().map(class).collect(),
        changed: changed.collect(),
        removed: comparison.removed.iter().map(class).collect(),
        moved: moved.map(|it| Moved { name: &it.name, behind: it.behind.as_deref() }).collect(),
        requirements: comparison.requirements.iter().map(difference).collect(),
        kernel: comparison.kernel.iter().map(difference).collect(),
    };
    // Cannot fail: nothing in it refuses, and every key is a string.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn class(class: &Described) -> Class<'_> {
    let says = class.says.iter().map(|(what, text)| Said { what, text });
    Class { name: &class.name, kind: class.kind, says: says.collect() }
}

fn difference(change: &Change) -> Difference<'_> {
    Difference {
        what: change.what.trim_matches('`'),
        before: change.before.as_deref(),
        after: change.after.as_deref(),
        note: change.note.as_deref(),
    }
}
