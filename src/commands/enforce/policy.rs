//! The daemon's policy: files that change.

use std::path::PathBuf;

use cotenant_compiler::Plan;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::daemon::{Host, Notice, View};

use super::log;
use crate::enforcing::compiled;
use crate::render;
use crate::terminal::Look;

/// Columns of diagnostics in a log.
const LOG_WIDTH: usize = 100;

/// A policy that is read again whenever it changes.
pub(super) struct PolicyOnDisk {
    pub(super) paths: Vec<PathBuf>,
    pub(super) machine: Topology,
}

impl Host for PolicyOnDisk {
    fn load(&mut self) -> Result<Plan, String> {
        let compiled = compiled(&self.paths, &self.machine).map_err(|failure| failure.text())?;
        let why = || {
            let look = Look { width: LOG_WIDTH, colour: false };
            render::human(&compiled.diagnostics, &compiled.sources, look)
        };
        compiled.plan.ok_or_else(why)
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
