//! Names of users and groups, looked up once.

use std::cell::RefCell;
use std::collections::HashMap;

use cotenant_compiler::selector::Account;
use nix::unistd::{Group, User};

/// Numbers of the accounts that selectors name. A name that the host does not know matches nobody; it is looked up again
/// after [`Accounts::forget`], that is, at the next reload.
#[derive(Debug, Default)]
pub struct Accounts {
    users: RefCell<HashMap<String, Option<u32>>>,
    groups: RefCell<HashMap<String, Option<u32>>>,
}

impl Accounts {
    /// Whether `account` is the user with this number.
    pub fn is_user(&self, account: &Account, uid: u32) -> bool {
        let find = |name: &str| User::from_name(name).ok().flatten().map(|user| user.uid.as_raw());
        is(account, uid, &self.users, find)
    }

    /// Whether `account` is the group with this number.
    pub fn is_group(&self, account: &Account, gid: u32) -> bool {
        let find = |name: &str| Group::from_name(name).ok().flatten().map(|group| group.gid.as_raw());
        is(account, gid, &self.groups, find)
    }

    /// Remembers of a user what a host that did not know it would have said.
    #[cfg(test)]
    pub(crate) fn take_as_unknown(&self, user: &str) {
        self.users.borrow_mut().insert(user.to_owned(), None);
    }

    /// Drops what was looked up.
    pub fn forget(&self) {
        self.users.borrow_mut().clear();
        self.groups.borrow_mut().clear();
    }
}

fn is(
    account: &Account,
    id: u32,
    known: &RefCell<HashMap<String, Option<u32>>>,
    find: impl Fn(&str) -> Option<u32>,
) -> bool {
    match account {
        Account::Id(wanted) => *wanted == id,
        Account::Name(name) => {
            let known_already = known.borrow().get(name).copied();
            let found = known_already.unwrap_or_else(|| {
                let found = find(name);
                known.borrow_mut().insert(name.clone(), found);
                found
            });
            found == Some(id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_and_nobody_else_is_root() {
        let accounts = Accounts::default();
        assert!(accounts.is_user(&Account::new("root"), 0) && accounts.is_group(&Account::new("0"), 0));
        assert!(!accounts.is_user(&Account::new("no-such-user-here"), 0));
        assert!(!accounts.is_user(&Account::new("root"), 1));
    }
}
