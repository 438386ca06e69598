//! The plan in force and everything it was applied to.
//!
//! [`Enforcer`] is a plain store; what is done with it stands in the modules beside: `membership` says which process is
//! in which class, `conform` writes what a class wants and only what differs, `tick` follows the load, `release` puts
//! everything back, `recover` also what an earlier run left, `heirs` finds what nobody saw being made, `sense` tells the sensor who belongs where and answers it, `machine`
//! makes good what the kernel did when CPUs came or went.

mod balance;
mod conform;
mod cookie;
mod estates;
mod exec;
mod forks;
mod heirs;
mod in_place;
mod insist;
mod late;
mod machine;
mod membership;
mod pins;
mod recover;
mod release;
mod scan;
mod sense;
mod stays;
mod tick;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use cotenant_compiler::plan::{Placement, PlannedClass};
use cotenant_compiler::{CpuId, CpuSet, Plan};

use crate::accounts::Accounts;
use crate::contest::Contest;
use crate::cookies::{self, Cookies};
use crate::decide::{Assignment, Load, Rules, Share};
use crate::error::KernelError;
use crate::ground::Ground;
use crate::ids::{Pid, Tid};
use crate::journal::{self, Journal, moving};
use crate::load::LoadReader;
use crate::member::Member;
use crate::privilege;
use crate::procfs::Procfs;
use crate::roots::Roots;
use crate::sensor::Sensor;
use crate::stay::Stay;
use crate::thread::forgets_masks;
pub use balance::LOOK;
use in_place::InPlace;
pub use insist::Contested;

/// Keeps one plan true. Every change it makes is journalled before it is made.
pub struct Enforcer {
    roots: Roots,
    procfs: Procfs,
    accounts: Accounts,
    ground: Ground,
    /// Every CPU there can be, also where the plan is for a machine that this one only plays.
    possible: CpuSet,
    /// Whether the kernel forgets a thread's own mask when its cpuset changes.
    forgets_masks: bool,
    journal: Journal,
    plan: Arc<Plan>,
    /// What it takes, as long as somebody is there to take it for.
    needs: Needs,
    /// What the plan says about the load.
    rules: Rules,
    assignment: Assignment,
    /// The load under which that stays as it is, where there is one.
    steady_under: Option<Load>,
    members: BTreeMap<Pid, Member>,
    late: late::Late,
    in_place: BTreeMap<PathBuf, InPlace>,
    /// For classes that hold equals: the CPU of each thread.
    pins: BTreeMap<usize, BTreeMap<Tid, CpuId>>,
    /// For classes that prefer the last CPU: where each thread may run.
    stays: BTreeMap<usize, BTreeMap<Tid, Stay>>,
    failures: BTreeMap<Pid, Failure>,
    /// Processes that somebody else changes as well.
    contests: BTreeMap<Pid, Contest>,
    /// When it was last looked after those on which classes insist.
    insisted: Option<Instant>,
    /// Classes whose share could not be written, to be tried again.
    behind: BTreeSet<usize>,
    load: LoadReader,
    weighed: balance::Weighed,
    cookies: Cookies,
    /// Eyes in the kernel, where they are to be had.
    sensor: Option<Sensor>,
}

/// What a plan takes of a clock. It is asked at every event, and a plan may have thousands of classes.
#[derive(Debug, Clone, Copy)]
struct Needs {
    ticks: bool,
    insistence: bool,
}

impl Needs {
    fn of(plan: &Plan) -> Needs {
        let any = |asks: fn(&Placement) -> bool| plan.classes.iter().filter_map(|it| it.placement.as_ref()).any(asks);
        Needs { ticks: any(Placement::is_reactive), insistence: any(Placement::insists) }
    }
}

/// Something the kernel refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The process it was done for; 0 where it was for none.
    pub pid: Pid,
    /// Its class's name.
    pub class: String,
    /// What was refused and what to do about it.
    pub error: KernelError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pid, self.class.as_str()) {
            // Of a group or the journal, and no process's.
            (Pid(0), _) => self.error.fmt(f),
            (pid, "") => write!(f, "process {pid}: {}", self.error),
            (pid, class) => write!(f, "process {pid} of class `{class}`: {}", self.error),
        }
    }
}

/// What a pass did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    /// Processes that joined a class or changed it.
    pub placed: usize,
    /// Processes that left their class and were put back.
    pub released: usize,
    /// What was refused, one entry a process.
    pub failures: Vec<Failure>,
    /// Processes that became contested.
    pub contested: Vec<Contested>,
}

impl Pass {
    /// Adds what another pass did.
    pub fn add(&mut self, other: Pass) {
        self.placed += other.placed;
        self.released += other.released;
        self.failures.extend(other.failures);
        self.contested.extend(other.contested);
    }
}

