use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cotenant_compiler::topology::{CoreKind, CpuPlace};
use cotenant_compiler::{CpuId, compile_on};
use cotenant_grammar::SourceSet;

use super::*;
use crate::testing::is_root;

/// This host's first two CPUs, as two threads of one core or as two cores.
fn machine(core_of: [usize; 2]) -> Topology {
    let place = |(cpu, core): (u32, usize)| CpuPlace {
        cpu: CpuId(cpu),
        online: true,
        core: core as u32,
        llc: None,
        node: 0,
        package: 0,
        kind: CoreKind::Performance,
    };
    Topology::new(&[place((0, core_of[0])), place((1, core_of[1]))])
}

fn plan(text: &str, machine: &Topology) -> Plan {
    let facilities = Facilities { sensor: true, ..Facilities::default() };
    compile_on(SourceSet::one("p", text), machine, facilities).0.unwrap()
}

/// None where it cannot be tried, which is said.
fn sensor(machine: &Topology, run: &Path) -> Option<Sensor> {
    if !is_root() || !Path::new("/sys/devices/system/cpu/cpu1").exists() {
        eprintln!("passed over: needs root and two CPUs");
        return None;
    }
    let roots = Roots { run: run.to_owned(), ..Roots::default() };
    match Sensor::open(&roots, machine) {
        Ok(sensor) => Some(sensor),
        Err(error) => {
            eprintln!("passed over: {error}");
            None
        }
    }
}

struct Load(Child);

impl Load {
    /// A process that spins, on one CPU.
    fn spin(cpu: u32) -> Load {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Load(command.stdin(Stdio::null()).spawn().unwrap())
    }

    fn tid(&self) -> Tid {
        Tid(self.0.id() as i32)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !so() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn it_sees_switches_and_a_gated_thread_with_company_and_only_that() {
    let (run, machine) = (tempfile::tempdir().unwrap(), machine([0, 0]));
    let Some(mut sensor) = sensor(&machine, run.path()) else { return };
    assert_eq!(sensor.sight().switches, 0, "not before it is asked to");
    sensor.watch(&plan("batch: match exe nobody, only when core idle;", &machine)).unwrap();
    until("switches", || sensor.sight().switches > 100);
    let (gated, other) = (Load::spin(0), Load::spin(1));
    sensor.invaded();
    sensor.answered();
    sensor.enrol(gated.tid(), 0);
    until("the gate's bell", || sensor.sight().gate_rings > 0);
    until("company", || sensor.invaded() == *machine.online());
    assert_eq!(sensor.used(), *machine.online());
    // Two gated ones are no company.
    sensor.enrol(other.tid(), 0);
    until("nobody else", || !sensor.answered());
    let sight = sensor.sight();
    assert_eq!((sight.lost, sight.unknown, sight.moves), (0, 0, 0));
    sensor.watch(&plan("class x: match exe nobody;", &machine)).unwrap();
    let after = sensor.sight().switches;
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(sensor.sight().switches, after, "nothing is watched any more");
}
