//! Stopping a whole group: `Documentation/admin-guide/cgroup-v1/freezer-subsystem.rst`, and `cgroup.freeze` in
//! `cgroup-v2.rst`.

use super::{Group, Version};
use crate::error::KernelError;

/// How far a group is frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreezerState {
    /// It runs.
    Thawed,
    /// It was told to stop, and some thread has not yet, perhaps in an uninterruptible wait.
    Freezing,
    /// None of its threads runs.
    Frozen,
}

impl Group {
    /// Stops the group and those below it, and reads back how far that is. It does not wait.
    ///
    /// # Errors
    /// `ENOENT` in a root group, which cannot be frozen, and in a version 1 tree without the `freezer` controller; `ENODEV`
    /// where the group was removed.
    pub fn freeze(&self) -> Result<FreezerState, KernelError> {
        match self.version() {
            Version::V1 => self.write("freezer.state", "FROZEN")?,
            Version::V2 => self.write("cgroup.freeze", "1")?,
        }
        self.freezer_state()
    }

    /// Lets the group run again and reads back. It stays [`FreezerState::Frozen`] while a group above is frozen.
    ///
    /// # Errors
    /// As [`Group::freeze`].
    pub fn thaw(&self) -> Result<FreezerState, KernelError> {
        match self.version() {
            Version::V1 => self.write("freezer.state", "THAWED")?,
            Version::V2 => self.write("cgroup.freeze", "0")?,
        }
        self.freezer_state()
    }

    /// How far the group is frozen, by itself or by a group above: `freezer.state`, or `cgroup.freeze` with the `frozen`
    /// line of `cgroup.events`.
    ///
    /// # Errors
    /// As [`Group::freeze`].
    pub fn freezer_state(&self) -> Result<FreezerState, KernelError> {
        match self.version() {
            Version::V1 => self.parse("freezer.state", |text| match text {
                "THAWED" => Some(FreezerState::Thawed),
                "FREEZING" => Some(FreezerState::Freezing),
                "FROZEN" => Some(FreezerState::Frozen),
                _ => None,
            }),
            Version::V2 => {
                let asked = self.parse("cgroup.freeze", |text| match text {
                    "0" => Some(false),
                    "1" => Some(true),
                    _ => None,
                })?;
                let frozen =
                    self.parse("cgroup.events", |text| Some(text.lines().any(|line| line.trim() == "frozen 1")))?;
                Ok(match (frozen, asked) {
                    (true, _) => FreezerState::Frozen,
                    (false, true) => FreezerState::Freezing,
                    (false, false) => FreezerState::Thawed,
                })
            }
        }
    }
}
