//! What this host knows that a description of its CPUs does not say.

use cotenant_compiler::lints::{HostFacts, on_host};
use cotenant_compiler::plan::{Facilities, Host};
use cotenant_compiler::selector::Account;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::cookies::offered;
use cotenant_enforcer::procfs::Procfs;
use cotenant_enforcer::roots::Roots;
use cotenant_enforcer::sensor::Sensor;
use cotenant_enforcer::sys::core_sched;
use cotenant_grammar::{Diagnostics, SourceSet};
use nix::unistd::{Group, Uid, User};

/// See sched(7), "The autogroup feature".
const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// What this host makes of a policy. A question that it does not answer is left open.
pub(crate) fn findings(sources: &SourceSet) -> Diagnostics {
    let user = |account: &Account| match account {
        Account::Name(name) => User::from_name(name).ok().map(|user| user.is_some()),
        Account::Id(id) => User::from_uid(Uid::from_raw(*id)).ok().map(|user| user.is_some()),
    };
    let group = |account: &Account| match account {
        Account::Name(name) => Group::from_name(name).ok().map(|group| group.is_some()),
        Account::Id(id) => Group::from_gid((*id).into()).ok().map(|group| group.is_some()),
    };
    let autogroup = std::fs::read_to_string(AUTOGROUP).is_ok_and(|enabled| enabled.trim() == "1");
    on_host(sources.clone(), &HostFacts { autogroup, user: &user, group: &group })
}

/// What a policy may require of this host. What cannot be found out is taken as not there: then the policy is refused,
/// and says which condition did it.
pub(crate) fn facts() -> Host {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    Host {
        linux: Procfs::new("/proc").linux_version(),
        name: read("/proc/sys/kernel/hostname"),
        core_scheduling: core_sched::is_built(),
        cgroup_v2: read("/sys/fs/cgroup/cgroup.controllers").split(' ').any(|it| it == "cpuset"),
    }
}

/// The means that this host has for keeping a clause, a sensor aside, which somebody must hold.
pub(crate) fn facilities() -> Facilities {
    Facilities { core_scheduling: offered(&Roots::default()), ..Facilities::default() }
}

/// The means that `enforce` would find here, started by whoever asks.
pub(crate) fn facilities_of_daemon(machine: &Topology) -> Facilities {
    Facilities { sensor: Sensor::open(&Roots::default(), machine).is_ok(), ..facilities() }
}

#[cfg(test)]
mod tests {
    use cotenant_grammar::tree::LinuxVersion;

    use super::*;

    #[test]
    fn this_host_has_a_version_and_a_name() {
        assert!(facts().linux > LinuxVersion { major: 2, minor: 6 } && !facts().name.is_empty());
    }
}
