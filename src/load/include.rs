//! Files that policy texts include, read where they are included.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cotenant_grammar::{IncludeFault, IncludeSite, Inclusion, SourceId, SourceSet, Span, includes};
use glob::{MatchOptions, Pattern};

use super::{STDIN, is_stdin, read, read_stdin, shown, unreadable};
use crate::failure::Failure;

/// Files that include files that …
const DEEPEST: usize = 8;

/// Files of one policy.
const MOST: usize = 4096;

/// As in the shell: `*` stops at `/` and leaves out hidden names, as directories of policies do.
const AS_IN_THE_SHELL: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Reads texts and follows their include statements. What a statement names in vain is recorded with it, for the parser
/// to report.
pub(super) struct Loader<'a> {
    allowed: &'a dyn Fn(&Path) -> Result<(), Failure>,
    sources: SourceSet,
    /// Files that are or will be part of the policy, by their true path, and the statement that included each.
    known: HashMap<PathBuf, Option<Span>>,
    /// The files being read, each included by the one before, with the statement that led on from it.
    open: Vec<(PathBuf, Option<Span>)>,
}

impl<'a> Loader<'a> {
    /// A loader for these files, `-` being standard input, that asks whether each may be read.
    pub(super) fn new(files: &[PathBuf], allowed: &'a dyn Fn(&Path) -> Result<(), Failure>) -> Loader<'a> {
        let named = files.iter().filter(|path| !is_stdin(path)).map(|path| (identity(path), None));
        Loader { allowed, sources: SourceSet::default(), known: named.collect(), open: Vec::new() }
    }

    /// Reads one of the files, and all that it includes.
    pub(super) fn read(&mut self, path: &Path) -> Result<(), Failure> {
        if is_stdin(path) {
            let source = self.sources.add(STDIN, read_stdin()?);
            // No file has this name in its identity, which is an absolute path.
            self.open.push((PathBuf::from(STDIN), None));
            self.follow(source, Path::new(""))?;
        } else {
            (self.allowed)(path)?;
            let source = self.sources.add(shown(path), read(path)?);
            self.open.push((identity(path), None));
            self.follow(source, path.parent().unwrap_or(Path::new("")))?;
        }
        self.open.pop();
        Ok(())
    }

    pub(super) fn finish(self) -> SourceSet {
        self.sources
    }

    /// Follows every include statement of a source whose paths start at `directory`.
    fn follow(&mut self, source: SourceId, directory: &Path) -> Result<(), Failure> {
        for IncludeSite { at, pattern } in includes(&self.sources, source) {
            let mut inclusion = Inclusion::default();
            match files_of(&pattern, directory)? {
                Ok(files) => {
                    for file in files {
                        match self.refuse(&file, at) {
                            Some(fault) if inclusion.faults.contains(&fault) => {}
                            Some(fault) => inclusion.faults.push(fault),
                            None => inclusion.sources.push(self.include(&file, at)?),
                        }
                    }
                }
                Err(fault) => inclusion.faults.push(fault),
            }
            self.sources.include(at, inclusion);
        }
        Ok(())
    }

    /// Why a file is not included at `at`.
    fn refuse(&self, file: &Path, at: Span) -> Option<IncludeFault> {
        let identity = identity(file);
        let name = shown(file);
        if let Some(position) = self.open.iter().position(|(open, _)| *open == identity) {
            let through = self.open.iter().skip(position + 1).filter_map(|(_, by)| *by).collect();
            return Some(IncludeFault::Cycle { file: name, through });
        }
        if let Some(first) = self.known.get(&identity) {
            return Some(IncludeFault::Twice { file: name, first: first.filter(|first| *first != at) });
        }
        if self.open.len() > DEEPEST {
            return Some(IncludeFault::TooDeep { limit: DEEPEST });
        }
        (self.sources.iter().count() >= MOST).then_some(IncludeFault::TooMany { limit: MOST })
    }

    fn include(&mut self, file: &Path, at: Span) -> Result<SourceId, Failure> {
        (self.allowed)(file)?;
        let source = self.sources.add_included(shown(file), read(file)?);
        let identity = identity(file);
        self.known.insert(identity.clone(), Some(at));
        self.open.push((identity, Some(at)));
        self.follow(source, file.parent().unwrap_or(Path::new("")))?;
        self.open.pop();
        Ok(source)
    }
}

/// The files that a pattern names, in byte order, or why it names none.
fn files_of(pattern: &str, directory: &Path) -> Result<Result<Vec<PathBuf>, IncludeFault>, Failure> {
    // The directory is no pattern, whatever it is called. One that is no UTF-8 cannot be put before one.
    let whole = match directory.to_str() {
        _ if pattern.starts_with('/') => pattern.to_owned(),
        Some("") => pattern.to_owned(),
        Some(directory) => format!("{}/{pattern}", Pattern::escape(directory)),
        None => return Ok(Err(IncludeFault::NoMatch)),
    };
    let mut files = Vec::new();
    match glob::glob_with(&whole, AS_IN_THE_SHELL) {
        Err(bad) => return Ok(Err(IncludeFault::BadGlob(bad.msg.to_owned()))),
        Ok(found) => {
            for path in found {
                files.push(path.map_err(|error| unreadable(error.path(), error.error()))?);
            }
        }
    }
    files.retain(|path| !path.is_dir());
    files.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    Ok(if files.is_empty() { Err(IncludeFault::NoMatch) } else { Ok(files) })
}

/// The file itself, whatever path leads to it.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
