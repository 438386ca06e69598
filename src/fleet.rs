//! The machines that one check is about.

mod named;

use std::collections::HashMap;
use std::path::Path;

use clap::Args;
use cotenant_compiler::topology::{Topology, TopologySource};

use crate::failure::Failure;

/// Bytes of a machine's description that are kept to recognise an equal one; hwloc writes a few hundred kilobytes.
const MOST_COMPARED: u64 = 16 << 20;

/// The machines a check is about.
#[derive(Debug, Args)]
pub(crate) struct Fleet {
    /// A machine: `live`, a file that `lstopo --of xml` wrote, or levels such as "pack:2 core:8 pu:2"; may be repeated.
    ///
    /// A directory stands for its `*.xml` files, and a pattern such as "fleet/rack*.xml" (quoted, lest the shell open it
    /// out) for the files it covers. Levels are hwloc's synthetic notation, from the outside in. Asked about several
    /// machines, a finding that holds on some of them names those.
    #[arg(long = "topology", value_name = "T", default_value = "live")]
    values: Vec<String>,
}

/// One machine of the fleet.
#[derive(Debug)]
pub(crate) struct Host {
    /// What it is called in findings: no other host of the fleet has this name.
    pub(crate) name: String,
    pub(crate) topology: Topology,
    /// Whether it is the one this program runs on.
    pub(crate) live: bool,
}

impl Fleet {
    /// Loads every machine once, in the order in which they are named.
    pub(crate) fn load(&self) -> Result<Vec<Host>, Failure> {
        let sources = named::sources(&self.values)?;
        let names = names(&sources);
        // Racks are bought by the dozen: an equal description is an equal machine and need not be loaded again.
        let mut known: HashMap<Vec<u8>, Topology> = HashMap::new();
        let mut hosts = Vec::new();
        for (source, name) in sources.iter().zip(names) {
            let bytes = description(source);
            let topology = match bytes.as_ref().and_then(|bytes| known.get(bytes)) {
                Some(topology) => topology.clone(),
                None => Topology::load(source)?,
            };
            known.extend(bytes.map(|bytes| (bytes, topology.clone())));
            hosts.push(Host { name, topology, live: *source == TopologySource::Live });
        }
        Ok(hosts)
    }
}

/// A file's content, where it is of a sensible size; what cannot be read is left to the loader, which says why.
fn description(source: &TopologySource) -> Option<Vec<u8>> {
    let TopologySource::Xml(path) = source else { return None };
    let metadata = path.metadata().ok()?;
    let sensible = metadata.is_file() && metadata.len() <= MOST_COMPARED;
    sensible.then(|| std::fs::read(path).ok()).flatten()
}

/// The last part of each path, or the whole path where two end alike.
fn names(sources: &[TopologySource]) -> Vec<String> {
    let short = |source: &TopologySource| match source {
        TopologySource::Xml(path) => last_part(path),
        other => other.to_string(),
    };
    let mut uses: HashMap<String, usize> = HashMap::new();
    sources.iter().for_each(|source| *uses.entry(short(source)).or_default() += 1);
    let name = |source| match uses.get(&short(source)) {
        Some(1) => short(source),
        _ => source.to_string(),
    };
    sources.iter().map(name).collect()
}

fn last_part(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
