//! One emulated machine from power-on to power-off, and what it said.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::image::initramfs;

/// What to do where something is missing.
pub(crate) const PREPARE: &str =
    "run `tests/vm/prepare.sh`, or set COTENANT_VM=skip to go without the tests in an emulated machine";

/// The longest a machine may run. It ends by itself long before, but for a mistake or a host that is all but stopped.
const PATIENCE: Duration = Duration::from_secs(420);

/// The same where time is counted in instructions, which are few a second.
const LONG_PATIENCE: Duration = Duration::from_secs(4 * 3600);

/// One machine at a time: two would only take the host's CPUs from each other.
static TURN: Mutex<()> = Mutex::new(());

/// The kernels that `prepare.sh` gets, by the meta packages they are kept under, and the one that has to be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// The release's own; on Debian 12 that is 6.1, where a change of a cpuset makes threads forget their own masks.
    Stock,
    /// 6.12 or newer.
    Newer,
    /// 6.12 with core scheduling, which `kernel.sh` builds.
    CoreSched,
}

/// What time is in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// The host's. An emulated CPU stands still whenever the host has something else to do.
    Host,
    /// The host's, with the emulated CPUs in turns: slower, but none of them ever executes half an instruction of code that
    /// the kernel rewrites meanwhile, as it does whenever CPUs come or go.
    HostInTurns,
    /// An instruction is a nanosecond, whichever CPU executes it, so that n busy CPUs are each n times slower. Deaf to what
    /// the host does: shares of time and counts are sound. Needs the emulator that `emulator.sh` gets.
    Instructions,
}

/// Whether these tests shall not run. They never pass over by themselves.
pub(crate) fn skipped() -> bool {
    let skipped = std::env::var("COTENANT_VM").is_ok_and(|value| value == "skip");
    if skipped {
        eprintln!("passed over: COTENANT_VM=skip");
    }
    skipped
}

/// What a machine said: lines of a key and a value, written by `say` in `guest/lib.sh`, among others for people.
#[derive(Debug)]
pub(crate) struct Run {
    values: BTreeMap<String, Vec<String>>,
    console: String,
}

/// Boots a machine of the shape that QEMU's `-smp` takes, runs the script in it and waits for its end.
pub(crate) fn boot(kernel: Kernel, smp: &str, script: &str) -> Run {
    boot_in(Time::Host, kernel, smp, script, &[])
}

/// [`boot`] in one kind of time or the other, with more files of this machine.
pub(crate) fn boot_in(time: Time, kernel: Kernel, smp: &str, script: &str, others: &[&Path]) -> Run {
    boot_image(time, kernel, smp, &initramfs(script, others))
}

/// The same with an initial file system of the caller's own, whose first process is `/init`.
pub(crate) fn boot_image(time: Time, kernel: Kernel, smp: &str, initrd: &[u8]) -> Run {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let start = Instant::now();
    let mut console = console_of(time, kernel, smp, initrd);
    // The kernel rewrites its own code while it runs, and with several CPUs the emulator does not always see that in time:
    // then one of them executes half an instruction. No process can cause that, so it says nothing about the product.
    if console.contains("Kernel panic - not syncing: Fatal exception") {
        eprintln!("{console}\nthe emulated kernel crashed; once more");
        console = console_of(time, kernel, smp, initrd);
    }
    // Shown when the test fails or is asked to say what it sees.
    eprintln!("{console}\nthe machine ran for {:.0?}", start.elapsed());
    let run = Run::new(console);
    run.is("end", "0");
    assert!(run.all("waited-in-vain").is_empty(), "waited in vain: {:?}", run.all("waited-in-vain"));
    run
}

/// What one run prints.
fn console_of(time: Time, kernel: Kernel, smp: &str, content: &[u8]) -> String {
    let patience = if time == Time::Instructions { LONG_PATIENCE } else { PATIENCE };
    let directory = tempfile::tempdir().unwrap();
    let (initrd, console) = (directory.path().join("initrd"), directory.path().join("console"));
    fs::write(&initrd, content).unwrap();
    let log = File::create(&console).unwrap();
    let mut qemu = qemu(time, kernel, smp, &initrd);
    qemu.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let mut child = qemu.spawn().unwrap_or_else(|error| panic!("qemu-system-x86_64: {error}; {PREPARE}"));
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the machine did not end within {patience:?}:\n{}", text(&console));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    text(&console)
}

fn text(console: &Path) -> String {
    String::from_utf8_lossy(&fs::read(console).unwrap()).replace('\r', "")
}

