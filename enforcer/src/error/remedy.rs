//! What to do about a refusal, in one place so that the voice is uniform.
//!
//! The reasons are from the kernel's sources, where one number has many causes: `kernel/cgroup/cpuset.c` and
//! `cpuset-v1.c` for groups, `kernel/sched/syscalls.c` and `core_sched.c` for threads, `drivers/connector/` for events.

use nix::errno::Errno;

use super::{KernelError, Object};

/// The remedy for an error, most particular first.
pub(super) fn of(error: &KernelError) -> Option<&'static str> {
    let particular = match (&error.object, error.operation) {
        (Object::Connector, operation) => connector(operation, error.errno),
        (Object::Thread(_), operation) if operation.starts_with("PR_SCHED_CORE") => cookie(error.errno),
        (Object::Sensor, _) => sensor(error.errno),
        (Object::Capability(_), _) => Some(
            "needs root, or a service that is given it (AmbientCapabilities in systemd.exec(5)); root of a container has \
             only what the container is given",
        ),
        (Object::Thread(_) | Object::Process(_), operation) => scheduling(operation, error.errno),
        (Object::File(path), "write") => match path.file_name().and_then(|name| name.to_str()) {
            Some("cpuset.cpus" | "cpuset.mems") => cpuset(error.errno),
            Some("tasks" | "cgroup.procs" | "cgroup.threads") => members(error.errno),
            _ => None,
        },
        (Object::File(_), "make a group in") if error.errno == Errno::EACCES => {
            Some("needs root with CAP_DAC_OVERRIDE")
        }
        (Object::File(_), "trust") => Some(
            "it must belong to root or to the user that this runs as, and others must not be able to write to it; see it and \
             each directory above it with `ls -ld`",
        ),
        (Object::File(path), "parse") if path.ends_with("journal") => Some(
            "somebody else wrote there, or the disk did; what the other lines tell of is put back, and what these told of stays \
             as it is",
        ),
        (Object::File(_), "find the host's groups in") => Some(
            "this program has a cgroup namespace of its own, and what is mounted there shows no more than that; mount the host's \
             /sys/fs/cgroup in the container, or give it the host's namespace (`--cgroupns host`)",
        ),
        (Object::File(_), "mkdir" | "rmdir") => directory(error.errno),
        _ => None,
    };
    particular.or_else(|| general(error))
}

fn scheduling(operation: &str, errno: Errno) -> Option<&'static str> {
    Some(match (operation, errno) {
        ("sched_setattr", Errno::EPERM) => {
            "needs root or CAP_SYS_NICE; with it, a real-time policy is still refused while cpu.rt_runtime_us of the \
             thread's version 1 `cpu` group is 0, and a deadline policy while the thread may not run on every CPU of \
             its root domain"
        }
        ("sched_setattr", Errno::EINVAL) => {
            "a parameter is out of range (priority 1 to 99, nice -20 to 19, runtime ≤ deadline ≤ period) or this \
             kernel lacks the policy"
        }
        ("sched_setattr", Errno::EBUSY) => {
            "the deadline bandwidth of these CPUs is taken; ask for less runtime or a longer period"
        }
        ("sched_setattr", Errno::EOPNOTSUPP) => "utilization clamps need a kernel built with CONFIG_UCLAMP_TASK",
        ("sched_setattr", Errno::E2BIG) => "this kernel is too old for one of the attributes",
        ("sched_setaffinity", Errno::EINVAL) => {
            "none of these CPUs is both online and in the thread's cpuset, or it is a kernel thread bound to its CPU"
        }
        ("sched_setaffinity", Errno::EBUSY) => "a deadline thread must keep every CPU of its root domain",
        (_, Errno::EPERM | Errno::EACCES) => "needs root or CAP_SYS_NICE",
        _ => return None,
    })
}

