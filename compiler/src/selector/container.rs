//! Containers in cgroup paths.
//!
//! Docker, containerd, CRI-O and Podman each make a group a container, and call it by the container's id of 64 hexadecimal
//! digits: alone (`/docker/ID`, `/kubepods/…/ID`), as a scope (`docker-ID.scope`, `cri-containerd-ID.scope`,
//! `crio-ID.scope`, `libpod-ID.scope`), or behind colons (`…slice:cri-containerd:ID`).

use super::cgroup_path::made_by_the_host;

/// Digits of an id.
const ID: usize = 64;

/// The containers that a cgroup path lies in, outermost first.
pub fn containers(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter_map(id)
}

/// Of a process's paths, one in each hierarchy, those that say where it is.
///
/// Beside version 1, engines place a container in the hierarchies that they know of, and leave it in the group of their own
/// service in the others, version 2 among them: every container would then be in the unit `containerd.service`. So where one
/// path lies in a container, paths that lie in fewer say who started it, and are left out. What somebody else than the host
/// calls a container is none here.
pub fn telling<'a>(paths: impl IntoIterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
    let deep: Vec<(usize, &[u8])> = paths.into_iter().map(|path| (depth(path), path)).collect();
    let deepest = deep.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
    deep.into_iter().filter(|(depth, _)| *depth == deepest).map(|(_, path)| path).collect()
}

fn depth(path: &[u8]) -> usize {
    match containers(made_by_the_host(path)).next() {
        Some(_) => containers(path).count(),
        None => 0,
    }
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
    use super::{containers, telling};

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
    #[test]
    fn paths_outside_of_the_innermost_container_do_not_tell() {
        let (outer, inner) = ("0".repeat(64), "f".repeat(64));
        let (node, pod) = (format!("/docker/{outer}"), format!("/docker/{outer}/kubepods/pod1/{inner}"));
        let (service, session) = ("/system.slice/containerd.service", format!("/user.slice/user@7.service/{inner}"));
        let of = |paths: &[&str]| {
            telling(paths.iter().map(|path| path.as_bytes())).iter().map(|it| it.to_vec()).collect::<Vec<_>>()
        };
        let same = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>();
        assert_eq!(of(&["/", &node, service]), same(&[&node]));
        assert_eq!(of(&[&pod, "/", &node]), same(&[&pod]));
        assert_eq!(of(&["/", service]), same(&["/", service]));
        // A user's own group of such a name keeps no other path from being seen.
        assert_eq!(of(&["/reports", &session]), same(&["/reports", &session]));
        assert_eq!(of(&[]), same(&[]));
    }
}
