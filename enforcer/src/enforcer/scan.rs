//! A pass over everything that runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use cotenant_compiler::Plan;
use cotenant_compiler::plan::predecessors;

use super::estates::Estates;
use super::membership::{Verdict, verdict};
use super::{Enforcer, Needs, Pass};
use crate::decide::{Assignment, Rules};
use crate::error::KernelError;
use crate::ids::Pid;
use crate::member::{Joined, NO_CLASS};

/// What a process in a class is taken to have inherited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heritage {
    /// What it did, as its record has it: the plan is the one it was placed by.
    Recorded,
    /// What its parent has under this plan, which is new.
    OfParents,
}

impl Enforcer {
    /// Looks at every process there is and brings each to what the plan wants: the first thing to do, and the remedy
    /// whenever events were lost.
    ///
    /// # Errors
    /// Where `/proc` itself cannot be listed.
    pub fn scan(&mut self) -> Result<Pass, KernelError> {
        self.late.keep(|pid| self.procfs.stat(pid).ok().map(|stat| stat.start));
        let estates = Estates::of(&self.members);
        self.look(Heritage::Recorded, estates)
    }

    /// `estates` is what members have been given, those too that are none any more.
    fn look(&mut self, heritage: Heritage, mut estates: Estates) -> Result<Pass, KernelError> {
        let found = self.living()?;
        self.adopt_heirs(&found, &mut estates)?;
        let mut verdicts: BTreeMap<Pid, Verdict> = BTreeMap::new();
        for (pid, stat) in &found {
            let own = self.classify(*pid, stat);
            let known = self.members.get(pid).filter(|member| member.start == stat.start);
            let from = match known.filter(|member| member.class != NO_CLASS) {
                // Its parent may have run another program since, or have ended; what it inherited once, it keeps.
                Some(member) if heritage == Heritage::Recorded || member.parent != stat.parent => Some(member.class),
                _ => verdicts.get(&stat.parent).copied().flatten().map(|(class, _)| class),
            };
            let asked =
                known.filter(|member| member.joined == Joined::Asked).map(|member| (member.class, Joined::Asked));
            verdicts.insert(*pid, asked.or_else(|| verdict(&self.plan, stat.has_not_execed(), own, from)));
        }
        let ended: Vec<Pid> = self.members.keys().filter(|pid| !verdicts.contains_key(pid)).copied().collect();
        for pid in ended {
            // Of what it forked before may be heard yet.
            self.members.get(&pid).into_iter().for_each(|member| self.late.add_leaver(pid, member, &self.ground));
            self.forget(pid);
        }
        let mut pass = Pass::default();
        // Everybody's class must be known before anybody is placed: a group is used only where all in it belong together.
        for (pid, stat) in &found {
            if let Some((class, joined)) = verdicts.get(pid).copied().flatten() {
                pass.placed += usize::from(self.expect(*pid, stat, class, joined));
            }
        }
        for (pid, stat) in &found {
            let verdict = verdicts.get(pid).copied().flatten();
            let done = self.enrol(*pid, stat, verdict);
            pass.add(Pass { placed: 0, ..done });
        }
        self.clear_stray_cookies(&mut pass);
        // A journal that cannot be rewritten is longer than it need be, and says the same.
        drop(self.compact());
        Ok(pass)
    }

    /// Takes another wording of the plan in force. Accounts are looked up again, and everything is looked at: a user may
    /// be known now who was not before. Else nothing changes but where clauses stand.
    ///
    /// # Errors
    /// As [`Enforcer::scan`]; then the wording stays, too.
    pub fn restate(&mut self, plan: Plan) -> Result<Pass, KernelError> {
        self.accounts.forget();
        let pass = self.scan()?;
        self.needs = Needs::of(&plan);
        self.plan = Arc::new(plan);
        Ok(pass)
    }

    /// Puts another plan in force: the difference is applied, nothing else is touched.
    ///
    /// # Errors
    /// As [`Enforcer::scan`].
    pub fn adopt(&mut self, plan: Plan) -> Result<Pass, KernelError> {
        // By the plan that made them what they are: what was forked and not heard of yet leaves with its maker.
        let (living, mut estates) = (self.living()?, Estates::of(&self.members));
        self.adopt_heirs(&living, &mut estates)?;
        self.needs = Needs::of(&plan);
        let old = std::mem::replace(&mut self.plan, Arc::new(plan));
        self.accounts.forget();
        self.rules = Rules::of(&self.plan);
        self.assignment = Assignment::initial(&self.rules);
        self.steady_under = None;
        self.pins.clear();
        self.stays.clear();
        self.behind.clear();
        self.watch_plan()?;
        let mut pass = Pass::default();
        // What is of no class any more goes back first.
        let successions = predecessors(&old, &self.plan).into_iter().enumerate();
        let renumbered: BTreeMap<usize, usize> =
            successions.filter_map(|(class, before)| Some((before?, class))).collect();
        self.late.renumber(&renumbered);
        let mut orphans = Vec::new();
        for (pid, member) in &mut self.members {
            match renumbered.get(&member.class) {
                Some(class) => member.class = *class,
                // A number of the old plan means another class in the new one.
                None => {
                    member.class = NO_CLASS;
                    orphans.push(*pid);
                }
            }
        }
        for pid in orphans {
            pass.released += 1;
            self.leave(pid, &mut pass);
        }
        // Groups first, where they have more CPUs than before: what a thread is to have of them would be refused until then.
        self.refresh_groups();
        pass.add(self.look(Heritage::OfParents, estates)?);
        self.refresh(&mut pass);
        self.drop_empty_groups(&mut pass);
        self.drop_cookies();
        Ok(pass)
    }
}
