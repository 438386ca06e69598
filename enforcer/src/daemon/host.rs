//! The seam to whatever runs the daemon: what it asks for and what it has to tell.

use std::path::PathBuf;
use std::time::Duration;

use cotenant_compiler::Plan;
use cotenant_compiler::plan::{Astray, Change};
use cotenant_compiler::topology::Topology;

use crate::enforcer::{Contested, Failure, Pass};
use crate::error::KernelError;
use crate::sensor::Sight;
use crate::status::Status;
use crate::story::Story;

/// Counts since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Process events followed.
    pub events: u64,
    /// Times events were lost, each answered by a scan of everything.
    pub lost: u64,
    /// Ticks of the load loop.
    pub ticks: u64,
    /// Processes placed.
    pub placed: u64,
    /// Processes put back because they left their class.
    pub released: u64,
    /// Processes that became contested.
    pub contested: u64,
    /// What became of reading the policy again.
    pub reloads: Reloads,
}

/// How often each [outcome](Reload) was, changes of the machine among them where they made another plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reloads {
    /// [`Reload::Unchanged`].
    pub unchanged: u64,
    /// [`Reload::Applied`].
    pub applied: u64,
    /// [`Reload::Refused`].
    pub refused: u64,
    /// [`Reload::Failed`].
    pub failed: u64,
}

impl Reloads {
    pub(super) fn count(&mut self, reload: &Reload) {
        *match reload {
            Reload::Unchanged => &mut self.unchanged,
            Reload::Applied(_) => &mut self.applied,
            Reload::Refused(_) => &mut self.refused,
            Reload::Failed(_) => &mut self.failed,
        } += 1;
    }
}

/// Why the policy is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Its files may have changed.
    Changed,
    /// Somebody asked for it, by a signal or on the control socket.
    Asked,
    /// CPUs came or went.
    Machine,
}

/// What became of reading the policy again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reload {
    /// It says in other words what is in force.
    Unchanged,
    /// The difference was applied.
    Applied(Vec<Change>),
    /// The text is wrong, and the running plan stays, as far as the machine still has what it names; why, as diagnostics would
    /// say it.
    Refused(String),
    /// The kernel could not be asked what runs, and the plan before it is in force again.
    Failed(KernelError),
}

/// Something worth telling whoever runs the daemon.
#[derive(Debug)]
pub enum Notice<'a> {
    /// What an earlier run had left was put back.
    Recovered(&'a Pass),
    /// The plan is in force.
    Ready(&'a Pass),
    /// The policy is about to be read again because somebody asked for it; what became of it is told afterwards.
    Reloading,
    /// The policy was read again.
    Reloaded(Cause, &'a Reload, &'a Pass),
    /// None of a class's CPUs is online, and it may run anywhere until they are.
    Astray(&'a Astray),
    /// Events were lost, and everything was scanned.
    Lost(&'a Pass),
    /// The kernel refused something for a process.
    Refused(&'a Failure),
    /// Somebody else changes again and again what a class insists on.
    Contested(&'a Contested),
    /// Something works less well than it could; what, and why.
    Weaker(&'static str, &'a KernelError),
    /// The end was asked for, and everything is about to be put back.
    Stopping,
    /// Everything was put back.
    Released(&'a Pass),
}

/// Answers of the daemon to its surroundings: what only a program with a command line can know.
pub trait Host {
    /// Compiles the policy from its files as they are now; none where they [changed](Cause::Changed), and are as they
    /// were the last time, right or wrong. For any other cause the machine is looked at again, unless it is one that is
    /// played.
    ///
    /// # Errors
    /// What is wrong with it, as text for a log.
    fn load(&mut self, cause: Cause) -> Result<Option<Plan>, String>;
    /// The machine as it was when it was last looked at.
    fn machine(&self) -> &Topology;
    /// The files and directories the policy is read from.
    fn paths(&self) -> Vec<PathBuf>;
    /// Says something to whoever listens.
    fn tell(&mut self, notice: &Notice<'_>);
    /// Takes note that the daemon is at work: called at every turn of its loop. Says when the next turn must come at the
    /// latest; none where nobody waits for it.
    fn pulse(&mut self) -> Option<Duration> {
        None
    }
    /// Puts a status into the form that the control socket speaks.
    fn encode(&self, view: &View<'_>) -> Vec<u8>;
    /// Puts the policy in force into the form that the control socket speaks.
    fn encode_policy(&self, plan: &Plan) -> Vec<u8>;
    /// Puts what is known of a process into the form that the control socket speaks; none of one in no class.
    fn encode_story(&self, story: Option<&Story>) -> Vec<u8>;
}

/// All there is to say about a running daemon.
#[derive(Debug)]
pub struct View<'a> {
    /// Classes, members and refusals.
    pub status: Status,
    /// Counts since the start.
    pub counters: Counters,
    /// What became of the last time the policy was read again.
    pub last_reload: Option<&'a Reload>,
    /// What became of it the last time that CPUs came or went, and the plan was another for it.
    pub last_machine: Option<&'a Reload>,
    /// The time between two looks at the load.
    pub tick: Duration,
    /// What the sensor saw and did, where there is one.
    pub sight: Option<Sight>,
}
