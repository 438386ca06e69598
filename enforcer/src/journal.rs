//! What things were before they were first touched, on disk, so that no crash loses the way back.
//!
//! One record a line, appended before the first write to what it describes; a later record of the same thing replaces the
//! earlier one. A last line without its line break was cut short by a crash: what it describes was not touched yet, so it
//! is dropped. Process ids mean nothing after a reboot, so a journal of another boot is void.

pub mod moving;
mod record;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::error::{KernelError, errno_of};
use crate::trust;
pub use record::Record;

/// First word of the first line, and the version of the format.
const HEADER: &str = "cotenant-journal 1";

/// A journal of fewer lines is not worth a rewrite.
const FEW_LINES: usize = 1_000;

/// The journal of a run directory, open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
    boot: String,
    /// Its length in bytes.
    length: u64,
    /// Its lines now and after the last rewrite, to know when another pays.
    lines: usize,
    kept: usize,
}

impl Journal {
    /// Where the journal of a run directory is.
    #[must_use]
    pub fn path_in(run: &Path) -> PathBuf {
        run.join("journal")
    }

    /// Opens the journal in `run`, made if need be, and gives what an earlier run left in it. `proc` tells which boot this
    /// is.
    ///
    /// # Errors
    /// Where the directory or file cannot be made, read or written.
    pub fn open(run: &Path, proc: &Path) -> Result<(Journal, Left), KernelError> {
        let path = Journal::path_in(run);
        let fail = |operation| {
            let path = path.clone();
            move |error: std::io::Error| KernelError::file(path, operation, errno_of(&error))
        };
        let boot_id = proc.join("sys/kernel/random/boot_id");
        let boot = fs::read_to_string(&boot_id)
            .map_err(|error| KernelError::file(&boot_id, "read", errno_of(&error)))?
            .trim()
            .to_owned();
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
        let file = file.map_err(fail("open"))?;
        let text = fs::read(&path).map_err(fail("read"))?;
        let left = read(&text, &boot);
        let mut journal = Journal { path, file, boot, length: 0, lines: 0, kept: 0 };
        // A line that was cut short would swallow the next one.
        journal.rewrite(&left.records)?;
        Ok((journal, left))
    }

    /// Appends records in one write.
    ///
    /// # Errors
    /// Where the file cannot be written; then nothing of what they describe may be touched.
    pub fn append<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), KernelError> {
        let mut text = String::new();
        for record in records {
            text.push_str(&record.to_string());
            text.push('\n');
            self.lines += 1;
        }
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // Half a line would spoil the next one, or say something else.
                drop(self.file.set_len(self.length));
                Err(KernelError::file(&self.path, "write", errno_of(&error)))
            }
        }
    }

    /// Whether most of its lines are likely to matter no more.
    #[must_use]
    pub fn has_grown(&self) -> bool {
        self.lines > FEW_LINES + 4 * self.kept
    }

    /// Replaces the whole journal, atomically.
    ///
    /// # Errors
    /// Where the new file cannot be written; the old one stays then.
    pub fn rewrite<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), KernelError> {
        let new = self.path.with_extension("new");
        let fail = |operation| {
            let new = new.clone();
            move |error: std::io::Error| KernelError::file(new, operation, errno_of(&error))
        };
        match fs::remove_file(&new) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail("unlink")(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o600).open(&new).map_err(fail("open"))?;
        let mut text = format!("{HEADER} boot={}\n", self.boot);
        let mut lines = 0;
        for record in records {
            text.push_str(&record.to_string());
            text.push('\n');
            lines += 1;
        }
        (&file).write_all(text.as_bytes()).map_err(fail("write"))?;
        fs::rename(&new, &self.path).map_err(fail("rename"))?;
        (self.file, self.length, self.lines, self.kept) = (file, text.len() as u64, lines, lines);
        Ok(())
    }

    /// Removes the journal, when nothing is left to undo.
    ///
    /// # Errors
    /// Where it cannot be removed.
    pub fn remove(self) -> Result<(), KernelError> {
        fs::remove_file(&self.path).map_err(|error| KernelError::file(&self.path, "unlink", errno_of(&error)))
    }
}

/// Makes the run directory if need be and checks that nobody else can write in it, or put another one in its place.
///
/// # Errors
/// Where it cannot be made; `EPERM` where another user owns it or a directory above it, or others may write there.
pub fn prepare_directory(run: &Path) -> Result<(), KernelError> {
    let fail = |operation| move |error: std::io::Error| KernelError::file(run, operation, errno_of(&error));
    // Whatever the umask is; directories that the caller wants above it are the caller's.
    let made = run.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| DirBuilder::new().mode(0o755).create(run));
    match made {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(fail("mkdir")(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(run).map_err(fail("stat"))?;
    let ours = found.is_dir() && found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o022 == 0;
    let above = std::path::absolute(run).map_err(fail("stat"))?;
    match ours && above.parent().is_none_or(|above| trust::check(above).is_ok()) {
        true => Ok(()),
        false => Err(KernelError::file(run, "trust", Errno::EPERM)),
    }
}

/// What an earlier run left in the journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The records of this boot; of lines about one thing what still counts, and nothing of what is gone.
    pub records: Vec<Record>,
    /// Whole lines that say nothing: this program wrote none of them. What they were about cannot be undone.
    pub illegible: Vec<Vec<u8>>,
}

impl Left {
    /// The report of what could not be read, where there is such.
    #[must_use]
    pub fn damage(&self, journal: &Path) -> Option<KernelError> {
        let (first, others) = self.illegible.split_first()?;
        let error = KernelError::file(journal, "parse", Errno::EBADMSG);
        let beginning: String = String::from_utf8_lossy(first).chars().take(80).collect();
        let more = if others.is_empty() { String::new() } else { format!(" (and {} more lines)", others.len()) };
        Some(error.with_value(format!("{beginning}{more}")))
    }
}

fn read(text: &[u8], boot: &str) -> Left {
    let whole = text.iter().rposition(|byte| *byte == b'\n').and_then(|end| text.get(..end)).unwrap_or_default();
    let mut lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Left::default() };
    let header = std::str::from_utf8(first).ok().and_then(|line| line.strip_prefix(HEADER)?.strip_prefix(" boot="));
    match header {
        Some(of) if of == boot => {}
        Some(_) => return Left::default(),
        // Of whose boot the rest is, and in which words, nobody knows.
        None => {
            return Left {
                records: Vec::new(),
                illegible: std::iter::once(first).chain(lines).map(<[u8]>::to_vec).collect(),
            };
        }
    }
    let mut illegible = Vec::new();
    let records = lines.filter_map(|line| {
        let record = std::str::from_utf8(line).ok().and_then(Record::parse);
        if record.is_none() {
            illegible.push(line.to_vec());
        }
        record
    });
    let records = record::fold(records);
    Left { records, illegible }
}

#[cfg(test)]
mod tests;
