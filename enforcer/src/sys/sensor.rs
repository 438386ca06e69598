//! The BPF program of `bpf/sensor.bpf.c`, loaded and mapped: bpf(2), mmap(2).
//!
//! What it shares with this process is plain memory ([`layout`]); what is made of it stands in [`crate::sensor`].

pub(crate) mod layout;

use std::io;
use std::mem::size_of;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use cotenant_compiler::CpuSet;
use libbpf_rs::{ErrorKind, Link, MapCore, MapHandle, ObjectBuilder, PrintLevel, RingBuffer, RingBufferBuilder};
use nix::errno::Errno;

use crate::error::{KernelError, Object};
use crate::ids::Tid;
use crate::sensor::Asked;
use crate::sys::mapping::{Mapping, store};
use layout::{LINE, Shared, asked};

/// The compiled program; `bpf/build.sh` makes it of the source beside it and compares.
static PROGRAM: &Aligned<[u8]> = &Aligned(*include_bytes!("../../bpf/sensor.bpf.o"));

/// Bytes as an ELF file's reader wants them.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

/// The program in the kernel, and the memory that it shares.
pub(crate) struct Program {
    object: libbpf_rs::Object,
    links: Vec<Link>,
    memory: Arc<Memory>,
}

/// The shared memory: may be used from any thread.
pub(crate) struct Memory {
    shared: Mapping<Shared>,
    roll: Mapping<AtomicU8>,
}

impl Memory {
    pub(crate) fn shared(&self) -> &Shared {
        self.shared.first()
    }

    /// The group of each thread, by its id.
    pub(crate) fn roll(&self) -> &[AtomicU8] {
        self.roll.all()
    }
}

