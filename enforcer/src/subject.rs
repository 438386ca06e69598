//! A process as selectors see it: each field is read from `/proc` when it is first asked for.

use std::cell::OnceCell;

use cotenant_compiler::selector::{Account, Process, telling};
use nix::unistd::{Gid, Group, Uid, User};

use crate::accounts::Accounts;
use crate::ids::Pid;
use crate::procfs::{Procfs, Stat, Status};

/// One process. What cannot be read, because the process ended or its owner forbids it, matches nothing.
pub struct Subject<'a> {
    procfs: &'a Procfs,
    accounts: &'a Accounts,
    /// The first component of the groups that the enforcer makes, which say nothing about the process.
    own_group: &'a str,
    pid: Pid,
    parent_pid: Pid,
    parent: OnceCell<Option<Box<Subject<'a>>>>,
    comm: Vec<u8>,
    exe: OnceCell<Option<Vec<u8>>>,
    args: OnceCell<Vec<Vec<u8>>>,
    status: OnceCell<Option<Status>>,
    cgroups: OnceCell<Vec<Vec<u8>>>,
}

impl<'a> Subject<'a> {
    /// The process that `stat` was read of.
    pub fn new(procfs: &'a Procfs, accounts: &'a Accounts, own_group: &'a str, pid: Pid, stat: &Stat) -> Subject<'a> {
        // A leader that other threads outlive has neither program nor arguments nor groups any more, and they do. Every
        // thread has a directory by its id.
        let outlived = if stat.is_zombie() { procfs.living_thread(pid) } else { None };
        let pid = outlived.map_or(pid, |tid| Pid(tid.0));
        Subject {
            procfs,
            accounts,
            own_group,
            pid,
            parent_pid: stat.parent,
            parent: OnceCell::new(),
            comm: stat.comm.clone(),
            exe: OnceCell::new(),
            args: OnceCell::new(),
            status: OnceCell::new(),
            cgroups: OnceCell::new(),
        }
    }

    /// Whether something that was asked for was not there, as of a process that has ended.
    pub(crate) fn lacks_something(&self) -> bool {
        self.exe.get().is_some_and(Option::is_none)
            || self.args.get().is_some_and(Vec::is_empty)
            || self.status.get().is_some_and(Option::is_none)
            || self.cgroups.get().is_some_and(Vec::is_empty)
    }

    fn status(&self) -> Option<&Status> {
        self.status.get_or_init(|| self.procfs.status(self.pid).ok()).as_ref()
    }

    fn is_own(&self, path: &[u8]) -> bool {
        let rest = path.strip_prefix(b"/").and_then(|path| path.strip_prefix(self.own_group.as_bytes()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

impl Process for Subject<'_> {
    fn comm(&self) -> &[u8] {
        &self.comm
    }

    fn exe(&self) -> Option<&[u8]> {
        self.exe.get_or_init(|| self.procfs.exe(self.pid).ok().flatten().map(|exe| exe.path)).as_deref()
    }

    fn runs_the_file_it_names(&self) -> bool {
        self.procfs.is_its_exe(self.pid).unwrap_or(false)
    }

    fn args(&self) -> &[Vec<u8>] {
        self.args.get_or_init(|| self.procfs.cmdline(self.pid).map_or_else(|_| Vec::new(), |line| line.arguments))
    }

    fn user_is(&self, account: &Account) -> bool {
        self.status().is_some_and(|status| self.accounts.is_user(account, status.user))
    }

    fn group_is(&self, account: &Account) -> bool {
        self.status().is_some_and(|status| self.accounts.is_group(account, status.group))
    }

    fn user(&self) -> Option<String> {
        let uid = self.status()?.user;
        let known = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        Some(known.map_or_else(|| uid.to_string(), |user| format!("{} ({uid})", user.name)))
    }

    fn group(&self) -> Option<String> {
        let gid = self.status()?.group;
        let known = Group::from_gid(Gid::from_raw(gid)).ok().flatten();
        Some(known.map_or_else(|| gid.to_string(), |group| format!("{} ({gid})", group.name)))
    }

    fn cgroups(&self) -> &[Vec<u8>] {
        self.cgroups.get_or_init(|| {
            let groups = self.procfs.cgroups(self.pid).unwrap_or_default();
            telling(groups.paths().into_iter().filter(|path| !self.is_own(path)))
                .into_iter()
                .map(<[u8]>::to_vec)
                .collect()
        })
    }

    fn parent(&self) -> Option<&dyn Process> {
        let Subject { procfs, accounts, own_group, parent_pid, .. } = *self;
        let read = || {
            // The kernel's own children have parent 0, which is nobody.
            let stat = procfs.stat(parent_pid).ok()?;
            Some(Box::new(Subject::new(procfs, accounts, own_group, parent_pid, &stat)))
        };
        self.parent.get_or_init(read).as_deref().map(|parent| parent as &dyn Process)
    }
}

#[cfg(test)]
mod recorded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_lead_to_the_first_process_and_end() {
        let (procfs, accounts) = (Procfs::new("/proc"), Accounts::default());
        let pid = Pid::current();
        let stat = procfs.stat(pid).unwrap();
        let subject = Subject::new(&procfs, &accounts, "cotenant", pid, &stat);
        let ancestors = std::iter::successors(subject.parent(), |ancestor| ancestor.parent());
        let names: Vec<_> = ancestors.map(|ancestor| ancestor.comm().to_vec()).collect();
        let of = |pid: Pid| procfs.stat(pid).unwrap().comm;
        assert_eq!(names.first(), Some(&of(stat.parent)));
        assert!(names.len() < 1000);
    }
}
