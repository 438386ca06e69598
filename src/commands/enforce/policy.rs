//! The daemon's policy: files that change.

use std::path::PathBuf;

use cotenant_compiler::Plan;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::daemon::{Host, Notice, View};
use cotenant_grammar::SourceSet;

use super::log;
use crate::enforcing::compiled;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Look;

/// Columns of diagnostics in a log.
const LOG_WIDTH: usize = 100;

/// A policy that is read again whenever it changes.
pub(super) struct PolicyOnDisk {
    pub(super) paths: Vec<PathBuf>,
    pub(super) machine: Topology,
    /// What the last look found: texts, or what kept them from being read.
    pub(super) seen: Result<SourceSet, String>,
}

impl Host for PolicyOnDisk {
    fn load(&mut self) -> Result<Option<Plan>, String> {
        let compiled = compiled(&self.paths, &self.machine);
        let now = compiled.as_ref().map(|compiled| compiled.sources.clone()).map_err(Failure::text);
        if now == self.seen {
            return Ok(None);
        }
        self.seen = now;
        let compiled = compiled.map_err(|failure| failure.text())?;
        let why = || {
            let look = Look { width: LOG_WIDTH, colour: false };
            render::human(&compiled.diagnostics.errors(), &compiled.sources, look)
        };
        compiled.plan.map(Some).ok_or_else(why)
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    fn tell(&mut self, notice: &Notice<'_>) {
        log::notice(notice);
    }

    fn encode(&self, view: &View<'_>) -> Vec<u8> {
        render::status_json(view).into_bytes()
    }
}
