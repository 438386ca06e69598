//! What selectors see of `/proc/PID/cgroup` as it was recorded under container engines: from the file to the comparison.

use cotenant_compiler::compile;
use cotenant_compiler::plan::PlannedClass;
use cotenant_compiler::selector::{containers, innermost_unit, slices};
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::SourceSet;

use super::*;

/// Ids as recorded.
const A: &str = "a51a9f7d073f848e7fc59e56e8f11524f330a2175a4ed26327da2dfe0d28015f";
const B: &str = "88ea268ece65a02d68b169fd74bcbcb427eb7f28900db0e3b906fb2eeb7341df";

/// One process in one setting.
struct Recorded {
    /// Who made its groups, and how.
    setting: &'static str,
    /// `/proc/PID/cgroup`, `A` and `B` standing for ids.
    file: &'static str,
    container: Option<&'static str>,
    unit: Option<&'static str>,
    /// The innermost.
    slice: Option<&'static str>,
    /// What `policies/kubernetes.policy` makes of it.
    class: Option<&'static str>,
}

const RECORDED: &[Recorded] = &[
    Recorded {
        setting: "docker, version 1, cgroupfs",
        file: "11:cpuset:/docker/A\n4:cpu,cpuacct:/docker/A\n1:name=systemd:/docker/A\n0::/system.slice/containerd.service\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: None,
    },
    Recorded {
        setting: "docker as old as Debian 7 had it, version 1",
        file: "10:net_prio:/A\n6:freezer:/A\n2:cpu:/A\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: None,
    },
    Recorded {
        setting: "docker, version 1, systemd",
        file: "10:devices:/system.slice/docker-A.scope\n3:cpuset:/system.slice/docker-A.scope\n1:name=systemd:/system.slice/docker-A.scope\n",
        container: Some(A),
        unit: Some("docker-A.scope"),
        slice: Some("system.slice"),
        class: None,
    },
    Recorded {
        setting: "docker, version 2, systemd, with systemd in the container",
        file: "0::/system.slice/docker-A.scope/init.scope\n",
        container: Some(A),
        unit: Some("init.scope"),
        slice: Some("system.slice"),
        class: None,
    },
    Recorded {
        setting: "Kubernetes, containerd, version 1 and 2 beside it, cgroupfs, burstable",
        file: "12:rdma:/\n11:memory:/kubepods/burstable/pod15513b48-e7a5-48fc-b9e3-92f713f36504/A\n\
               7:cpuset:/kubepods/burstable/pod15513b48-e7a5-48fc-b9e3-92f713f36504/A\n\
               1:name=systemd:/kubepods/burstable/pod15513b48-e7a5-48fc-b9e3-92f713f36504/A\n0::/system.slice/containerd.service\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: Some("burstable"),
    },
    Recorded {
        setting: "Kubernetes, docker, version 1, cgroupfs, best effort",
        file: "11:pids:/kubepods/besteffort/podd0544205-72df-11e8-b691-080027c5d95e/A\n1:name=systemd:/kubepods/besteffort/podd0544205-72df-11e8-b691-080027c5d95e/A\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: Some("besteffort"),
    },
    Recorded {
        setting: "Kubernetes (k3s), containerd, version 2, cgroupfs, guaranteed",
        file: "0::/kubepods/pod1858680e-b044-4fd5-9dd4-f137e30e2180/A\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: Some("guaranteed"),
    },
    Recorded {
        setting: "Kubernetes, containerd, version 2, systemd, burstable",
        file: "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1858680e_b044_4fd5_9dd4_f137e30e2180.slice/cri-containerd-A.scope\n",
        container: Some(A),
        unit: Some("cri-containerd-A.scope"),
        slice: Some("kubepods-burstable-pod1858680e_b044_4fd5_9dd4_f137e30e2180.slice"),
        class: Some("burstable"),
    },
    Recorded {
        setting: "Kubernetes, CRI-O, version 2, systemd, guaranteed",
        file: "0::/kubepods.slice/kubepods-pod1858680e_b044_4fd5_9dd4_f137e30e2180.slice/crio-A.scope/container\n",
        container: Some(A),
        unit: Some("crio-A.scope"),
        slice: Some("kubepods-pod1858680e_b044_4fd5_9dd4_f137e30e2180.slice"),
        class: Some("guaranteed"),
    },
    Recorded {
        setting: "the monitor that CRI-O has beside each container",
        file: "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod562c01d6_6aba_49fe_ae52_61c40c04eca4.slice/crio-conmon-A.scope\n",
        container: None,
        unit: Some("crio-conmon-A.scope"),
        slice: Some("kubepods-besteffort-pod562c01d6_6aba_49fe_ae52_61c40c04eca4.slice"),
        class: Some("besteffort"),
    },
    Recorded {
        setting: "Kubernetes, docker by way of cri-dockerd, version 2, systemd, best effort",
        file: "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod562c01d6_6aba_49fe_ae52_61c40c04eca4.slice/docker-A.scope\n",
        container: Some(A),
        unit: Some("docker-A.scope"),
        slice: Some("kubepods-besteffort-pod562c01d6_6aba_49fe_ae52_61c40c04eca4.slice"),
        class: Some("besteffort"),
    },
    Recorded {
        setting: "containerd that takes systemd's names for paths, version 1",
        file: "5:cpuset:/system.slice/containerd.service/kubepods-burstable-podd22b1ef9_5c26_4b5b_8a2c_0de8d9a4bd33.slice:cri-containerd:A\n",
        container: Some(A),
        unit: Some("containerd.service"),
        slice: Some("system.slice"),
        class: Some("unmanaged"),
    },
    Recorded {
        setting: "kind, version 1: a node that is a container of docker's, and a pod on it",
        file: "14:name=systemd:/docker/B/kubelet/kubepods/burstable/poda5ea884f-9e60-4912-bd62-fef9a31db47a/A\n13:rdma:/\n\
               1:cpuset:/docker/B/kubelet/kubepods/burstable/poda5ea884f-9e60-4912-bd62-fef9a31db47a/A\n\
               0::/docker/B/system.slice/containerd.service\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: None,
    },
    Recorded {
        setting: "kind, version 2, seen from its host",
        file: "0::/system.slice/docker-B.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/\
               kubelet-kubepods-besteffort-pod0c52bc54_389c_4774_9356_d4ef412ed32e.slice/cri-containerd-A.scope\n",
        container: Some(A),
        unit: Some("cri-containerd-A.scope"),
        slice: Some("kubelet-kubepods-besteffort-pod0c52bc54_389c_4774_9356_d4ef412ed32e.slice"),
        class: None,
    },
    Recorded {
        setting: "podman of root, version 2, systemd",
        file: "0::/machine.slice/libpod-A.scope/container\n",
        container: Some(A),
        unit: Some("libpod-A.scope"),
        slice: Some("machine.slice"),
        class: None,
    },
    Recorded {
        setting: "podman of root, version 1, cgroupfs, in a pod",
        file: "9:cpuset:/libpod_parent/libpod_pod_B/libpod-A\n1:name=systemd:/libpod_parent/libpod_pod_B/libpod-A\n",
        container: Some(A),
        unit: None,
        slice: None,
        class: None,
    },
    Recorded {
        setting: "podman of a user, in a pod",
        file: "0::/user.slice/user-1000.slice/user@1000.service/user.slice/user-libpod_pod_B.slice/libpod-A.scope/container\n",
        container: Some(A),
        unit: Some("libpod-A.scope"),
        slice: Some("user-libpod_pod_B.slice"),
        class: None,
    },
    Recorded {
        setting: "podman as a unit (quadlet)",
        file: "0::/system.slice/nginx.service/libpod-payload-A\n",
        container: Some(A),
        unit: Some("nginx.service"),
        slice: Some("system.slice"),
        class: None,
    },
    Recorded {
        setting: "the monitor of the same",
        file: "0::/system.slice/nginx.service/runtime\n",
        container: None,
        unit: Some("nginx.service"),
        slice: Some("system.slice"),
        class: None,
    },
    Recorded {
        setting: "the engine itself",
        file: "5:cpuset:/\n1:name=systemd:/system.slice/containerd.service\n0::/system.slice/containerd.service\n",
        container: None,
        unit: Some("containerd.service"),
        slice: Some("system.slice"),
        class: Some("unmanaged"),
    },
];

