//! Who could have written a policy.
//!
//! A policy decides what runs with real-time priority. So whatever a policy is read from must be in the hands of root or
//! of the user the enforcer runs as: the file, every directory on the way to it, and every link followed. A directory with
//! the sticky bit is no fault: nobody can replace other people's files in it (unlink(2)).

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{Uid, geteuid};

use crate::links::resolve;

/// Why a path cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// Somebody else owns it.
    #[error("`{path}` belongs to user {owner}, who could change the policy")]
    Owner {
        /// The file or directory.
        path: String,
        /// Its owner's number.
        owner: u32,
    },
    /// Others may write to it.
    #[error("`{path}` can be written by others (mode {mode:04o}), who could change the policy")]
    Writable {
        /// The file or directory.
        path: String,
        /// Its permission bits.
        mode: u32,
    },
    /// It cannot be looked at.
    #[error("cannot examine `{path}`: {reason}")]
    Unreadable {
        /// The file or directory.
        path: String,
        /// The system's reason.
        reason: String,
    },
}

impl Distrust {
    /// What to type.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Distrust::Owner { path, .. } => format!("chown root {path}"),
            Distrust::Writable { path, .. } => format!("chmod go-w {path}"),
            Distrust::Unreadable { .. } => "run as a user who may look at it".to_owned(),
        }
    }
}

/// Checks a policy file or directory and everything on the way to it.
///
/// # Errors
/// The first thing that somebody other than root and the enforcer's user could change.
pub fn check(path: &Path) -> Result<(), Distrust> {
    let failed = |path: &Path, error: &std::io::Error| Distrust::Unreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    let named = std::path::absolute(path).map_err(|error| failed(path, &error))?;
    let mut ways = BTreeSet::from([named.clone()]);
    // Who can replace a link anywhere on the way chooses where it leads.
    resolve(&named, &mut ways);
    let steps: BTreeSet<&Path> = ways.iter().flat_map(|way| way.ancestors()).collect();
    for step in steps {
        let found = std::fs::symlink_metadata(step).map_err(|error| failed(step, &error))?;
        judge(step, &found, geteuid())?;
    }
    Ok(())
}

fn judge(path: &Path, found: &Metadata, user: Uid) -> Result<(), Distrust> {
    let path = || path.display().to_string();
    if found.uid() != 0 && found.uid() != user.as_raw() {
        return Err(Distrust::Owner { path: path(), owner: found.uid() });
    }
    let (mode, sticky) = (found.mode() & 0o7777, found.mode() & 0o1000 != 0);
    // The mode of a link itself means nothing (symlink(7)).
    let harmless = found.is_symlink() || found.is_dir() && sticky;
    if mode & 0o022 != 0 && !harmless {
        return Err(Distrust::Writable { path: path(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::testing::is_root;

    fn mode(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_can_write_is_refused_wherever_it_stands() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("policies");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("a.policy");
        write(&file, "").unwrap();
        mode(&inner, 0o755);
        mode(&file, 0o644);
        assert_eq!(check(&file), Ok(()));
        mode(&file, 0o664);
        assert_eq!(check(&file), Err(Distrust::Writable { path: file.display().to_string(), mode: 0o664 }));
        mode(&file, 0o644);
        mode(&inner, 0o777);
        let distrust = check(&file).unwrap_err();
        assert_eq!(distrust.remedy(), format!("chmod go-w {}", inner.display()));
        mode(&inner, 0o1777);
        assert_eq!(check(&file), Ok(()), "sticky");
    }

    #[test]
    fn links_are_followed_and_their_places_count() {
        if !is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (open, file) = (directory.path().join("open"), directory.path().join("a.policy"));
        std::fs::create_dir(&open).unwrap();
        write(&file, "").unwrap();
        let link = open.join("link.policy");
        symlink(&file, &link).unwrap();
        mode(&open, 0o777);
        assert!(matches!(check(&link), Err(Distrust::Writable { .. })));
        mode(&open, 0o755);
        assert_eq!(check(&link), Ok(()));
        chown(&file, Some(12_345), None).unwrap();
        assert!(matches!(check(&link), Err(Distrust::Owner { owner: 12_345, .. })));
    }

    #[test]
    fn a_link_in_the_middle_of_a_chain_counts_as_much_as_its_ends() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("open")).unwrap();
        write(at("a.policy"), "").unwrap();
        symlink(at("a.policy"), at("open/middle")).unwrap();
        symlink("open/middle", at("first.policy")).unwrap();
        mode(&at("open"), 0o755);
        assert_eq!(check(&at("first.policy")), Ok(()));
        mode(&at("open"), 0o777);
        let path = at("open").display().to_string();
        assert_eq!(check(&at("first.policy")), Err(Distrust::Writable { path, mode: 0o777 }));
        assert_eq!(check(&at("a.policy")), Ok(()), "which is not on this one's way");
    }

    #[test]
    fn a_link_or_file_of_somebody_elses_is_refused_where_nobody_can_replace_it_either() {
        if !is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        mode(directory.path(), 0o1777);
        write(at("a.policy"), "").unwrap();
        symlink("a.policy", at("link.policy")).unwrap();
        assert_eq!(check(&at("link.policy")), Ok(()));
        std::os::unix::fs::lchown(at("link.policy"), Some(12_345), None).unwrap();
        assert!(matches!(check(&at("link.policy")), Err(Distrust::Owner { owner: 12_345, .. })));
        let inner = at("inner");
        std::fs::create_dir(&inner).unwrap();
        write(inner.join("b.policy"), "").unwrap();
        assert_eq!(check(&inner.join("b.policy")), Ok(()));
        chown(&inner, Some(12_345), None).unwrap();
        assert!(matches!(check(&inner.join("b.policy")), Err(Distrust::Owner { .. })), "who owns it can open it up");
    }

    #[test]
    fn what_is_not_there_or_leads_in_a_circle_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        symlink("nowhere", at("dangling.policy")).unwrap();
        symlink("circle.policy", at("circle.policy")).unwrap();
        for name in ["missing.policy", "dangling.policy"] {
            assert!(matches!(check(&at(name)), Err(Distrust::Unreadable { .. })), "{name}");
        }
        assert!(std::fs::read(at("circle.policy")).is_err(), "the kernel does not follow it");
    }
}
