//! Where a machine's description comes from.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where a machine's description comes from: what `--topology` names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TopologySource {
    /// The machine this program runs on.
    Live,
    /// A file that `lstopo --of xml` wrote, on this machine or on another.
    Xml(PathBuf),
    /// An imagined machine in hwloc's synthetic notation: levels from the outside in, `pack:2 core:8 pu:2`.
    Synthetic(String),
}

impl FromStr for TopologySource {
    type Err = Infallible;

    /// Reads a `--topology` argument. Every text means something: `live`; a file, where one of that name exists or the
    /// name ends in `.xml`; otherwise a synthetic description. Whether it is a good one only loading can tell.
    fn from_str(text: &str) -> Result<TopologySource, Infallible> {
        let path = Path::new(text);
        let named_as_xml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
        Ok(match text {
            "live" => TopologySource::Live,
            _ if named_as_xml || path.exists() => TopologySource::Xml(path.to_owned()),
            _ => TopologySource::Synthetic(text.to_owned()),
        })
    }
}

impl fmt::Display for TopologySource {
    /// Writes what `--topology` reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologySource::Live => f.write_str("live"),
            TopologySource::Xml(path) => path.display().fmt(f),
            TopologySource::Synthetic(description) => f.write_str(description),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> TopologySource {
        let Ok(source) = text.parse();
        source
    }

    #[test]
    fn every_argument_is_one_of_three() {
        assert_eq!(source("live"), TopologySource::Live);
        assert_eq!(source("no/such.xml"), TopologySource::Xml("no/such.xml".into()));
        assert_eq!(source("NO.XML"), TopologySource::Xml("NO.XML".into()));
        assert_eq!(source(file!()), TopologySource::Synthetic(file!().into()), "seen from the crate, it is not there");
        assert_eq!(source("src/lib.rs"), TopologySource::Xml("src/lib.rs".into()));
        assert_eq!(source("pack:2 pu:2"), TopologySource::Synthetic("pack:2 pu:2".into()));
        assert_eq!(source(""), TopologySource::Synthetic(String::new()));
    }

    #[test]
    fn what_is_printed_can_be_typed() {
        for text in ["live", "a/b.xml", "pack:2 core:8 pu:2"] {
            assert_eq!(source(text).to_string(), text);
        }
    }
}
