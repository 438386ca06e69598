//! Replaces a file's content at one stroke: whoever reads it sees the old text or the new one, never a part.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use tempfile::Builder;

use crate::failure::Failure;

/// Writes `text` in place of the file's content, keeping its mode and owner. Where `path` is a link, the file it leads to
/// is replaced and the link stays.
pub(super) fn rewrite(path: &Path, text: &str) -> Result<(), Failure> {
    let refuse = |error: io::Error| {
        Failure::new(format!("cannot rewrite `{}`: {error}", path.display()))
            .help("run as its owner, with a directory that may be written; or pipe it through `cotenant fmt -`")
    };
    let target = path.canonicalize().map_err(refuse)?;
    let old = target.metadata().map_err(refuse)?;
    if !old.is_file() {
        return Err(Failure::new(format!("cannot rewrite `{}`: it is not a regular file", path.display()))
            .help("pipe it through `cotenant fmt -`"));
    }
    let directory = target.parent().unwrap_or(Path::new("/"));
    // Hidden, so that nobody who reads the directory's policies in between takes it for one.
    let mut new = Builder::new().prefix(".cotenant-fmt-").tempfile_in(directory).map_err(refuse)?;
    new.write_all(text.as_bytes()).map_err(refuse)?;
    keep_owner(new.as_file(), &old).map_err(refuse)?;
    // Behind the owner, because a change of owner takes bits from the mode; see chown(2).
    new.as_file().set_permissions(old.permissions()).map_err(refuse)?;
    new.as_file().sync_all().map_err(refuse)?;
    new.persist(&target).map_err(|error| refuse(error.error))?;
    Ok(())
}

fn keep_owner(new: &File, old: &std::fs::Metadata) -> io::Result<()> {
    let made = new.metadata()?;
    let differs = |old: u32, made: u32| (old != made).then_some(old);
    match (differs(old.uid(), made.uid()), differs(old.gid(), made.gid())) {
        (None, None) => Ok(()),
        (uid, gid) => fchown(new, uid, gid),
    }
}