impl Program {
    /// Loads the program, for thread ids below `pid_max`. It sees nothing before [`Program::attach`].
    ///
    /// # Errors
    /// `EPERM` without privilege or under lockdown; `ENOENT` where the kernel has no type information or lacks something
    /// that the program names, `EINVAL` where it does not take such programs.
    pub(crate) fn load(pid_max: u32) -> Result<Program, KernelError> {
        // What the library says of a refusal is for its developers.
        libbpf_rs::set_print(Some((PrintLevel::Warn, |_, _| {})));
        let mut builder = ObjectBuilder::default();
        let mut open = builder.name("sensor").and_then(|it| it.open_memory(&PROGRAM.0)).map_err(refused("open"))?;
        let lines = pid_max.div_ceil(LINE as u32).max(1);
        for mut map in open.maps_mut().filter(|map| map.name() == "roll") {
            map.set_max_entries(lines).map_err(refused("size"))?;
        }
        let object = open.load().map_err(refused("load"))?;
        let map = |name: &str| object.maps().find(|map| map.name().to_string_lossy().ends_with(name));
        let (Some(shared), Some(roll)) = (map(".bss"), map("roll")) else {
            return Err(failed("map", Errno::ENOENT));
        };
        let threads = lines as usize * LINE;
        let memory = Memory {
            shared: Mapping::new(shared.as_fd(), NonZeroUsize::MIN, shared.value_size() as usize)
                .map_err(|errno| failed("mmap", errno))?,
            roll: Mapping::new(roll.as_fd(), NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN), threads)
                .map_err(|errno| failed("mmap", errno))?,
        };
        Ok(Program { object, links: Vec::new(), memory: Arc::new(memory) })
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Lets the program see switches, new threads and ends of threads, from now on.
    ///
    /// # Errors
    /// As [`Program::load`].
    pub(crate) fn attach(&mut self) -> Result<(), KernelError> {
        if !self.links.is_empty() {
            return Ok(());
        }
        // Ids first: who is known to be a member must be known by the time it is seen.
        for name in ["on_exit", "on_new_task", "on_switch"] {
            let program = self.object.progs_mut().find(|program| program.name() == name);
            let link = program.ok_or_else(|| failed("attach", Errno::ENOENT))?.attach().map_err(refused("attach"));
            match link {
                Ok(link) => self.links.push(link),
                Err(error) => {
                    self.links.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Ends that.
    pub(crate) fn detach(&mut self) {
        self.links.clear();
    }

    /// A listener to the bell of that name.
    ///
    /// # Errors
    /// Where descriptors or memory are short.
    pub(crate) fn ringer(&self, bell: &str) -> Result<Ringer, KernelError> {
        let map = self.object.maps().find(|map| map.name() == bell).ok_or_else(|| failed("map", Errno::ENOENT))?;
        let map = MapHandle::try_from(&map).map_err(refused("map"))?;
        let mut rings = RingBufferBuilder::new();
        rings.add(&map, |_| 0).map_err(refused("map"))?;
        let ring = rings.build().map_err(refused("map"))?;
        Ok(Ringer { ring, map })
    }

    /// Whoever asks for masks.
    ///
    /// # Errors
    /// Where descriptors are short.
    pub(crate) fn asker(&self) -> Result<Asker, KernelError> {
        let program = self.object.progs_mut().find(|program| program.name() == "asked");
        let program = program.ok_or_else(|| failed("ask", Errno::ENOENT))?;
        let program = program.as_fd().try_clone_to_owned().map_err(|error| failed("ask", errno_of(&error)))?;
        Ok(Asker { program, memory: Arc::clone(&self.memory) })
    }
}

/// A bell: a descriptor that becomes readable when it rings. It is the map's own and not the library's epoll(7), which would
/// be one more stop on the way to whoever waits.
pub(crate) struct Ringer {
    ring: RingBuffer<'static>,
    map: MapHandle,
}

impl Ringer {
    /// Silences the descriptor until the bell rings again. What it carries says nothing.
    pub(crate) fn hush(&self) {
        self.ring.consume_raw();
    }
}

impl AsFd for Ringer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

impl Shared {
    /// A mask as a set; what is behind the words in use says nothing.
    pub(crate) fn set(&self, mask: &[AtomicU64; layout::WORDS]) -> CpuSet {
        let words = self.words.load(Ordering::Relaxed) as usize;
        CpuSet::from_words(mask.iter().take(words).map(|word| word.load(Ordering::Relaxed)))
    }

    /// Says what the masks of the thread that is about to be moved are otherwise, by which the program knows it until then.
    pub(crate) fn keep(&self, asked: &CpuSet, allowed: &CpuSet) {
        store(&self.kept_asked, asked);
        store(&self.kept_allowed, allowed);
    }
}

/// Asks the kernel for the masks that threads set themselves.
pub(crate) struct Asker {
    program: OwnedFd,
    memory: Arc<Memory>,
}

impl Asker {
    /// What the thread asked for, as of now; none where the kernel keeps no such mask or does not tell. One question at a
    /// time: the answer is in the shared memory.
    pub(crate) fn ask(&mut self, tid: Tid) -> Option<Asked> {
        let shared = self.memory.shared();
        shared.asked_is.store(0, Ordering::SeqCst);
        if self.run(tid).is_err() {
            return None;
        }
        match shared.asked_is.load(Ordering::SeqCst) {
            asked::OWN => Some(Asked::Own(shared.set(&shared.asked))),
            asked::NOTHING => Some(Asked::Nothing),
            _ => None,
        }
    }

    /// Runs the iterator over one thread (Documentation/bpf/bpf_iterators.rst, "Parametrizing Task Iterators").
    fn run(&self, tid: Tid) -> Result<(), Errno> {
        let mut which = libbpf_sys::bpf_iter_link_info::default();
        which.task.tid = u32::try_from(tid.0).map_err(|_| Errno::ESRCH)?;
        let options = libbpf_sys::bpf_link_create_opts {
            sz: size_of::<libbpf_sys::bpf_link_create_opts>() as libbpf_sys::size_t,
            iter_info: &raw mut which,
            iter_info_len: size_of::<libbpf_sys::bpf_iter_link_info>() as u32,
            ..Default::default()
        };
        let (program, kind) = (self.program.as_raw_fd(), libbpf_sys::BPF_TRACE_ITER);
        // SAFETY: the options and what they point to outlive the call, and say their sizes.
        let link = owned(unsafe { libbpf_sys::bpf_link_create(program, 0, kind, &raw const options) })?;
        // SAFETY: takes a number only.
        let iterator = owned(unsafe { libbpf_sys::bpf_iter_create(link.as_raw_fd()) })?;
        let mut nothing = [0_u8; 8];
        nix::unistd::read(&iterator, &mut nothing).map(drop)
    }
}

/// A descriptor that a call returned, or its error: the library gives negated error numbers.
fn owned(answer: i32) -> Result<OwnedFd, Errno> {
    match answer {
        fd @ 0.. => {
            // SAFETY: the call has just made it, for nobody else.
            Ok(unsafe { OwnedFd::from_raw_fd(fd) })
        }
        negative => Err(Errno::from_raw(-negative)),
    }
}

fn failed(operation: &'static str, errno: Errno) -> KernelError {
    KernelError::new(Object::Sensor, operation, errno)
}

/// The library keeps the error's kind and not always its number.
fn refused(operation: &'static str) -> impl Fn(libbpf_rs::Error) -> KernelError {
    move |error| {
        let errno = match error.kind() {
            ErrorKind::PermissionDenied => Errno::EPERM,
            ErrorKind::NotFound => Errno::ENOENT,
            ErrorKind::OutOfMemory => Errno::ENOMEM,
            _ => Errno::EINVAL,
        };
        failed(operation, errno)
    }
}

fn errno_of(error: &io::Error) -> Errno {
    crate::error::errno_of(error)
}
