//! What `plan --diff` compares with.

use std::path::{Path, PathBuf};

use cotenant_compiler::topology::Topology;
use cotenant_grammar::SourceSet;

use crate::enforced::Enforced;
use crate::failure::Failure;
use crate::load;

/// The word that stands for what a daemon enforces. A file of that name can be written `./enforced`.
const ENFORCED: &str = "enforced";

/// The older policy.
pub(super) struct Older {
    pub(super) sources: SourceSet,
    /// The machine it is enforced for, where it is what a daemon enforces.
    pub(super) machine: Option<Topology>,
}

/// Reads the policy of these paths, or asks the daemon of that run directory for the one in force.
pub(super) fn read(paths: &[PathBuf], run: &Path) -> Result<Older, Failure> {
    if !paths.iter().any(|path| path.as_os_str() == ENFORCED) {
        return Ok(Older { sources: load::load(paths)?, machine: None });
    }
    if paths.len() > 1 {
        return Err(Failure::new("`--diff enforced` stands for a whole policy, and `--diff` is given more than once")
            .help("write `--diff enforced` alone; a file of that name is `./enforced`"));
    }
    let Enforced { sources, machine } = Enforced::of_daemon(run)?;
    Ok(Older { sources, machine: Some(machine) })
}
