//! One control group: its directory, and how its files are read and written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat};
use nix::sys::stat::{Mode, fstatat, mkdirat};

use super::Version;
use crate::error::{KernelError, errno_of};

/// A group. Its files are reached through the open directory, so a group that was removed and made again under the
/// same path is not mistaken for this one: its files answer `ENODEV` or `ENOENT`. Only [`Group::children`] and
/// [`Group::remove`] go by the path. No file is ever created or truncated, so a slip in a name cannot make one.
#[derive(Debug)]
pub struct Group {
    directory: PathBuf,
    handle: OwnedFd,
    version: Version,
}

impl Group {
    /// Opens a group's directory.
    ///
    /// # Errors
    /// `ENOENT` where there is no such group, `ENOTDIR` for a file.
    pub fn open(directory: impl Into<PathBuf>, version: Version) -> Result<Group, KernelError> {
        let directory = directory.into();
        let flags = OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        match open(&directory, flags, Mode::empty()) {
            Ok(handle) => Ok(Group { directory, handle, version }),
            Err(errno) => Err(KernelError::file(directory, "open", errno)),
        }
    }

    /// The path it was opened by.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Makes a child group of that name and opens it. A new version 1 cpuset is empty and takes no threads before
    /// [`Group::copy_cpuset_from`].
    ///
    /// # Errors
    /// `EEXIST` where it exists; `EINVAL` for a name that is not one path component; `EAGAIN` at a limit of version 2;
    /// `EACCES` without root.
    pub fn create_child(&self, name: impl AsRef<OsStr>) -> Result<Group, KernelError> {
        let path = self.child_path(name.as_ref(), "mkdir")?;
        mkdirat(&self.handle, name.as_ref(), Mode::from_bits_truncate(0o755))
            .map_err(|errno| KernelError::file(path, "mkdir", errno))?;
        self.child(name)
    }

    /// Opens a child group.
    ///
    /// # Errors
    /// `ENOENT` where there is none of that name; `EINVAL` for a name that is not one path component.
    pub fn child(&self, name: impl AsRef<OsStr>) -> Result<Group, KernelError> {
        let directory = self.child_path(name.as_ref(), "open")?;
        let flags = OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        match openat(&self.handle, name.as_ref(), flags, Mode::empty()) {
            Ok(handle) => Ok(Group { directory, handle, version: self.version }),
            Err(errno) => Err(KernelError::file(directory, "open", errno)),
        }
    }

    /// The names of the child groups, in byte order.
    ///
    /// # Errors
    /// `ENOENT` where the group was removed.
    pub fn children(&self) -> Result<Vec<OsString>, KernelError> {
        let fail = |error: &std::io::Error| KernelError::file(&self.directory, "readdir", errno_of(error));
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(|error| fail(&error))? {
            let entry = entry.map_err(|error| fail(&error))?;
            if entry.file_type().map_err(|error| fail(&error))?.is_dir() {
                names.push(entry.file_name());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Removes the group.
    ///
    /// # Errors
    /// `EBUSY` while it holds processes, zombies among them on version 1, or child groups; `ENOENT` where it is gone.
    pub fn remove(&self) -> Result<(), KernelError> {
        #[cfg(test)]
        if let Some(Err(errno)) = crate::fake::remove_group(&self.directory) {
            return Err(KernelError::file(&self.directory, "rmdir", errno));
        }
        fs::remove_dir(&self.directory).map_err(|error| KernelError::file(&self.directory, "rmdir", errno_of(&error)))
    }

    /// Whether the group has this file.
    pub(super) fn has(&self, file: &str) -> bool {
        #[cfg(test)]
        if let Some(played) = crate::fake::has_group_file(&self.directory, file) {
            return played;
        }
        fstatat(&self.handle, file, AtFlags::empty()).is_ok()
    }

    pub(super) fn read(&self, file: &'static str) -> Result<String, KernelError> {
        #[cfg(test)]
        if let Some(played) = crate::fake::read_group(&self.directory, file) {
            return played.map_err(|errno| self.error(file, "read", errno));
        }
        let opened = openat(&self.handle, file, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
        let mut opened = File::from(opened.map_err(|errno| self.error(file, "open", errno))?);
        let mut text = String::new();
        opened.read_to_string(&mut text).map_err(|error| self.error(file, "read", errno_of(&error)))?;
        Ok(text)
    }

    /// Reads a file and hands its text, without blanks around it, to `parse`.
    pub(super) fn parse<T>(&self, file: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, KernelError> {
        let text = self.read(file)?;
        parse(text.trim()).ok_or_else(|| KernelError::unreadable(&self.directory.join(file), text.as_bytes()))
    }

    /// Writes a value in one write(2): the kernel takes each write for a whole value.
    pub(super) fn write(&self, file: &'static str, value: &str) -> Result<(), KernelError> {
        let fail = |operation, errno| self.error(file, operation, errno).with_value(value);
        #[cfg(test)]
        if let Some(played) = crate::fake::write_group(&self.directory, file, value) {
            return played.map_err(|errno| fail("write", errno));
        }
        let opened = openat(&self.handle, file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty());
        let mut opened = File::from(opened.map_err(|errno| fail("open", errno))?);
        // An empty write(2) does not reach the kernel's handler; a line break stands for an empty value.
        let bytes = if value.is_empty() { b"\n" } else { value.as_bytes() };
        loop {
            return match opened.write(bytes) {
                Ok(written) if written == bytes.len() => Ok(()),
                Ok(_) => Err(fail("write", Errno::EIO)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => Err(fail("write", errno_of(&error))),
            };
        }
    }

    fn error(&self, file: &str, operation: &'static str, errno: Errno) -> KernelError {
        KernelError::file(self.directory.join(file), operation, errno)
    }

    /// A name with a slash or dots would leave the group.
    fn child_path(&self, name: &OsStr, operation: &'static str) -> Result<PathBuf, KernelError> {
        let path = self.directory.join(name);
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            (Some(Component::Normal(only)), None) if only == name => Ok(path),
            _ => Err(KernelError::file(path, operation, Errno::EINVAL)),
        }
    }
}
