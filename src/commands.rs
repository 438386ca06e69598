//! One file per subcommand.

pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod lint;
pub(crate) mod plan;
pub(crate) mod topology;
