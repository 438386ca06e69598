//! The daemon's policy: files that change.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cotenant_compiler::Plan;
use cotenant_compiler::plan::Facilities;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_enforcer::daemon::{Cause, Host, Notice, View};
use cotenant_enforcer::story::Story;
use cotenant_grammar::SourceSet;

use super::log;
use super::service::Service;
use crate::enforcing::{Compiled, compiled, compiled_of};
use crate::failure::Failure;
use crate::terminal::Look;
use crate::{enforced, host, render};

/// Columns of diagnostics in a log.
const LOG_WIDTH: usize = 100;

/// What the policy is enforced on.
pub(super) struct Machine {
    pub(super) source: TopologySource,
    pub(super) topology: Topology,
    /// What the host offered at the last look: a scheduler may be loaded meanwhile, and cookies be no good any more.
    pub(super) facilities: Facilities,
}

/// A policy that is read again whenever it changes.
pub(super) struct PolicyOnDisk {
    paths: Vec<PathBuf>,
    machine: Machine,
    /// What the last look found: texts, or what kept them from being read.
    seen: Result<SourceSet, String>,
    /// The last texts that could be read.
    readable: SourceSet,
    /// The last texts that were right.
    right: SourceSet,
    service: Service,
}

impl PolicyOnDisk {
    /// The policy of these paths, as it was read for the first time.
    pub(super) fn new(paths: &[PathBuf], machine: Machine, first: SourceSet) -> PolicyOnDisk {
        let (readable, right) = (first.clone(), first.clone());
        PolicyOnDisk {
            paths: paths.to_owned(),
            machine,
            seen: Ok(first),
            readable,
            right,
            service: Service::of_environment(),
        }
    }

    /// What the machine makes of texts that were right before, where those on disk are wrong and were so all along.
    fn of_texts_in_force(&self, on_disk: &Result<Compiled, Failure>) -> Option<Result<Plan, String>> {
        let is_other = match on_disk {
            Ok(compiled) => compiled.plan.is_none() && compiled.sources != self.right,
            Err(_) => true,
        };
        let Machine { topology, facilities, .. } = &self.machine;
        is_other.then(|| Self::plan_of(compiled_of(self.right.clone(), topology, *facilities)))
    }

    fn plan_of(mut compiled: Compiled) -> Result<Plan, String> {
        compiled.plan.take().ok_or_else(|| Self::refusal(&compiled))
    }

    fn refusal(compiled: &Compiled) -> String {
        let look = Look { width: LOG_WIDTH, colour: false };
        render::human(&compiled.diagnostics.errors(), &compiled.sources, look)
    }
}

impl Host for PolicyOnDisk {
    fn load(&mut self, cause: Cause) -> Result<Option<Plan>, String> {
        // One that is played stays as it was described.
        if cause != Cause::Changed && self.machine.source == TopologySource::Live {
            self.machine.topology =
                Topology::load(&self.machine.source).map_err(|error| Failure::from(error).text())?;
        }
        // The sensor is held, and stays as it is.
        let facilities = Facilities { sensor: self.machine.facilities.sensor, ..host::facilities() };
        let others = std::mem::replace(&mut self.machine.facilities, facilities) != facilities;
        let compiled = compiled(&self.paths, &self.machine.topology, facilities);
        if cause == Cause::Machine
            && let Some(planned) = self.of_texts_in_force(&compiled)
        {
            return planned.map(Some);
        }
        let now = compiled.as_ref().map(|compiled| compiled.sources.clone()).map_err(Failure::text);
        // Whoever asks may know of something else that changed: what the kernel refused, or the host lacked.
        if cause == Cause::Changed && now == self.seen && !others {
            return Ok(None);
        }
        if let Ok(sources) = &now {
            self.readable = sources.clone();
        }
        self.seen = now;
        let plan = compiled.map_err(|failure| failure.text()).and_then(Self::plan_of)?;
        self.right = plan.sources.clone();
        Ok(Some(plan))
    }

    fn machine(&self) -> &Topology {
        &self.machine.topology
    }

    /// The paths given, and of every text its file and the directory it stands in, where another may come to be included.
    fn paths(&self) -> Vec<PathBuf> {
        let texts = self.readable.iter().map(|(_, source)| Path::new(source.name()));
        let read = texts.flat_map(|path| [Some(path), path.parent().filter(|above| *above != Path::new(""))]);
        self.paths.iter().cloned().chain(read.flatten().map(Path::to_owned)).collect()
    }

