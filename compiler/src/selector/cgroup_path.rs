//! systemd's names in cgroup paths. See systemd.unit(5), "String escaping for inclusion in unit names".

use super::containers;

/// Suffixes of units that hold processes. Slices hold units and are asked for by `slice`.
const UNIT_SUFFIXES: [&[u8]; 5] = [b".service", b".scope", b".socket", b".mount", b".swap"];

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
}

/// The deepest component that names a unit other than a slice.
#[must_use]
pub fn innermost_unit(path: &[u8]) -> Option<&[u8]> {
    parts(path).rev().find(|part| UNIT_SUFFIXES.iter().any(|suffix| part.ends_with(suffix)))
}

/// Every component that names a slice, outermost first.
pub fn slices(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    parts(path).filter(|part| part.ends_with(b".slice"))
}

/// The path down to the first group whose owner names what is below it: a user's own manager, `user@UID.service`, which is
/// delegated to that user (systemd.resource-control(5), `Delegate=`), or a container.
pub(super) fn made_by_the_host(path: &[u8]) -> &[u8] {
    let mut end = 0;
    for part in path.split(|byte| *byte == b'/') {
        end += part.len();
        let is_delegated =
            part.starts_with(b"user@") && part.ends_with(b".service") || containers(part).next().is_some();
        if is_delegated {
            return path.get(..end).unwrap_or(path);
        }
        end += 1;
    }
    path
}

/// A component without `.service`, `.slice` or `.scope`.
pub(crate) fn without_suffix(part: &[u8]) -> &[u8] {
    let suffixes: [&[u8]; 3] = [b".service", b".slice", b".scope"];
    suffixes.iter().find_map(|suffix| part.strip_suffix(*suffix)).unwrap_or(part)
}

/// Resolves `\xNN`. Text that is no such escape stays as it is.
pub(super) fn unescape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, tail)) = rest.split_first() {
        let escaped = tail.strip_prefix(b"x").and_then(|tail| tail.split_at_checked(2));
        let digits = escaped.filter(|_| *first == b'\\').and_then(|(digits, after)| {
            let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            Some((byte, after))
        });
        let (byte, after) = digits.unwrap_or((*first, tail));
        out.push(byte);
        rest = after;
    }
    out
}
