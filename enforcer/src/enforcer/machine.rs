//! CPUs that came or went: what the kernel did about them is made good, and another plan put in force.
//!
//! The kernel takes a CPU that goes offline out of every version 1 group, and never gives it back; a thread with no CPU left
//! gets all there are, and never its own again. Version 2 and the masks of all other threads come back by themselves. None of
//! that is anybody's wish, so none of it is left alone.

use cotenant_compiler::{CpuSet, Plan};

use super::{Enforcer, Pass};
use crate::error::KernelError;
use crate::ids::Pid;

impl Enforcer {
    /// Whether the CPUs that the plan takes to be online are those that the kernel has online; what cannot be read is taken
    /// to be so.
    #[must_use]
    pub fn is_on_its_machine(&self) -> bool {
        // Documentation/admin-guide/cputopology.rst.
        let online = std::fs::read_to_string(self.roots.sys.join("devices/system/cpu/online")).unwrap_or_default();
        online.trim().parse().map_or(true, |online: CpuSet| online.is_empty() || online == *self.plan.topology.online())
    }

    /// Puts a plan in force that was made for the machine as it is now, also where it says what the one before said: CPUs may
    /// have gone and come back meanwhile.
    ///
    /// # Errors
    /// As [`Enforcer::adopt`].
    pub fn adopt_on_another_machine(&mut self, plan: Plan) -> Result<Pass, KernelError> {
        let mut pass = Pass::default();
        // A CPU that was gone may have been the reason, and whatever is refused again is to be said.
        self.failures.clear();
        for renewed in [self.ground.renew(), self.renew_in_place()] {
            if let Err(error) = renewed {
                self.failed(Pid(0), error, &mut pass);
            }
        }
        self.renew_masks();
        pass.add(self.adopt(plan)?);
        // Before Linux 6.2 the new CPUs of a group cost its threads their masks once more.
        if self.renew_masks() {
            pass.add(self.scan()?);
        }
        Ok(pass)
    }

    /// Forgets of every thread the mask that the kernel took from it, so that it is written again. Returns whether there was
    /// any.
    fn renew_masks(&mut self) -> bool {
        let mut renewed = false;
        let pids: Vec<Pid> = self.members.keys().copied().collect();
        for pid in pids {
            let cpuset = self.cpuset_of(pid);
            let threads = self.members.get_mut(&pid).into_iter().flat_map(|member| &mut member.threads);
            for (tid, touched) in threads {
                // That it has ended is no matter any more.
                if touched.renew_mask(*tid, &cpuset).unwrap_or(false) {
                    for pins in self.pins.values_mut() {
                        pins.remove(tid);
                    }
                    renewed = true;
                }
            }
        }
        renewed
    }
}
