//! A build without the sensor: there is none to be had, and so nothing to be asked of it.

use std::os::fd::BorrowedFd;

use cotenant_compiler::topology::Topology;
use cotenant_compiler::{CpuSet, Plan};
use nix::errno::Errno;

use super::Sight;
use crate::error::{KernelError, Object};
use crate::ids::Tid;
use crate::roots::Roots;

/// Nobody has one.
pub enum Sensor {}

impl Sensor {
    /// Never succeeds.
    ///
    /// # Errors
    /// `ENOSYS`.
    pub fn open(_: &Roots, _: &Topology) -> Result<Sensor, KernelError> {
        Err(KernelError::new(Object::Sensor, "load", Errno::ENOSYS))
    }

    /// See the other build.
    ///
    /// # Errors
    /// None.
    pub fn watch(&mut self, _: &Plan) -> Result<(), KernelError> {
        match *self {}
    }

    /// See the other build.
    pub fn enrol(&self, _: Tid, _: usize) {
        match *self {}
    }

    /// See the other build.
    pub fn dismiss(&self, _: Tid) {
        match *self {}
    }

    /// See the other build.
    #[must_use]
    pub fn hand(&self) -> Option<Tid> {
        match *self {}
    }

    /// See the other build.
    #[must_use]
    pub fn gate_bell(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    /// See the other build.
    pub fn invaded(&self) -> CpuSet {
        match *self {}
    }

    /// See the other build.
    pub fn wait(&self) {
        match *self {}
    }

    /// See the other build.
    pub fn answered(&self) -> bool {
        match *self {}
    }

    /// See the other build.
    pub fn used(&self) -> CpuSet {
        match *self {}
    }

    /// See the other build.
    #[must_use]
    pub fn sight(&self) -> Sight {
        match *self {}
    }
}