    fn tell(&mut self, notice: &Notice<'_>) {
        log::notice(notice);
        self.service.tell(notice);
    }

    fn pulse(&mut self) -> Option<Duration> {
        self.service.pulse(Instant::now())
    }

    fn encode(&self, view: &View<'_>) -> Vec<u8> {
        render::status_json(view).into_bytes()
    }

    fn encode_policy(&self, plan: &Plan) -> Vec<u8> {
        enforced::encode(plan)
    }

    fn encode_story(&self, story: Option<&Story>) -> Vec<u8> {
        render::story_json(story).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy in a directory of its own, and four cores of two threads.
    struct Stage {
        directory: tempfile::TempDir,
        host: PolicyOnDisk,
    }

    fn stage(text: &str) -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.policy");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let source = TopologySource::Synthetic("core:4 pu:2".to_owned());
        let machine = Machine { topology: Topology::load(&source).unwrap(), source, facilities: host::facilities() };
        let first = compiled(std::slice::from_ref(&path), &machine.topology, Facilities::default());
        let first = first.unwrap_or_else(|failure| panic!("{}", failure.text()));
        Stage { host: PolicyOnDisk::new(&[path], machine, first.sources), directory }
    }

    impl Stage {
        fn write(&self, text: &str) {
            std::fs::write(self.directory.path().join("p.policy"), text).unwrap();
        }

        /// Another machine in the place of this one.
        fn turn_to(&mut self, description: &str) {
            let source = TopologySource::Synthetic(description.to_owned());
            self.host.machine.topology = Topology::load(&source).unwrap();
        }
    }

    #[test]
    fn the_same_text_is_news_to_whoever_asks_only() {
        let Stage { host, .. } = &mut stage("class a: match exe a, nice 1;");
        assert!(host.load(Cause::Changed).unwrap().is_none());
        assert_eq!(host.load(Cause::Asked).unwrap().unwrap().classes.len(), 1);
        assert!(host.load(Cause::Changed).unwrap().is_none());
    }

    #[test]
    fn a_wrong_text_is_said_once_and_to_whoever_asks() {
        let mut stage = stage("class a: match exe a, nice 1;");
        stage.write("class a: nise 1;");
        assert!(stage.host.load(Cause::Changed).unwrap_err().contains("write `nice`"));
        assert!(stage.host.load(Cause::Changed).unwrap().is_none());
        assert!(stage.host.load(Cause::Asked).unwrap_err().contains("write `nice`"));
    }

    #[test]
    fn another_machine_has_another_plan_and_may_find_the_policy_wrong() {
        let mut stage = stage("class a: match exe a, on cpus 6-7; class b: match exe b;");
        stage.turn_to("core:3 pu:2");
        assert!(stage.host.load(Cause::Machine).unwrap_err().contains("cpu 6"));
        assert!(stage.host.load(Cause::Changed).unwrap().is_none(), "the text is not what changed");
        stage.turn_to("core:4 pu:2");
        assert_eq!(stage.host.load(Cause::Machine).unwrap().unwrap().topology.online().len(), 8);
    }

    #[test]
    fn another_machine_makes_nothing_of_a_text_that_was_wrong_before() {
        let mut stage = stage("class a: match exe a, nice 1;");
        stage.write("class a: nise 1;");
        assert!(stage.host.load(Cause::Changed).is_err());
        stage.turn_to("core:3 pu:2");
        assert_eq!(stage.host.load(Cause::Machine).unwrap().unwrap().topology.online().len(), 6);
        // And one that is being written is still news when it is there.
        stage.write("class a: nice");
        assert!(stage.host.load(Cause::Machine).is_ok());
        assert!(stage.host.load(Cause::Changed).is_err());
        // One that is wrong on another machine only is tried there.
        stage.write("class a: match exe a, on cpus 6-7;");
        assert!(stage.host.load(Cause::Changed).is_err());
        stage.turn_to("core:4 pu:2");
        let plan = stage.host.load(Cause::Machine).unwrap().unwrap();
        assert_eq!(plan.classes[0].placement.as_ref().unwrap().reach().to_string(), "6-7");
    }
}
