//! Containers in cgroup paths.
//!
//! Docker, containerd, CRI-O and Podman each make a group a container, and call it by the container's id of 64 hexadecimal
//! digits: alone (`/docker/ID`, `/kubepods/…/ID`), as a scope (`docker-ID.scope`, `cri-containerd-ID.scope`,
//! `crio-ID.scope`, `libpod-ID.scope`), or behind colons (`…slice:cri-containerd:ID`).

/// Digits of an id.
const ID: usize = 64;

/// The containers that a cgroup path lies in, outermost first.
pub fn containers(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter_map(id)
}

fn id(part: &[u8]) -> Option<&[u8]> {
    let part = part.strip_suffix(b".scope").unwrap_or(part);
    let (rest, id) = part.split_at_checked(part.len().checked_sub(ID)?)?;
    // conmon watches a container from outside it, in a group of its own: `libpod-conmon-ID.scope`.
    let watches = rest.windows(6).any(|word| word == b"conmon");
    let is_apart = rest.last().is_none_or(|last| matches!(last, b'-' | b':'));
    (is_apart && !watches && id.iter().all(u8::is_ascii_hexdigit)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::containers;

    #[test]
    fn every_runtime_is_recognised_on_both_versions() {
        let id = "0123456789abcdef".repeat(4);
        let paths = [
            "/docker/ID",
            "/system.slice/docker-ID.scope",
            "/system.slice/docker-ID.scope/init.scope",
            "/kubepods/burstable/pod4f2/ID",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod4f2.slice/cri-containerd-ID.scope",
            "/system.slice/containerd.service/kubepods-besteffort-pod4f2.slice:cri-containerd:ID",
            "/kubepods.slice/kubepods-pod4f2.slice/crio-ID.scope/container",
            "/machine.slice/libpod-ID.scope/container",
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
            "/libpod_parent/libpod-ID",
            "/default/ID",
            "/system.slice/nerdctl-ID.scope",
        ];
        for path in paths {
            let path = path.replace("ID", &id);
            assert_eq!(containers(path.as_bytes()).collect::<Vec<_>>(), [id.as_bytes()], "{path}");
        }
        let others = ["/machine.slice/libpod-conmon-ID.scope", "/system.slice/xID.service", "/xID", "/docker/abc", "/"];
        for path in others {
            assert_eq!(containers(path.replace("ID", &id).as_bytes()).count(), 0, "{path}");
        }
    }
}
