//! What a selector asks of a process.

use std::fmt;

use cotenant_grammar::tree::InitialPolicy;

/// A user or group, by name or number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// Looked up on the host when the plan is put to use.
    Name(String),
    /// A numeric id.
    Id(u32),
}

impl Account {
    /// A text of digits is a number, anything else a name.
    #[must_use]
    pub fn new(text: &str) -> Account {
        text.parse().map_or_else(|_| Account::Name(text.to_owned()), Account::Id)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Account::Name(name) => f.write_str(name),
            Account::Id(id) => id.fmt(f),
        }
    }
}

/// The fields of one process. Implementations may read a field only when it is asked for.
pub trait Process {
    /// The leader's kernel name, at most 15 bytes.
    fn comm(&self) -> &[u8];
    /// The resolved executable without ` (deleted)`; none where it cannot be read.
    fn exe(&self) -> Option<&[u8]>;
    /// Whether [`Process::exe`] is the file that this host has at that path: a process may see another one there, because
    /// something is mounted over it for that process.
    fn runs_the_file_it_names(&self) -> bool;
    /// The arguments, the program's own name first.
    fn args(&self) -> &[Vec<u8>];
    /// Whether the effective user is this one.
    fn user_is(&self, account: &Account) -> bool;
    /// Whether the effective group is this one.
    fn group_is(&self, account: &Account) -> bool;
    /// The effective user, to be shown: name, where known, and number.
    fn user(&self) -> Option<String> {
        None
    }
    /// The effective group, likewise.
    fn group(&self) -> Option<String> {
        None
    }
    /// Every distinct cgroup path of the process that tells where it is ([`super::telling`]), other than groups that cotenant
    /// made.
    fn cgroups(&self) -> &[Vec<u8>];
    /// The name of the thread in question; none where it is asked about a process as a whole.
    fn thread(&self) -> Option<&[u8]> {
        None
    }
    /// The scheduling policy it had when it was first seen; none where that is not known.
    fn first_policy(&self) -> Option<InitialPolicy> {
        None
    }
    /// The process that started it, or that took it over; none where that is not known.
    fn parent(&self) -> Option<&dyn Process> {
        None
    }
}

/// A process as a plain value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// See [`Process::comm`].
    pub comm: Vec<u8>,
    /// See [`Process::exe`].
    pub exe: Option<Vec<u8>>,
    /// The opposite of [`Process::runs_the_file_it_names`].
    pub runs_another_file: bool,
    /// See [`Process::args`].
    pub args: Vec<Vec<u8>>,
    /// Effective user: name, where known, and number.
    pub user: (String, u32),
    /// Effective group: name, where known, and number.
    pub group: (String, u32),
    /// See [`Process::cgroups`].
    pub cgroups: Vec<Vec<u8>>,
    /// See [`Process::thread`].
    pub thread: Option<Vec<u8>>,
    /// See [`Process::first_policy`].
    pub first_policy: Option<InitialPolicy>,
    /// See [`Process::parent`].
    pub parent: Option<Box<Fields>>,
}

fn shown((name, id): &(String, u32)) -> String {
    if name.is_empty() { id.to_string() } else { format!("{name} ({id})") }
}

fn is(account: &Account, known: &(String, u32)) -> bool {
    match account {
        Account::Name(name) => *name == known.0,
        Account::Id(id) => *id == known.1,
    }
}

impl Process for Fields {
    fn comm(&self) -> &[u8] {
        &self.comm
    }

    fn exe(&self) -> Option<&[u8]> {
        self.exe.as_deref()
    }

    fn runs_the_file_it_names(&self) -> bool {
        !self.runs_another_file
    }

    fn args(&self) -> &[Vec<u8>] {
        &self.args
    }

    fn user_is(&self, account: &Account) -> bool {
        is(account, &self.user)
    }

    fn group_is(&self, account: &Account) -> bool {
        is(account, &self.group)
    }

    fn user(&self) -> Option<String> {
        Some(shown(&self.user))
    }

    fn group(&self) -> Option<String> {
        Some(shown(&self.group))
    }

    fn cgroups(&self) -> &[Vec<u8>] {
        &self.cgroups
    }

    fn thread(&self) -> Option<&[u8]> {
        self.thread.as_deref()
    }

    fn first_policy(&self) -> Option<InitialPolicy> {
        self.first_policy
    }

    fn parent(&self) -> Option<&dyn Process> {
        self.parent.as_deref().map(|parent| parent as &dyn Process)
    }
}
