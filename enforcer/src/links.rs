//! Where a path leads, link by link: path_resolution(7).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Links followed on one path before it is taken for a loop, as the kernel does.
const MOST_LINKS: usize = 40;

/// Follows a path link by link, notes each and the end, and returns the end.
pub(crate) fn resolve(path: &Path, found: &mut BTreeSet<PathBuf>) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match first_link(&path) {
            Some((link, target)) => {
                found.insert(link);
                path = target;
            }
            None => break,
        }
    }
    found.insert(path.clone());
    path
}

/// The first link on a path, and the path with the link's target in its place.
fn first_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut done = PathBuf::new();
    let mut components = path.components();
    while let Some(component) = components.next() {
        if component == Component::ParentDir {
            done.pop();
            continue;
        }
        let directory = done.clone();
        done.push(component);
        if let Ok(target) = std::fs::read_link(&done) {
            // Joining an empty rest would add a slash, which means something at the end of a path.
            let rest = components.as_path();
            let target = directory.join(target);
            let target = if rest.as_os_str().is_empty() { target } else { target.join(rest) };
            return Some((done, target));
        }
    }
    None
}
