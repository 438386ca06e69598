//! From `--topology` values to machines: directories and patterns are opened out, what is named twice is taken once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use cotenant_compiler::topology::TopologySource;

use crate::failure::Failure;

/// The machines that the values name, in order.
pub(super) fn sources(values: &[String]) -> Result<Vec<TopologySource>, Failure> {
    let mut found = Vec::new();
    for value in values {
        match value {
            _ if Path::new(value).is_dir() => found.extend(in_directory(value)?),
            _ if is_pattern(value) => found.extend(covered(value)?),
            _ => {
                let Ok(source) = value.parse();
                found.push(source);
            }
        }
    }
    let mut seen = HashSet::new();
    found.retain(|source| seen.insert(identity(source)));
    Ok(found)
}

/// Whether the value covers files by a pattern. Levels of an imagined machine use brackets, and neither of these.
fn is_pattern(value: &str) -> bool {
    !Path::new(value).exists() && value.contains(['*', '?'])
}

fn in_directory(directory: &str) -> Result<Vec<TopologySource>, Failure> {
    let escaped = glob::Pattern::escape(directory);
    let machines = matching(&format!("{}/*.xml", escaped.trim_end_matches('/')))?;
    if machines.is_empty() {
        return Err(Failure::new(format!("no machine in directory `{directory}`: it has no `*.xml` file"))
            .help("`lstopo --of xml > NAME.xml` writes one on the machine it is to describe"));
    }
    Ok(machines)
}

fn covered(pattern: &str) -> Result<Vec<TopologySource>, Failure> {
    let machines = matching(pattern)?;
    if machines.is_empty() {
        return Err(Failure::new(format!("no machine is covered by `{pattern}`"))
            .help("name files that `lstopo --of xml` wrote, or the directory that holds them"));
    }
    Ok(machines)
}

/// Regular files that the pattern covers, in order of their names.
fn matching(pattern: &str) -> Result<Vec<TopologySource>, Failure> {
    let paths = glob::glob(pattern).map_err(|error| {
        Failure::new(format!("`{pattern}` is no pattern for files: {}", error.msg))
            .help("`*` covers any part of a name, `?` one character, `**` any directories")
    })?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| {
            Failure::new(format!("cannot read `{}`: {}", error.path().display(), error.error()))
                .help("run as a user who may read it, or name the files one by one")
        })?;
        if !path.is_dir() {
            files.push(TopologySource::Xml(path));
        }
    }
    Ok(files)
}

/// What makes a machine the same as one named before.
fn identity(source: &TopologySource) -> TopologySource {
    let absolute = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    match source {
        TopologySource::Xml(path) => TopologySource::Xml(absolute(path)),
        other => other.clone(),
    }
}
