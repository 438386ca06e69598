//! The files that a conversion reads.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::convert::Input;
use crate::failure::Failure;
use crate::load;

/// Directories inside directories: more is a mistake in what was named.
const DEEPEST: usize = 16;

/// Names of files that are rules, in a directory that holds others, too.
const ENDINGS: [&[u8]; 5] = [b".rules", b".types", b".cgroups", b"tuned.conf", b"cgrules.conf"];

/// Everything that the paths name, directories opened out in byte order of their names.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    if paths.iter().filter(|path| load::is_stdin(path)).count() > 1 {
        return Err(Failure::new("standard input is named twice").help("write `-` once"));
    }
    let mut inputs = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found = Vec::new();
            search(path, DEEPEST, &mut found)?;
            if found.is_empty() {
                return Err(Failure::new(format!("no rules below `{}`", path.display()))
                    .help("name a directory with `*.rules`, `tuned.conf` or `cgrules.conf`, or the file itself"));
            }
            for file in found {
                inputs.push(one(&file)?);
            }
        } else {
            inputs.push(one(path)?);
        }
    }
    Ok(inputs)
}

/// One file, or standard input.
pub(super) fn one(path: &Path) -> Result<Input, Failure> {
    if load::is_stdin(path) {
        return Ok(Input { name: load::STDIN.to_owned(), text: load::read_stdin()? });
    }
    if !path.exists() {
        return Err(Failure::new(format!("no file at `{}`", path.display()))
            .help("name a file with rules, a directory that holds some, or `-` for standard input"));
    }
    Ok(Input { name: load::shown(path), text: load::read(path)? })
}

fn search(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let refuse = |error: std::io::Error| {
        Failure::new(format!("cannot read directory `{}`: {error}", directory.display()))
            .help("run as a user who may read it, or name the files")
    };
    let entries = std::fs::read_dir(directory).map_err(refuse)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        // A link to a directory could lead back here.
        if entry.file_type().map_err(refuse)?.is_dir() {
            let below = depth.checked_sub(1).ok_or_else(|| {
                Failure::new(format!("`{}` is more than {DEEPEST} directories deep", path.display()))
                    .help("name the directory that holds the rules")
            })?;
            search(&path, below, found)?;
        } else if ENDINGS.iter().any(|ending| name.as_bytes().ends_with(ending)) && !name.as_bytes().starts_with(b".") {
            found.push(path);
        }
    }
    Ok(())
}
