//! One file per subcommand.

pub(crate) mod apply;
pub(crate) mod convert;
pub(crate) mod enforce;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod lint;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod release;
pub(crate) mod reload;
pub(crate) mod status;
pub(crate) mod topology;
pub(crate) mod why;