fn with_ids(text: &str) -> String {
    // Between signs that no word has beside it.
    let is_apart = |sign: Option<char>| sign.is_none_or(|sign| !sign.is_ascii_alphanumeric());
    let (mut out, mut before) = (String::new(), None);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            'A' if is_apart(before) && is_apart(signs.peek().copied()) => out += A,
            'B' if is_apart(before) && is_apart(signs.peek().copied()) => out += B,
            sign => out.push(sign),
        }
        before = Some(sign);
    }
    out
}

fn classes(text: &str) -> Vec<PlannedClass> {
    let mut sources = SourceSet::default();
    sources.add("kubernetes.policy", text);
    let machine = Topology::load(&TopologySource::Synthetic("core:4 pu:2".to_owned())).unwrap();
    let (plan, findings) = compile(sources, &machine);
    plan.unwrap_or_else(|| panic!("{findings:?}")).classes
}

#[test]
fn recorded_groups_are_told_apart() {
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/kubernetes.policy");
    let classes = classes(&std::fs::read_to_string(policy).unwrap());
    let (directory, accounts) = (tempfile::tempdir().unwrap(), Accounts::default());
    let stat = Procfs::new("/proc").stat(Pid::current()).unwrap();
    let procfs = Procfs::new(directory.path());
    for (number, recorded) in RECORDED.iter().enumerate() {
        let pid = Pid(i32::try_from(number).unwrap() + 1);
        std::fs::create_dir(directory.path().join(pid.to_string())).unwrap();
        std::fs::write(directory.path().join(pid.to_string()).join("cgroup"), with_ids(recorded.file)).unwrap();
        let subject = Subject::new(&procfs, &accounts, "cotenant", pid, &stat);
        let seen = |of: fn(&[u8]) -> Option<&[u8]>| -> Vec<String> {
            let mut all: Vec<String> = subject.cgroups().iter().filter_map(|path| of(path)).map(utf8).collect();
            all.dedup();
            all
        };
        let wanted = |word: Option<&str>| word.map(with_ids).into_iter().collect::<Vec<_>>();
        let setting = recorded.setting;
        assert_eq!(seen(|path| containers(path).last()), wanted(recorded.container), "{setting}");
        assert_eq!(seen(innermost_unit), wanted(recorded.unit), "{setting}");
        assert_eq!(seen(|path| slices(path).last()), wanted(recorded.slice), "{setting}");
        let class = classes.iter().find(|class| class.selector.matches(&subject)).map(|class| class.name.as_str());
        assert_eq!(class, recorded.class, "{setting}");
    }
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
