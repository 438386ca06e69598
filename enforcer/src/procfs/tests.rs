use std::fs;
use std::os::unix::ffi::OsStrExt;

use cotenant_compiler::CpuId;

use super::*;
use crate::testing::Sleeper;

const STAT: &str = "S 10 4242 4242 0 -1 4194368 100 0 0 0 7 5 0 0 20 -3 2 0 98765 1000 10 18446744073709551615 1 1 0 \
                    0 0 0 0 0 0 0 0 0 17 63 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

#[test]
fn a_name_can_hold_anything() {
    for comm in [&b"plain"[..], b"a b", b"x) R 1 (y", b")", b"(((", b"\xff\xfe", b""] {
        let mut text = b"4242 (".to_vec();
        text.extend(comm);
        text.extend(b") ");
        text.extend(STAT.as_bytes());
        let stat = Stat::parse(&text).unwrap();
        assert_eq!(stat.comm, comm);
        assert_eq!((stat.tid, stat.state, stat.parent), (Tid(4242), b'S', Pid(10)));
        assert_eq!((stat.ticks, stat.nice, stat.threads, stat.start), (12, -3, 2, 98765));
        assert_eq!(stat.cpu, CpuId(63));
        assert!(stat.has_not_execed() && !stat.is_kernel_thread() && !stat.is_zombie());
    }
    assert_eq!(Stat::parse(b"4242 (x) S 10"), None);
    assert_eq!(Stat::parse(b""), None);
}

#[test]
fn a_status_gives_effective_ids_and_cpus() {
    let text = b"Name:\tUid:\\n1\nTgid:\t7\nUid:\t1000\t0\t1\t2\nGid:\t5\t6\t7\t8\nCpus_allowed_list:\t0-3,8\n";
    let status = Status::parse(text).unwrap();
    assert_eq!((status.process, status.user, status.group), (Pid(7), 0, 6));
    assert_eq!(status.cpus.to_string(), "0-3,8");
    assert_eq!(Status::parse(b"Name:\tx\n"), None);
}

#[test]
fn paths_may_hold_colons_and_blanks() {
    let text = b"9:name=systemd:/a:b c\n3:cpuset,cpu:/x\n1:freezer:/\n0::/a:b c (deleted)\n";
    let cgroups = Cgroups::parse(text).unwrap();
    assert_eq!(cgroups.unified(), Some(&b"/a:b c"[..]));
    assert_eq!(cgroups.controller("cpuset"), Some(&b"/x"[..]));
    assert_eq!(cgroups.controller("memory"), None);
    assert_eq!(cgroups.paths(), [&b"/a:b c"[..], b"/x", b"/"]);
    assert_eq!(Cgroups::parse(b""), Some(Cgroups::default()));
    assert_eq!(Cgroups::parse(b"nonsense\n"), None);
}

#[test]
fn a_replaced_program_keeps_its_path() {
    let exe = Exe::parse(b"/usr/sbin/nginx (deleted)".to_vec());
    assert_eq!((exe.path.as_slice(), exe.deleted), (&b"/usr/sbin/nginx"[..], true));
    let exe = Exe::parse(b"/usr/bin/a (deleted) b".to_vec());
    assert_eq!((exe.path.as_slice(), exe.deleted), (&b"/usr/bin/a (deleted) b"[..], false));
}

#[test]
fn arguments_are_divided_and_bounded() {
    let arguments = |text: &[u8]| Cmdline::parse(text, 100).arguments;
    assert_eq!(arguments(b""), Vec::<Vec<u8>>::new());
    assert_eq!(arguments(b"a\0\0b c\0"), [&b"a"[..], b"", b"b c"]);
    assert_eq!(arguments(b"a\0\0"), [&b"a"[..], b""]);
    assert_eq!(arguments(b"nginx: worker process"), [b"nginx: worker process"]);
    let cut = Cmdline::parse(b"abc\0def\0", 6);
    assert_eq!((cut.arguments, cut.truncated), (vec![b"abc".to_vec(), b"de".to_vec()], true));
    assert!(!Cmdline::parse(b"abc\0", 4).truncated);
}

#[test]
fn cpu_lines_are_read_and_the_sum_is_not() {
    let text = b"cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 5 6 7 8 1 0\ncpu12 1 0 0 0 0 0 0 0 0 0\nintr 5\n";
    let mut times = Vec::new();
    CpuTimes::parse_into(text, &mut times).unwrap();
    assert_eq!(times[0], CpuTimes { cpu: CpuId(0), busy: 19, idle: 45, stolen: 8 });
    assert_eq!((times[1].cpu, times.len()), (CpuId(12), 2));
    assert_eq!(CpuTimes::parse_into(b"cpu0 1 2\n", &mut times), None);
}

