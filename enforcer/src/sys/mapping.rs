//! The memory of a file or a BPF map in this process: mmap(2).

use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Release;

use cotenant_compiler::CpuSet;
use nix::errno::Errno;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// A marker for types that are nothing but atomics, so that a reference to memory that others write is sound, and for
/// which any bytes are a value.
///
/// # Safety
/// Both must hold of every field.
pub(crate) unsafe trait Atomics: Sync {}

// SAFETY: an atomic.
#[cfg(feature = "sensor")]
unsafe impl Atomics for std::sync::atomic::AtomicU8 {}
// SAFETY: every field is an atomic or an array of them.
unsafe impl Atomics for crate::journal::moving::Cell {}
// SAFETY: every field is an atomic, an array of them, or padding that nobody reads.
#[cfg(feature = "sensor")]
unsafe impl Atomics for super::sensor::layout::Shared {}

/// `length` values of `T` at the beginning of a file, or of a map that allows it (`BPF_F_MMAPABLE`), until it is dropped.
pub(crate) struct Mapping<T: Atomics> {
    at: NonNull<T>,
    length: NonZeroUsize,
    bytes: usize,
    of: PhantomData<T>,
}

// SAFETY: it owns its pages, and gives out nothing but shared references to atomics.
unsafe impl<T: Atomics> Send for Mapping<T> {}
// SAFETY: as above.
unsafe impl<T: Atomics> Sync for Mapping<T> {}

impl<T: Atomics> Mapping<T> {
    /// Maps `length` values; the file or map has `available` bytes.
    ///
    /// # Errors
    /// `EMSGSIZE` where it is shorter than that; else as mmap(2).
    pub(crate) fn new(map: impl AsFd, length: NonZeroUsize, available: usize) -> Result<Mapping<T>, Errno> {
        let bytes = size_of::<T>().checked_mul(length.get()).filter(|bytes| *bytes <= available);
        let bytes = bytes.and_then(NonZeroUsize::new).ok_or(Errno::EMSGSIZE)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
        let at = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, map, 0) }?;
        // Pages are aligned better than any of these.
        debug_assert!(align_of::<T>() <= 4096);
        Ok(Mapping { at: at.cast(), length, bytes: bytes.get(), of: PhantomData })
    }

    pub(crate) fn all(&self) -> &[T] {
        // SAFETY: the pages hold `length` values and stay mapped as long as `self`; of atomics any bytes are a value, and
        // others may write them.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.length.get()) }
    }

    pub(crate) fn first(&self) -> &T {
        // SAFETY: as above, and there is at least one.
        unsafe { self.at.as_ref() }
    }
}

impl<T: Atomics> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: these pages were mapped here, whole, and no reference outlives `self`; for such it cannot fail.
        let _ = unsafe { munmap(self.at.cast(), self.bytes) };
    }
}

/// Writes a set as a mask, and zeros behind it; what the mask has no room for is left out.
pub(crate) fn store(mask: &[AtomicU64], set: &CpuSet) {
    let words = set.words().iter().copied().chain(std::iter::repeat(0));
    mask.iter().zip(words).for_each(|(word, bits)| word.store(bits, Release));
}
