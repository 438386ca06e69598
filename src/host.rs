//! What this host knows that a description of its CPUs does not say.

use cotenant_compiler::lints::{HostFacts, on_host};
use cotenant_compiler::selector::Account;
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