#[test]
fn a_running_process_is_read() {
    let proc = Procfs::new("/proc");
    let sleeper = Sleeper::start();
    let pid = sleeper.pid();
    // Until it has executed its program, the child is a copy of this process; then it has no arguments for a moment.
    while proc.stat(pid).unwrap().has_not_execed() || proc.cmdline(pid).unwrap().arguments.is_empty() {
        std::thread::yield_now();
    }
    let stat = proc.stat(pid).unwrap();
    assert_eq!((stat.comm.as_slice(), stat.parent, stat.threads), (&b"sleep"[..], Pid::current(), 1));
    assert_eq!(proc.thread_stat(pid, pid.leader()).unwrap().start, stat.start);
    let status = proc.status(pid).unwrap();
    assert_eq!((status.process, status.user), (pid, nix::unistd::geteuid().as_raw()));
    assert!(crate::sys::affinity::get(pid.leader()).unwrap().is_subset(&status.cpus));
    assert_eq!(proc.cmdline(pid).unwrap().arguments, [&b"sleep"[..], b"60"]);
    assert!(!proc.exe(pid).unwrap().unwrap().deleted);
    assert!(!proc.cgroups(pid).unwrap().paths().is_empty());
    // It is booked when the process leaves the CPU or a tick strikes.
    while proc.schedstat(pid).unwrap().run == 0 {
        std::thread::yield_now();
    }
    assert_eq!(proc.threads(pid).unwrap(), [pid.leader()]);
    assert!(proc.processes().unwrap().contains(&pid));
    assert!(!CpuTimesReader::default().read(&proc).unwrap().is_empty());
}

#[test]
fn every_process_of_this_host_is_read() {
    let proc = Procfs::new("/proc");
    for pid in proc.processes().unwrap() {
        let read = || {
            let stat = proc.stat(pid)?;
            proc.status(pid)?;
            proc.cgroups(pid)?;
            proc.cmdline(pid)?;
            let exe = proc.exe(pid);
            if stat.is_kernel_thread() {
                assert_eq!(exe.clone()?, None);
            }
            proc.threads(pid)
        };
        if let Err(error) = read() {
            assert!(error.is_gone() || error.errno() == Errno::EACCES, "{error}");
        }
    }
}

#[test]
fn a_process_that_ended_is_gone_and_a_missing_file_is_not() {
    let proc = Procfs::new("/proc");
    let mut sleeper = Sleeper::start();
    let pid = sleeper.pid();
    sleeper.end();
    assert!(proc.stat(pid).unwrap_err().is_gone());
    assert!(proc.exe(pid).unwrap_err().is_gone());
    assert!(proc.threads(pid).unwrap_err().is_gone());

    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("5/task/5")).unwrap();
    let fake = Procfs::new(tree.path());
    assert!(!fake.schedstat(Pid(5)).unwrap_err().is_gone());
    assert_eq!(fake.exe(Pid(5)), Ok(None));
    fs::write(tree.path().join("5/stat"), b"5 (x) nonsense").unwrap();
    let error = fake.stat(Pid(5)).unwrap_err();
    assert_eq!((error.operation(), error.value()), ("parse", Some("5 (x) nonsense")));
    assert_eq!(fake.processes().unwrap(), [Pid(5)]);
}

#[test]
fn a_removed_program_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("na\u{ef}ve sleep");
    fs::copy("/bin/sleep", &program).unwrap();
    let sleeper = Sleeper::of(&program);
    let proc = Procfs::new("/proc");
    while proc.stat(sleeper.pid()).unwrap().has_not_execed() {
        std::thread::yield_now();
    }
    fs::remove_file(&program).unwrap();
    let exe = proc.exe(sleeper.pid()).unwrap().unwrap();
    let program = directory.path().canonicalize().unwrap().join("na\u{ef}ve sleep");
    assert_eq!((exe.path.as_slice(), exe.deleted), (program.as_os_str().as_bytes(), true));
}

#[test]
fn times_of_many_cpus_are_read_whole_and_again() {
    let directory = tempfile::tempdir().unwrap();
    let write = |cpus: u32, busy: u64| {
        let line = |cpu: u32| format!("cpu{cpu} {busy} 20 30 400 50 6 7 8 9 10\n");
        let lines: String = (0..cpus).map(line).collect();
        std::fs::write(directory.path().join("stat"), format!("cpu  1 1 1 1 1 1 1 1\n{lines}intr 5\n")).unwrap();
    };
    let procfs = Procfs::new(directory.path());
    let mut reader = CpuTimesReader::default();
    for (cpus, busy) in [(500, 1), (500, 2), (3, 3)] {
        write(cpus, busy);
        let times = reader.read(&procfs).unwrap();
        assert_eq!(times.len(), cpus as usize);
        assert!(times.iter().all(|times| times.busy == busy + 20 + 30 + 6 + 7), "{:?}", times.first());
    }
}

#[test]
fn where_a_thread_is_stands_behind_its_name() {
    let text =
        format!("7 (a) R 1 b) S {} 5 0 0\n", (4..39).map(|field| format!("{field} ")).collect::<String>().trim_end());
    assert_eq!(Whereabouts::parse(text.as_bytes()), Some(Whereabouts { state: b'S', cpu: CpuId(5) }));
    assert_eq!(Whereabouts::parse(b"7 (a) S 1"), None);
}
