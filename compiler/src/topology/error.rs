//! Why a machine could not be loaded.

use std::io;
use std::path::PathBuf;

use crate::cpuset::HIGHEST;

/// Why a machine could not be loaded. Each message says what was wrong and what to type instead.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// No file of that name.
    #[error("`{}` does not exist; `lstopo --of xml > {}` writes it on the machine it is to describe", path.display(), path.display())]
    Missing {
        /// The file as it was named.
        path: PathBuf,
    },
    /// The file is there and cannot be read.
    #[error("`{}` cannot be read: {cause}; name a regular file that this user may read", path.display())]
    Unreadable {
        /// The file as it was named.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The file can be read and does not describe a machine.
    #[error("`{}` is not a machine that hwloc wrote: {cause}; `lstopo --of xml` writes one", path.display())]
    NotHwloc {
        /// The file as it was named.
        path: PathBuf,
        /// What is wrong with its text.
        cause: String,
    },
    /// The text is neither a file nor a synthetic description.
    #[error(
        "`{description}` is neither a file nor a description of a machine; type `live`, the path of a file that \
         `lstopo --of xml` wrote, or levels from the outside in that end in `pu`, such as \"pack:2 core:8 pu:2\""
    )]
    Synthetic {
        /// The text as it was typed.
        description: String,
    },
    /// A synthetic description of more CPUs than Linux can have.
    #[error("`{description}` describes more than {limit} CPUs; take smaller numbers, such as \"pack:2 core:8 pu:2\"")]
    TooLarge {
        /// The text as it was typed.
        description: String,
        /// The highest number of CPUs that is accepted.
        limit: u64,
    },
    /// A CPU number that no Linux machine has.
    #[error("`{origin}` has a CPU {cpu}, and no machine has one above {HIGHEST}; correct its `indexes`")]
    CpuNumber {
        /// What was loaded, as it was typed.
        origin: String,
        /// The number.
        cpu: u32,
    },
    /// libhwloc could not read this machine.
    #[error(
        "the topology of this machine cannot be read: libhwloc found none in `/sys`; mount `/sys`, or describe the \
         machine with `--topology` and a file or levels such as \"pack:2 core:8 pu:2\""
    )]
    Live,
}