/// The emulator for one machine, without hardware's help, so that it runs anywhere and for anybody.
fn qemu(time: Time, kernel: Kernel, smp: &str, initrd: &Path) -> Command {
    let mut qemu = match time {
        Time::Host | Time::HostInTurns => Command::new("qemu-system-x86_64"),
        Time::Instructions => emulator(),
    };
    // A make of processor whose siblings both kernels recognise: 6.1 looks for a leaf that the emulated AMD ones lack.
    qemu.args(["-cpu", "max,vendor=GenuineIntel,la57=off", "-smp", smp, "-m", "1024", "-nic", "none"]);
    qemu.args(["-nographic", "-no-reboot", "-kernel"]).arg(image(kernel)).arg("-initrd").arg(initrd);
    // Only what ends the kernel is printed: a message in the middle of a line would spoil it.
    let parameters = "console=ttyS0 loglevel=1 panic=-1 nowatchdog mitigations=off cryptomgr.notests";
    match time {
        Time::Host => qemu.args(["-accel", "tcg,thread=multi", "-append", parameters]),
        Time::HostInTurns => qemu.args(["-accel", "tcg,thread=single", "-append", parameters]),
        // The guest may write to its timer; see `take_short_turns` in `guest/lib.sh`.
        Time::Instructions => qemu
            .args(["-accel", "tcg", "-icount", "shift=0,sleep=off", "-append"])
            .arg(format!("{parameters} tsc=reliable iomem=relaxed")),
    };
    qemu
}

/// For people: a shell in the machine, which ends with it.
#[test]
#[ignore = "it waits for somebody to type"]
fn shell() {
    let smp = std::env::var("COTENANT_VM_SMP").unwrap_or_else(|_| "8,sockets=1,cores=4,threads=2".to_owned());
    let set = |name: &str| std::env::var_os(name).is_some();
    let kernel = match (set("COTENANT_VM_STOCK"), set("COTENANT_VM_CORE_SCHED")) {
        (true, _) => Kernel::Stock,
        (_, true) => Kernel::CoreSched,
        _ => Kernel::Newer,
    };
    let time = if set("COTENANT_VM_COUNTED") { Time::Instructions } else { Time::Host };
    let directory = tempfile::tempdir().unwrap();
    let initrd = directory.path().join("initrd");
    fs::write(&initrd, initramfs("ENV=/lib.sh setsid cttyhack sh", &[])).unwrap();
    assert!(qemu(time, kernel, &smp, &initrd).status().unwrap().success());
}

/// The emulator that `emulator.sh` gets. The modules of the installed one are not its own.
pub(crate) fn emulator() -> Command {
    let root = cache().join("qemu/usr");
    let program = root.join("bin/qemu-system-x86_64");
    assert!(program.exists(), "there is no emulator at {}; run `tests/vm/emulator.sh`", program.display());
    let mut qemu = Command::new(program);
    qemu.env("QEMU_MODULE_DIR", root.join("lib/x86_64-linux-gnu/qemu"));
    for firmware in ["share/seabios", "share/qemu"] {
        qemu.arg("-L").arg(root.join(firmware));
    }
    qemu
}

/// Where `prepare.sh` and `emulator.sh` keep what they get.
fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map_or_else(home, PathBuf::from);
    cache.join("cotenant")
}

/// Where `prepare.sh` keeps the kernel.
fn image(kernel: Kernel) -> PathBuf {
    let name = match kernel {
        Kernel::Stock => "linux-image-cloud-amd64",
        Kernel::Newer => "linux-image-6.12-cloud-amd64",
        Kernel::CoreSched => "core-sched",
    };
    let path = cache().join("kernels").join(name);
    let make = if kernel == Kernel::CoreSched { "run `make test-core-sched`, which builds it" } else { PREPARE };
    assert!(path.exists(), "there is no kernel at {}; {make}", path.display());
    path
}

impl Run {
    fn new(console: String) -> Run {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in console.lines().filter_map(|line| line.strip_prefix("@ ")) {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            values.entry(key.to_owned()).or_default().push(value.trim().to_owned());
        }
        Run { values, console }
    }

    /// Everything said under a key, in order.
    pub(crate) fn all(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// The one thing said under a key.
    #[track_caller]
    pub(crate) fn get(&self, key: &str) -> &str {
        match self.all(key) {
            [value] => value,
            others => panic!("the guest said {} times `{key}`: {others:?}\n{}", others.len(), self.console),
        }
    }

    /// Asserts on the one thing said under a key.
    #[track_caller]
    pub(crate) fn is(&self, key: &str, expected: &str) {
        assert_eq!(self.get(key), expected, "{key}");
    }
}
