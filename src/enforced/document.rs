//! The form in which the control socket speaks of a policy.
//!
//! Texts that are included stand inside the text that includes them, so that no document can tell of a cycle.

use cotenant_compiler::Plan;
use cotenant_compiler::topology::Topology;
use cotenant_grammar::{Inclusion, SourceId, SourceSet, Span};
use serde::{Deserialize, Serialize};

use super::Enforced;
use crate::render::{Machine, SCHEMA_VERSION};

/// The whole document.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    schema_version: u32,
    /// The daemon's version.
    version: String,
    /// The machine that is enforced for.
    machine: Machine,
    /// The texts that no other includes, in reading order.
    sources: Vec<Text>,
}

/// One text.
#[derive(Serialize, Deserialize)]
struct Text {
    /// The path by which it was read.
    name: String,
    text: String,
    /// What its include statements brought, in their order. What they named in vain is not told: a policy that names
    /// anything in vain is not in force.
    includes: Vec<Include>,
}

/// What one include statement brought.
#[derive(Serialize, Deserialize)]
struct Include {
    /// Offset of its pattern's first byte.
    start: u32,
    /// Offset behind the last.
    end: u32,
    /// In reading order.
    sources: Vec<Text>,
}

impl Document {
    pub(super) fn new(plan: &Plan) -> Document {
        Document {
            schema_version: SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: (&plan.topology).into(),
            sources: texts(&plan.sources, plan.sources.roots()),
        }
    }

    /// What the document tells, or why it cannot be understood.
    pub(super) fn enforced(&self) -> Result<Enforced, String> {
        if self.schema_version != SCHEMA_VERSION {
            let (theirs, ours) = (self.schema_version, SCHEMA_VERSION);
            return Err(format!("cotenant {} writes version {theirs} of it, and this one reads {ours}", self.version));
        }
        let machine = Topology::try_from(&self.machine)?;
        let mut sources = SourceSet::default();
        for text in &self.sources {
            let id = sources.add(&text.name, &text.text);
            text.follow(id, &mut sources);
        }
        Ok(Enforced { sources, machine })
    }
}

fn texts(sources: &SourceSet, which: impl IntoIterator<Item = SourceId>) -> Vec<Text> {
    let text = |id| {
        let source = sources.get(id)?;
        let include = |(at, inclusion): (Span, &Inclusion)| Include {
            start: at.start,
            end: at.end,
            sources: texts(sources, inclusion.sources.iter().copied()),
        };
        let includes = sources.inclusions(id).map(include).collect();
        Some(Text { name: source.name().to_owned(), text: source.text().to_owned(), includes })
    };
    which.into_iter().filter_map(text).collect()
}

impl Text {
    /// Adds what this text, which is `source`, includes: each text right behind the one that includes it, as they were
    /// read from their files.
    fn follow(&self, source: SourceId, sources: &mut SourceSet) {
        for Include { start, end, sources: texts } in &self.includes {
            let mut inclusion = Inclusion::default();
            for text in texts {
                let id = sources.add_included(&text.name, &text.text);
                inclusion.sources.push(id);
                text.follow(id, sources);
            }
            sources.include(Span { source, start: *start, end: *end }, inclusion);
        }
    }
}
