//! Loads a machine through libhwloc and keeps nothing of it but our own value.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use hwloc2::TopologyFlag;

use super::kinds::Kinds;
use super::{CpuPlace, Topology, TopologyError, TopologySource, environment, objects, xml};
use crate::cpuset::HIGHEST;

/// The most CPUs of a synthetic machine: what Linux can be built for. libhwloc's time grows with the square of the
/// number, and a slip of the hand would keep it busy for an hour.
const MOST_SYNTHETIC_CPUS: u64 = 8192;

impl Topology {
    /// Loads the machine that `source` names. A mistake in it is an error, never silently the live machine, and the
    /// caller's `HWLOC_*` variables change nothing.
    ///
    /// Those variables are out of the process's environment while this runs, and loads in several threads wait for each
    /// other. Other threads must not call C functions that read the environment meanwhile, as `localtime(3)` does;
    /// [`std::env`](mod@std::env) is safe to use.
    pub fn load(source: &TopologySource) -> Result<Topology, TopologyError> {
        let places = match source {
            TopologySource::Live => live(Path::new("/sys")),
            TopologySource::Xml(path) => file(path),
            TopologySource::Synthetic(description) => synthetic(description),
        }?;
        match places.iter().find(|place| place.cpu.0 > HIGHEST) {
            Some(place) => Err(TopologyError::CpuNumber { origin: source.to_string(), cpu: place.cpu.0 }),
            None => Ok(Topology::new(&places)),
        }
    }
}

fn live(sys: &Path) -> Result<Vec<CpuPlace>, TopologyError> {
    // Only the kernel's own description: hwloc's x86 component would visit every CPU by pinning this thread to it.
    ask(&[("HWLOC_COMPONENTS", "linux,stop".as_ref())], &Kinds::from_sysfs(sys)).ok_or(TopologyError::Live)
}

fn file(path: &Path) -> Result<Vec<CpuPlace>, TopologyError> {
    let read = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => TopologyError::Missing { path: path.to_owned() },
        _ => TopologyError::Unreadable { path: path.to_owned(), cause },
    };
    let refuse = |cause: &str| TopologyError::NotHwloc { path: path.to_owned(), cause: cause.to_owned() };
    // Absolute, because libhwloc takes the name `-` for standard input.
    let absolute = path.canonicalize().map_err(read)?;
    // A pipe could be read once only, and the file is read twice: for the kinds here, for the rest by libhwloc.
    if !absolute.metadata().map_err(read)?.is_file() {
        return Err(read(io::Error::other("it is not a regular file")));
    }
    let bytes = std::fs::read(&absolute).map_err(read)?;
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text"))?;
    let kinds = Kinds::from_xml(&xml::read(&text).map_err(|cause| refuse(&cause))?);
    let variables = [("HWLOC_COMPONENTS", "xml,stop".as_ref()), ("HWLOC_XMLFILE", absolute.as_os_str())];
    ask(&variables, &kinds).ok_or_else(|| refuse("libhwloc finds no machine in it"))
}

fn synthetic(description: &str) -> Result<Vec<CpuPlace>, TopologyError> {
    let refuse = || TopologyError::Synthetic { description: description.to_owned() };
    if description.contains('\0') {
        return Err(refuse());
    }
    let described = cpus_described(description).ok_or_else(refuse)?;
    if described > MOST_SYNTHETIC_CPUS {
        return Err(TopologyError::TooLarge { description: description.to_owned(), limit: MOST_SYNTHETIC_CPUS });
    }
    let variables = [("HWLOC_COMPONENTS", "synthetic,stop".as_ref()), ("HWLOC_SYNTHETIC", description.as_ref())];
    // An index given to two CPUs costs one of them, and libhwloc says nothing.
    ask(&variables, &Kinds::default()).filter(|places| places.len() as u64 == described).ok_or_else(refuse)
}

/// The product of the levels' counts, or nothing where a level is no `name:count`. Attributes in parentheses and memory
/// in brackets multiply nothing. Counts are plain decimals: libhwloc would also take `0x7fffffff`, past every limit.
fn cpus_described(description: &str) -> Option<u64> {
    let mut depth = 0_usize;
    let mut levels = String::new();
    for c in description.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            _ => levels.push(if depth == 0 { c } else { ' ' }),
        }
    }
    let count = |level: &str| {
        let digits = level.split_once(':').map_or(level, |(_, digits)| digits);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse::<u64>().unwrap_or(u64::MAX))
    };
    let closed = (depth == 0).then_some(1);
    levels.split_whitespace().try_fold(closed?, |product: u64, level| Some(product.saturating_mul(count(level)?)))
}

/// Has libhwloc load what the variables name, copies it and lets it go. CPUs that this process may not use are part of
/// the machine all the same.
fn ask(variables: &[(&str, &OsStr)], kinds: &Kinds) -> Option<Vec<CpuPlace>> {
    // Its own complaints would go to standard error past ours, and say less.
    let quiet: (&str, &OsStr) = ("HWLOC_HIDE_ERRORS", "2".as_ref());
    let variables: Vec<_> = variables.iter().copied().chain([quiet]).collect();
    environment::lend(&variables, || {
        let machine = hwloc2::Topology::with_flags(vec![TopologyFlag::IncludeDisallowed])?;
        Some(objects::places(&machine, kinds))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_multiply_and_attributes_do_not() {
        for (description, cpus) in [
            ("pack:2 core:8 pu:2", Some(32)),
            ("4 2", Some(8)),
            ("pack:2 [numa(memory=1024)] core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", Some(8)),
            ("core:99999999999 pu:99999999999999999999999", Some(u64::MAX)),
            ("nonsense", None),
            ("core: pu:2", None),
            ("core:0x7fffffff pu:2", None),
            ("core:2(pu:2", None),
            ("core:2pu:2", None),
        ] {
            assert_eq!(cpus_described(description), cpus, "{description}");
        }
    }

    #[test]
    fn an_offline_cpu_is_placed_where_its_sibling_is() {
        let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/machines");
        let places = file(&machines.join("sibling-offline-4x2.xml")).unwrap();
        let of = |cpu: u32| *places.iter().find(|place| place.cpu.0 == cpu).unwrap();
        assert_eq!(of(6), CpuPlace { cpu: crate::CpuId(6), online: false, ..of(2) });
    }
}