impl Enforcer {
    /// Prepares the run directory and puts back what an earlier run left behind. Nothing is placed before
    /// [`Enforcer::scan`]. The caller holds the lock of the run directory.
    ///
    /// # Errors
    /// `EPERM` without the privilege to place anything; where the run directory, journal or control groups cannot be used.
    pub fn start(roots: Roots, plan: Plan) -> Result<(Enforcer, Pass), KernelError> {
        if !plan.classes.is_empty() {
            privilege::check()?;
        }
        journal::prepare_directory(&roots.run)?;
        cookies::go_without()?;
        let (journal, left) = Journal::open(&roots.run, &roots.proc)?;
        let damage = left.damage(&Journal::path_in(&roots.run));
        let rules = Rules::of(&plan);
        let mut enforcer = Enforcer {
            procfs: Procfs::new(&roots.proc).with_groups_of(&roots.cgroup),
            accounts: Accounts::default(),
            ground: Ground::open(&roots)?,
            possible: possible_cpus(&roots, &plan),
            forgets_masks: forgets_masks(&Procfs::new(&roots.proc)),
            journal,
            assignment: Assignment::initial(&rules),
            steady_under: None,
            rules,
            needs: Needs::of(&plan),
            plan: Arc::new(plan),
            members: BTreeMap::new(),
            late: late::Late::default(),
            in_place: BTreeMap::new(),
            pins: BTreeMap::new(),
            weighed: balance::Weighed::default(),
            stays: BTreeMap::new(),
            failures: BTreeMap::new(),
            contests: BTreeMap::new(),
            insisted: None,
            behind: BTreeSet::new(),
            load: LoadReader::new(privilege::open_files()),
            cookies: Cookies::default(),
            sensor: None,
            roots,
        };
        moving::mend(&enforcer.roots.run, &enforcer.procfs)?;
        let mut recovered = enforcer.recover(left.records)?;
        if let Some(damage) = damage {
            enforcer.failed(Pid(0), damage, &mut recovered);
        }
        Ok((enforcer, recovered))
    }

    /// What keeps processes from being moved into groups of cotenant's own, on a host where they would be.
    #[must_use]
    pub fn hindrance(&self) -> Option<&KernelError> {
        self.ground.hindrance()
    }

    /// What keeps groups of the host from being told, in a container that does not see them.
    #[must_use]
    pub fn unseen_groups(&self) -> Option<KernelError> {
        self.procfs.unseen_groups(&self.roots.cgroup)
    }

    /// The plan in force.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn shared_plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub(crate) fn procfs(&self) -> &Procfs {
        &self.procfs
    }

    /// The sets of CPUs in force.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The processes in classes.
    pub fn members(&self) -> impl Iterator<Item = (Pid, &Member)> {
        self.members.iter().map(|(pid, member)| (*pid, member))
    }

    pub(crate) fn member(&self, pid: Pid) -> Option<&Member> {
        self.members.get(&pid)
    }

    /// What stands refused, by process.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.failures.values()
    }

    /// Whether a class whose share moves with the load has members, so that [`Enforcer::tick`] has something to do.
    #[must_use]
    pub fn is_reactive_now(&self) -> bool {
        self.needs.ticks
            && self.members.values().any(|member| self.placement(member.class).is_some_and(Placement::is_reactive))
    }

    fn class(&self, class: usize) -> Option<&PlannedClass> {
        self.plan.classes.get(class)
    }

    fn placement(&self, class: usize) -> Option<&Placement> {
        self.class(class)?.placement.as_ref()
    }

    fn share(&self, class: usize) -> Option<&Share> {
        self.assignment.classes.get(class)?.as_ref()
    }

    /// Notes a refusal; that the process ended meanwhile is none.
    fn failed(&mut self, pid: Pid, error: KernelError, pass: &mut Pass) {
        if error.is_gone() {
            return;
        }
        let class = self.members.get(&pid).and_then(|member| self.class(member.class));
        let class = class.map_or_else(String::new, |class| class.name.clone());
        let failure = Failure { pid, class, error };
        // What is refused again and again is said once.
        if self.failures.get(&pid) == Some(&failure) {
            return;
        }
        pass.failures.push(failure.clone());
        self.failures.insert(pid, failure);
    }
}

/// Every CPU there can be: `Documentation/admin-guide/cputopology.rst`. What the plan knows, where the kernel does not say.
fn possible_cpus(roots: &Roots, plan: &Plan) -> CpuSet {
    let text = std::fs::read_to_string(roots.sys.join("devices/system/cpu/possible")).unwrap_or_default();
    let possible = text.trim().parse::<CpuSet>().ok().filter(|possible| !possible.is_empty());
    possible.unwrap_or_else(|| plan.topology.online().union(plan.topology.offline()))
}

#[cfg(test)]
mod tests;