/// `EBUSY` is not the kernel's: the thread has a cookie that somebody else gave it.
fn cookie(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EINVAL => "this kernel is built without CONFIG_SCHED_CORE",
        Errno::ENODEV => {
            "no core has two threads online; where SMT was switched off, /sys/devices/system/cpu/smt/control switches it \
             on"
        }
        Errno::EPERM => "needs root, or CAP_SYS_PTRACE for the threads of other users",
        Errno::EBUSY => {
            "another program gave it a cookie and it is left to that one; end that program, or leave the thread out of \
             the class"
        }
        _ => return None,
    })
}

fn connector(operation: &str, errno: Errno) -> Option<&'static str> {
    Some(match (operation, errno) {
        ("socket", Errno::EPROTONOSUPPORT) => {
            "needs a kernel built with CONFIG_PROC_EVENTS, and the host's own network namespace"
        }
        ("subscribe", Errno::ETIMEDOUT) => {
            "the kernel answers only in the initial user and process namespaces; run on the host, or in a container that has \
             them (`--pid host`)"
        }
        ("subscribe", Errno::ECONNREFUSED) => {
            "process events come in the host's own network namespace alone; run on the host, or in a container that has it \
             (`--network host`)"
        }
        (_, Errno::EPERM | Errno::EACCES) => "needs root or CAP_NET_ADMIN",
        _ => return None,
    })
}

fn sensor(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EPERM | Errno::EACCES => "needs root or CAP_BPF and CAP_PERFMON, and a kernel that is not locked down",
        Errno::ENOENT | Errno::EINVAL => "needs Linux 5.12 or later with type information (CONFIG_DEBUG_INFO_BTF)",
        Errno::E2BIG => "it tells 1,024 CPUs apart and 8 threads of a core",
        Errno::ENOSYS => "this program was built without it (cargo feature `sensor`)",
        _ => return None,
    })
}

fn cpuset(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EINVAL => "something of it is not online here, or it overlaps a sibling group that is exclusive",
        Errno::ERANGE => "this kernel has no CPU or memory node of so high a number",
        Errno::EACCES => "a group may have only what its parent has, and the root group cannot be changed",
        Errno::EBUSY => "a child group or a deadline thread still needs what would be taken away",
        Errno::ENOSPC => "a group that holds threads may not be left without CPUs or memory nodes",
        _ => return None,
    })
}

fn members(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::ENOSPC => "the group has no CPUs or no memory nodes yet; set cpuset.cpus and cpuset.mems first",
        Errno::EINVAL => "not a thread that may be moved; kernel threads bound to a CPU stay in the root group",
        Errno::EBUSY => {
            "a version 2 group that hands controllers to its children cannot hold processes; use one of the children"
        }
        Errno::EOPNOTSUPP => "single threads move only within a threaded subtree of version 2; move the whole process",
        Errno::EPERM | Errno::EACCES => "needs root, or write permission on both groups and their common ancestor",
        _ => return None,
    })
}

fn directory(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EBUSY => "the group still holds processes or child groups",
        Errno::EEXIST => "the group exists already; open it instead",
        Errno::EAGAIN => "the limit cgroup.max.descendants or cgroup.max.depth of a group above is reached",
        _ => return None,
    })
}

fn general(error: &KernelError) -> Option<&'static str> {
    Some(match error.errno {
        Errno::ESRCH => "it has ended",
        Errno::ENOENT if error.is_gone() => "it has ended",
        Errno::ENOENT => "this kernel or this group lacks it; on version 2 the controller may not be enabled here",
        Errno::ENODEV => "the group was removed meanwhile",
        Errno::EPERM | Errno::EACCES => "needs root",
        Errno::EROFS => "the file system is mounted read-only, as in a container; run on the host",
        Errno::EMFILE | Errno::ENFILE => "too many open files; raise the limit (LimitNOFILE of the unit)",
        Errno::ELOOP => "a symbolic link stands where none may be; find out who put it there, and remove it",
        Errno::EBADMSG => "the kernel wrote what this version does not know; please report it",
        _ => return None,
    })
}
