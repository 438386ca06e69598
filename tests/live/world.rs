//! Every process and thread of a test, as the kernel has it.

use std::fs;
use std::path::Path;

use super::cast::{Cast, Wording};

/// How one thread is scheduled (proc_pid_stat(5)), where it may run, and the groups it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) policy: u32,
    pub(crate) priority: u32,
    pub(crate) nice: i32,
    /// Nothing where any will do: a class that follows the load has other CPUs at every moment.
    pub(crate) cpus: Option<String>,
    pub(crate) cpuset: String,
    pub(crate) freezer: String,
}

/// One thread.
#[derive(Debug)]
#[expect(dead_code, reason = "printed where a test fails")]
pub(crate) struct Found {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// The program's file, without its directory.
    pub(crate) name: String,
    pub(crate) state: State,
}

/// Who is not as wanted.
#[derive(Debug)]
#[expect(dead_code, reason = "printed where a test fails")]
pub(crate) struct Misfit {
    found: Found,
    wanted: State,
}

impl Cast {
    /// Everybody, and who of them is not as the policy wants it, or as it was where none is in force.
    pub(crate) fn misfits(&self, enforced: Option<Wording>) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        for found in self.found() {
            let State { cpuset, .. } = &found.state;
            let home = [&self.shared.path, &self.mixed.path].into_iter().find(|home| *home == cpuset);
            let wanted = match enforced {
                Some(wording) => self.wanted(wording, &found.name, cpuset),
                None => self.untouched(home.map_or("/", String::as_str)),
            };
            let cpus = wanted.cpus.is_none().then(|| found.state.cpus.clone()).flatten();
            if found.state != (State { cpus: wanted.cpus.clone().or(cpus), ..wanted.clone() }) {
                misfits.push(Misfit { found, wanted });
            }
        }
        misfits
    }

    /// Every thread of every process that runs one of the test's programs.
    pub(crate) fn found(&self) -> Vec<Found> {
        let directory = self.stage.path("");
        let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        let mut found = Vec::new();
        for pid in entries.filter_map(|name| name.parse::<u32>().ok()) {
            let Ok(exe) = fs::read_link(format!("/proc/{pid}/exe")) else { continue };
            let name = match exe.strip_prefix(&directory) {
                Ok(name) => name.to_str().unwrap().to_owned(),
                Err(_) if pid == self.many => "many".to_owned(),
                Err(_) => continue,
            };
            let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            let tids = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse::<u32>().ok());
            found.extend(tids.filter_map(|tid| {
                let state = state(Path::new(&format!("/proc/{pid}/task/{tid}")))?;
                Some(Found { pid, tid, name: name.clone(), state })
            }));
        }
        found
    }
}

/// None where the thread has ended.
fn state(thread: &Path) -> Option<State> {
    let read = |file: &str| fs::read_to_string(thread.join(file)).ok();
    let (stat, status, cgroup) = (read("stat")?, read("status")?, read("cgroup")?);
    let fields: Vec<&str> = stat[stat.rfind(')')? + 2..].split(' ').collect();
    if fields[0] == "Z" || fields[0] == "X" {
        return None;
    }
    let field = |number: usize| fields[number - 3].trim();
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned();
    let group = |tree: &str| {
        let path = cgroup.lines().find_map(|line| line.split_once(&format!(":{tree}:")))?.1;
        Some(path.to_owned())
    };
    Some(State {
        policy: field(41).parse().unwrap(),
        priority: field(40).parse().unwrap(),
        nice: field(19).parse().unwrap(),
        cpus: Some(cpus),
        cpuset: group("cpuset")?,
        freezer: group("freezer")?,
    })
}
