//! From paths on the command line to policy texts.

mod include;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cotenant_grammar::SourceSet;

use crate::failure::Failure;

/// What standard input is called in diagnostics.
pub(crate) const STDIN: &str = "<stdin>";

/// Bytes read of one file. The parser refuses far smaller ones with a better message; this bound is for devices without
/// an end.
const MOST_BYTES: u64 = 64 << 20;

/// Reads one policy: all texts that the paths name, in order, and those that they include. A directory stands for its
/// `*.policy` files in byte order of their names, `-` for standard input.
pub(crate) fn load(paths: &[PathBuf]) -> Result<SourceSet, Failure> {
    load_allowed(paths, &|_| Ok(()))
}

/// [`load`], asking of every file, included ones too, whether it may be read.
pub(crate) fn load_allowed(
    paths: &[PathBuf],
    allowed: &dyn Fn(&Path) -> Result<(), Failure>,
) -> Result<SourceSet, Failure> {
    let files = files(paths)?;
    let mut loader = include::Loader::new(&files, allowed);
    for path in &files {
        loader.read(path)?;
    }
    Ok(loader.finish())
}

/// The files that the paths name, directories opened out. Standard input is kept as `-`.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Failure::new("standard input is named twice").help("write `-` once"));
    }
    let mut files = Vec::new();
    for path in paths {
        match std::fs::metadata(path) {
            _ if is_stdin(path) => files.push(path.clone()),
            Ok(metadata) if metadata.is_dir() => files.extend(policies_in(path)?),
            Ok(_) => files.push(path.clone()),
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
    Ok(files)
}

/// Whether the path means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads one file whole.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    text(file, &shown(path), |error| unreadable(path, error))
}

/// Reads standard input whole.
pub(crate) fn read_stdin() -> Result<String, Failure> {
    text(std::io::stdin().lock(), STDIN, |error| {
        Failure::new(format!("cannot read standard input: {error}")).help("pipe a policy into it, or name a file")
    })
}

/// The path as diagnostics show it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn text(reader: impl Read, name: &str, refuse: impl Fn(&std::io::Error) -> Failure) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    reader.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MOST_BYTES {
        let failure = Failure::new(format!("`{name}` has more than {} MiB, too much for a policy", MOST_BYTES >> 20));
        return Err(failure.help("name a policy file, or split this one into the files of a directory"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
        Failure::new(format!("`{name}` is not UTF-8: see byte {at}, on line {line}"))
            .help("policies are UTF-8 text; convert it, as with `iconv -f latin1 -t utf-8`")
    })
}

fn policies_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let refuse = |error: std::io::Error| unreadable(directory, &error);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(refuse)? {
        let name = entry.map_err(refuse)?.file_name();
        // As in the shell, `*` leaves out hidden names: editors put their locks and copies there.
        if name.as_bytes().ends_with(b".policy") && !name.as_bytes().starts_with(b".") {
            found.push(directory.join(name));
        }
    }
    if found.is_empty() {
        return Err(Failure::new(format!(
            "no policy in directory `{}`: it has no `*.policy` file",
            directory.display()
        ))
        .help("put a file such as `web.policy` into it, or name another directory"));
    }
    found.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    Ok(found)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let failure = |what: &str| Failure::new(format!("{what} `{}`: {error}", path.display()));
    match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("no policy at `{}`: no such file or directory", path.display()))
            .help("name a `.policy` file, a directory that holds some, or `-` for standard input"),
        ErrorKind::PermissionDenied => failure("cannot read").help("run as a user who may read it, or change its mode"),
        ErrorKind::IsADirectory => {
            failure("cannot read").help("a directory inside a policy directory is not followed; rename it")
        }
        _ => failure("cannot read").help("name a file that can be read"),
    }
}
