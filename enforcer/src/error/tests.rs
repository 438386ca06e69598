use super::*;

#[test]
fn a_cpuset_write_says_path_value_reason_and_remedy() {
    let error = KernelError::file("/cg/x/cpuset.cpus", "write", Errno::EINVAL).with_value("0-3");
    assert_eq!(
        error.to_string(),
        "cannot write `0-3` to /cg/x/cpuset.cpus: Invalid argument: something of it is not online here, or it overlaps \
         a sibling group that is exclusive"
    );
}

#[test]
fn a_refused_real_time_policy_names_both_causes() {
    let error = KernelError::new(Object::Thread(Tid(7)), "sched_setattr", Errno::EPERM).with_value("SCHED_RR");
    let text = error.to_string();
    assert!(
        text.starts_with("cannot sched_setattr `SCHED_RR` on thread 7: Operation not permitted: needs root"),
        "{text}"
    );
    assert!(text.contains("cpu.rt_runtime_us"), "{text}");
}

#[test]
fn only_what_belongs_to_a_process_can_be_gone() {
    let gone = KernelError::new(Object::ProcessFile("/proc/1/stat".into()), "open", Errno::ENOENT);
    assert!(gone.is_gone());
    assert!(KernelError::new(Object::Thread(Tid(7)), "sched_setattr", Errno::ESRCH).is_gone());
    let missing = KernelError::file("/cg/x/cpuset.cpus", "open", Errno::ENOENT);
    assert!(!missing.is_gone());
    assert_eq!(gone.to_string(), "cannot open /proc/1/stat: No such file or directory: it has ended");
}

#[test]
fn a_missing_capability_is_named_with_two_ways_to_it() {
    let error = KernelError::new(Object::Capability(Capability::CAP_SYS_NICE), "use", Errno::EPERM);
    let text = error.to_string();
    assert!(text.starts_with("CAP_SYS_NICE is missing: needs root, or"), "{text}");
    assert!(text.contains("AmbientCapabilities"), "{text}");
}

#[test]
fn a_path_of_somebody_elses_stays_on_its_line() {
    let error = KernelError::file("/cg/x\n\u{1b}[2Jfine/cpuset.cpus", "open", Errno::EACCES);
    assert!(error.to_string().starts_with("cannot open /cg/x\\n\\u{1b}[2Jfine/cpuset.cpus: "), "{error}");
}
