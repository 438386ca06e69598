//! The daemon's policy: files that change.

use std::path::{Path, PathBuf};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::Facilities;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::daemon::{Cause, Host, Notice, View};
use cotenant_grammar::SourceSet;

use super::log;
use crate::enforcing::{Compiled, compiled};
use crate::failure::Failure;
use crate::terminal::Look;
use crate::{enforced, host, render};

/// Columns of diagnostics in a log.
const LOG_WIDTH: usize = 100;

/// A policy that is read again whenever it changes.
pub(super) struct PolicyOnDisk {
    paths: Vec<PathBuf>,
    machine: Topology,
    /// What the host offered at the last look: a scheduler may be loaded meanwhile, and cookies be no good any more.
    facilities: Facilities,
    /// What the last look found: texts, or what kept them from being read.
    seen: Result<SourceSet, String>,
    /// The last texts that could be read.
    readable: SourceSet,
}

impl PolicyOnDisk {
    /// The policy of these paths, as it was read for the first time.
    pub(super) fn new(paths: &[PathBuf], machine: Topology, facilities: Facilities, first: SourceSet) -> PolicyOnDisk {
        PolicyOnDisk { paths: paths.to_owned(), machine, facilities, seen: Ok(first.clone()), readable: first }
    }

    fn refusal(compiled: &Compiled) -> String {
        let look = Look { width: LOG_WIDTH, colour: false };
        render::human(&compiled.diagnostics.errors(), &compiled.sources, look)
    }
}

impl Host for PolicyOnDisk {
    fn load(&mut self, cause: Cause) -> Result<Option<Plan>, String> {
        // The sensor is held, and stays as it is.
        let facilities = Facilities { sensor: self.facilities.sensor, ..host::facilities() };
        let compiled = compiled(&self.paths, &self.machine, facilities);
        let now = compiled.as_ref().map(|compiled| compiled.sources.clone()).map_err(Failure::text);
        // Whoever asks may know of something else that changed: what the kernel refused, or the host lacked.
        if cause == Cause::Changed && now == self.seen && facilities == self.facilities {
            return Ok(None);
        }
        if let Ok(sources) = &now {
            self.readable = sources.clone();
        }
        (self.seen, self.facilities) = (now, facilities);
        let mut compiled = compiled.map_err(|failure| failure.text())?;
        let plan = compiled.plan.take();
        plan.map(Some).ok_or_else(|| Self::refusal(&compiled))
    }

    /// The paths given, and of every text its file and the directory it stands in, where another may come to be included.
    fn paths(&self) -> Vec<PathBuf> {
        let texts = self.readable.iter().map(|(_, source)| Path::new(source.name()));
        let read = texts.flat_map(|path| [Some(path), path.parent().filter(|above| *above != Path::new(""))]);
        self.paths.iter().cloned().chain(read.flatten().map(Path::to_owned)).collect()
    }

    fn tell(&mut self, notice: &Notice<'_>) {
        log::notice(notice);
    }

    fn encode(&self, view: &View<'_>) -> Vec<u8> {
        render::status_json(view).into_bytes()
    }

    fn encode_policy(&self, plan: &Plan) -> Vec<u8> {
        enforced::encode(plan)
    }
}

#[cfg(test)]
mod tests {
    use cotenant_compiler::topology::TopologySource;

    use super::*;

    #[test]
    fn the_same_text_is_news_to_whoever_asks_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.policy");
        std::fs::write(&path, "class a: match exe a, nice 1;").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let machine = Topology::load(&TopologySource::Synthetic("core:2 pu:2".to_owned())).unwrap();
        let paths = [path.clone()];
        let first =
            compiled(&paths, &machine, Facilities::default()).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let mut host = PolicyOnDisk::new(&paths, machine, host::facilities(), first.sources);
        assert!(host.load(Cause::Changed).unwrap().is_none());
        assert_eq!(host.load(Cause::Asked).unwrap().unwrap().classes.len(), 1);
        assert!(host.load(Cause::Changed).unwrap().is_none());
        // A wrong one is said once, and to whoever asks.
        std::fs::write(&path, "class a: nise 1;").unwrap();
        assert!(host.load(Cause::Changed).unwrap_err().contains("write `nice`"));
        assert!(host.load(Cause::Changed).unwrap().is_none());
        assert!(host.load(Cause::Asked).unwrap_err().contains("write `nice`"));
    }
}
