//! Seeing that a policy changed on disk.
//!
//! Not files are watched but the directories they are found in, because that is where a change shows: an editor writes a
//! new file and renames it over the old one, and a mounted ConfigMap swaps a link that all its files are reached through.
//! Every link on the way is followed by hand and its directory watched too. After each change the directories are found
//! anew. Other files of those directories, such as a log beside the policy, do not count.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::KernelError;
use crate::links::resolve;

/// Watches the places a policy comes from. The descriptor (`AsFd`) becomes readable when something changed there.
pub struct PolicyWatch {
    watcher: RecommendedWatcher,
    bell: Arc<EventFd>,
    watched: BTreeSet<PathBuf>,
    /// Shared with the thread that reads inotify.
    places: Arc<Mutex<Places>>,
}

/// Where a change could make a policy mean something else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Places {
    /// Links on the way, and the files and directories at its end.
    exact: BTreeSet<PathBuf>,
    /// Directories of which every policy counts.
    policies: BTreeSet<PathBuf>,
}

impl Places {
    /// The directories that must be watched to see these places change.
    fn directories(&self) -> BTreeSet<PathBuf> {
        let above = self.exact.iter().filter_map(|path| path.parent()).map(Path::to_owned);
        above.chain(self.policies.iter().cloned()).collect()
    }

    fn hold(&self, path: &Path) -> bool {
        let is_policy = path.extension().is_some_and(|extension| extension == "policy");
        self.exact.contains(path) || is_policy && path.parent().is_some_and(|above| self.policies.contains(above))
    }
}

impl PolicyWatch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// Where inotify or an eventfd cannot be had (`EMFILE`: too many of them; see inotify(7), `max_user_instances`).
    pub fn new() -> Result<PolicyWatch, KernelError> {
        let bell = EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        let bell = Arc::new(bell.map_err(|errno| KernelError::file("eventfd", "open", errno))?);
        let ring = Arc::clone(&bell);
        let places = Arc::new(Mutex::new(Places::default()));
        let known = Arc::clone(&places);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let places = known.lock().unwrap_or_else(PoisonError::into_inner);
            if event.as_ref().map_or(true, |event| matters(event, &places)) {
                // Only a counter at its limit could refuse, and then the bell rings already.
                let _ = ring.write(1);
            }
        });
        let watcher = watcher.map_err(|error| KernelError::file("inotify", "open", errno(&error)))?;
        Ok(PolicyWatch { watcher, bell, watched: BTreeSet::new(), places })
    }

    /// Watches the directories from which `paths` are read now, and no others. What cannot be watched because it is not
    /// there is found again through the directory above it.
    ///
    /// # Errors
    /// Where a directory that exists cannot be watched (`ENOSPC`: see inotify(7), `max_user_watches`).
    pub fn follow(&mut self, paths: &[PathBuf]) -> Result<(), KernelError> {
        let places = places(paths);
        let wanted = places.directories();
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = places;
        for gone in self.watched.difference(&wanted) {
            // A directory that was removed has lost its watch already.
            drop(self.watcher.unwatch(gone));
        }
        for new in wanted.difference(&self.watched) {
            match self.watcher.watch(new, RecursiveMode::NonRecursive) {
                Err(error) if new.exists() => return Err(KernelError::file(new, "watch", errno(&error))),
                _ => {}
            }
        }
        self.watched = wanted;
        Ok(())
    }

    /// Takes note that what changed until now is known.
    pub fn hush(&self) {
        // EAGAIN means that it was silent already.
        let _ = self.bell.read();
    }
}

impl AsFd for PolicyWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// Reading a policy must not look like a change to it. A lost event counts as a change.
fn matters(event: &Event, places: &Places) -> bool {
    let changes = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    };
    event.need_rescan() || changes && (event.paths.is_empty() || event.paths.iter().any(|path| places.hold(path)))
}

fn errno(error: &notify::Error) -> Errno {
    match &error.kind {
        notify::ErrorKind::Io(error) => crate::error::errno_of(error),
        notify::ErrorKind::MaxFilesWatch => Errno::ENOSPC,
        notify::ErrorKind::PathNotFound => Errno::ENOENT,
        _ => Errno::EIO,
    }
}

/// Every place that counts for these paths as they lead now: each link on the way, what is at its end, and for a
/// directory of policies the links in it.
fn places(paths: &[PathBuf]) -> Places {
    let mut places = Places::default();
    for path in paths.iter().filter_map(|path| std::path::absolute(path).ok()) {
        let real = resolve(&path, &mut places.exact);
        if real.is_dir() {
            for entry in std::fs::read_dir(&real).into_iter().flatten().flatten() {
                if entry.path().is_symlink() {
                    resolve(&entry.path(), &mut places.exact);
                }
            }
            places.policies.insert(real);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, rename, write};
    use std::os::unix::fs::symlink;
    use std::time::{Duration, Instant};

    use super::*;

    /// Whether the bell rings within the time, and hushes it.
    fn rings(watch: &PolicyWatch, within: Duration) -> bool {
        let end = Instant::now() + within;
        loop {
            match watch.bell.read() {
                Ok(_) => return true,
                Err(_) if Instant::now() > end => return false,
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    const SOON: Duration = Duration::from_secs(30);

    #[test]
    fn a_file_written_renamed_over_or_removed_rings() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.policy");
        write(&file, "one").unwrap();
        let mut watch = PolicyWatch::new().unwrap();
        watch.follow(std::slice::from_ref(&file)).unwrap();
        write(&file, "two").unwrap();
        assert!(rings(&watch, SOON));
        let new = directory.path().join(".a.swp");
        write(&new, "three").unwrap();
        rename(&new, &file).unwrap();
        assert!(rings(&watch, SOON));
        while rings(&watch, Duration::from_millis(50)) {}
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "three");
        assert!(!rings(&watch, Duration::from_millis(100)), "reading is no change");
        write(directory.path().join("a.log"), "beside it").unwrap();
        assert!(!rings(&watch, Duration::from_millis(100)), "another file is no change");
        std::fs::remove_file(&file).unwrap();
        assert!(rings(&watch, SOON));
    }

    #[test]
    fn a_swapped_link_rings_and_the_new_place_is_followed() {
        // As Kubernetes mounts a ConfigMap: a.policy -> ..data/a.policy, ..data -> ..1, and ..data is swapped.
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for version in ["..1", "..2"] {
            create_dir(at(version)).unwrap();
            write(at(version).join("a.policy"), version).unwrap();
        }
        symlink("..1", at("..data")).unwrap();
        symlink("..data/a.policy", at("a.policy")).unwrap();
        let mut watch = PolicyWatch::new().unwrap();
        let paths = [directory.path().to_owned()];
        watch.follow(&paths).unwrap();
        symlink("..2", at("..next")).unwrap();
        rename(at("..next"), at("..data")).unwrap();
        assert!(rings(&watch, SOON));
        watch.follow(&paths).unwrap();
        while rings(&watch, Duration::from_millis(50)) {}
        write(at("..2").join("a.policy"), "changed in place").unwrap();
        assert!(rings(&watch, SOON));
    }

    #[test]
    fn a_path_that_is_itself_a_link_is_watched_where_the_link_stands() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        ["one", "two"].iter().for_each(|name| create_dir(at(name)).unwrap());
        symlink("one", at("current")).unwrap();
        let real = directory.path().canonicalize().unwrap();
        let watched = |name: &str| places(&[at(name)]).directories();
        assert!(watched("current").is_superset(&[real.clone(), real.join("one")].into()));
        symlink("loop", at("loop")).unwrap();
        assert!(watched("loop").contains(&real), "a loop ends");
    }
}
