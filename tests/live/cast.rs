//! Who is there while daemons are killed: processes of every class and of none that fork, execute, make threads and end
//! without a pause, and some of each that live on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use super::stage::{FIFO, IDLE, OTHER, PATIENCE, RR, Stage, online, until};
use super::world::State;

/// A cpuset group that is not cotenant's. It goes when the processes in it have.
pub(crate) struct Home {
    pub(crate) path: String,
}

const CPUSET: &str = "/sys/fs/cgroup/cpuset";

impl Home {
    fn new(path: String) -> Home {
        let directory = format!("{CPUSET}{path}");
        fs::create_dir(&directory).unwrap();
        for file in ["cpuset.cpus", "cpuset.mems"] {
            fs::write(format!("{directory}/{file}"), fs::read(format!("{CPUSET}/{file}")).unwrap()).unwrap();
        }
        Home { path }
    }

    fn admit(&self, pid: u32) {
        fs::write(format!("{CPUSET}{}/cgroup.procs", self.path), pid.to_string()).unwrap();
    }

    /// What stands in its `cpuset.cpus`.
    pub(crate) fn cpus(&self) -> String {
        fs::read_to_string(format!("{CPUSET}{}/cpuset.cpus", self.path)).unwrap().trim().to_owned()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let directory = format!("{CPUSET}{}", self.path);
        // Short ones may take a moment to end.
        until("an empty group", || fs::remove_dir(&directory).is_ok());
    }
}

/// Everybody. Fields are dropped in this order: the processes end before their groups go.
pub(crate) struct Cast {
    pub(crate) stage: Stage,
    /// All in it are of one class.
    pub(crate) shared: Home,
    /// Holds others as well, so that a class is placed there by masks.
    pub(crate) mixed: Home,
    /// A Python of many threads.
    pub(crate) many: u32,
}

/// Which of two policies. They differ in CPUs, attributes and in who is in a class at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    One,
    Other,
}

impl Wording {
    pub(crate) fn next(self) -> Wording {
        if self == Wording::One { Wording::Other } else { Wording::One }
    }
}

/// The programs: shells that churn, and what they run.
const SHELLS: [&str; 5] = ["web", "batch", "calm", "guest", "mask"];
const NAPS: [&str; 5] = ["webnap", "batchnap", "kid", "leaf", "guestnap"];

impl Cast {
    /// Starts them; none where this host has no cpuset and freezer of version 1 or no Python, which is said.
    pub(crate) fn new(stage: Stage) -> Option<Cast> {
        let python =
            ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| PathBuf::from(path).exists());
        let trees = ["cpuset/cpuset.cpus", "freezer/cgroup.procs"];
        let has_trees = trees.iter().all(|file| PathBuf::from("/sys/fs/cgroup").join(file).exists());
        let (Some(python), true, true) = (python, has_trees, online().starts_with(&[0, 1])) else {
            eprintln!("passed over: needs python3, CPUs 0 and 1, and cpuset and freezer of version 1");
            return None;
        };
        SHELLS.iter().for_each(|name| drop(stage.program(name, "/bin/sh")));
        NAPS.iter().for_each(|name| drop(stage.program(name, "/bin/sleep")));
        let home = |name: &str| Home::new(format!("/{}-{name}", stage.group()));
        let (shared, mixed) = (home("shared"), home("mixed"));
        let mut cast = Cast { shared, mixed, many: 0, stage };
        let web = cast.shell("web", "@/leaf 0.3 & (@/webnap 0.05; :) & @/leaf 1.1 & @/webnap 0.4 & @/leaf 0.02; : | :");
        let batch = cast.shell("batch", "@/kid 0.2 & (@/batchnap 0.05; :) & @/kid 0.9 & @/kid 0.02");
        let calm = cast.shell("calm", "@/leaf 0.2 & (:; @/leaf 0.01; :); @/leaf 0.03");
        let guest = cast.shell("guest", "@/leaf 0.2 & @/guestnap 0.3 & (:; @/leaf 0.01; :); @/leaf 0.02");
        let mask = cast.shell("mask", "@/leaf 0.3 & (:; @/leaf 0.01; :); @/leaf 0.03");
        cast.shared.admit(guest);
        cast.mixed.admit(mask);
        let stranger = cast.stage.sleeper("leaf");
        cast.mixed.admit(stranger);
        for name in ["webnap", "batchnap", "leaf"] {
            cast.stage.sleeper(name);
        }
        let nap = cast.stage.sleeper("guestnap");
        cast.shared.admit(nap);
        let script = "import threading, time\n\
            for _ in range(4): threading.Thread(target=time.sleep, args=(9999,), daemon=True).start()\n\
            while True:\n\
            \x20   threading.Thread(target=time.sleep, args=(0.1,), daemon=True).start()\n\
            \x20   time.sleep(0.02)\n";
        let mark = cast.stage.path("many");
        cast.many = cast.stage.run(Command::new(python).args(["-c", script]).arg(mark));
        for (pid, name) in [(web, "web"), (batch, "batch"), (calm, "calm")] {
            let exe = format!("/proc/{pid}/exe");
            until("its exec", || fs::read_link(&exe).is_ok_and(|exe| exe.ends_with(name)));
        }
        Some(cast)
    }

    /// A shell that does this again and again. It waits for `go`, so that it is where it belongs before it forks.
    fn shell(&mut self, name: &str, again: &str) -> u32 {
        let script = self.stage.text(&format!("while [ ! -e @/go ]; do :; done; while :; do {again}; done"));
        let program = self.stage.path(name);
        self.stage.run(Command::new(program).args(["-c", &script]))
    }

    /// Waits until everybody is as the policy wants them, or as they were before where none is in force.
    pub(crate) fn settle(&self, enforced: Option<Wording>) {
        let end = Instant::now() + PATIENCE;
        loop {
            let misfits = self.misfits(enforced);
            if misfits.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "{enforced:?}: {misfits:#?}\n{}", self.stage.log());
        }
    }

    /// That everybody is as they were, at once and not after a while: nobody is there any more to put it right.
    pub(crate) fn assert_untouched(&self) {
        let misfits = self.misfits(None);
        assert!(misfits.is_empty(), "{misfits:#?}\n{}", self.stage.log());
        assert!(!self.stage.has_groups());
        let all = fs::read_to_string(format!("{CPUSET}/cpuset.cpus")).unwrap();
        assert_eq!((self.shared.cpus(), self.mixed.cpus()), (all.trim().to_owned(), all.trim().to_owned()));
        assert!(!self.stage.path("run/moving").exists());
    }

    /// Lets them begin.
    pub(crate) fn begin(&self) {
        fs::write(self.stage.path("go"), "").unwrap();
    }

    /// Writes the policy.
    pub(crate) fn policy(&self, wording: Wording) -> PathBuf {
        let shared = &self.shared.path;
        let (cpu, priority, nice, more) = match wording {
            Wording::One => (1, 7, 5, "rt class many: match arg @/many, on cpu 0, priority 4;"),
            Wording::Other => (0, 8, 6, ""),
        };
        let text = format!(
            "rt class web: match exe @/web or exe @/webnap, on cpu {cpu}, priority {priority};
             batch class batch: match exe @/batch or exe @/batchnap with descendants, only when core idle, wait at most 40ms;
             class storm: match exe @/storm, on cpu {cpu}, nice 9;
             class guest: match cgroup \"{shared}\", on cpu 0, nice 3;
             class calm: match exe @/calm, nice {nice};
             rt class mask: match exe @/mask, on cpu {cpu}, fifo, priority 3;
             {more}"
        );
        // In one step, so that a daemon that starts at any moment reads the one or the other.
        self.stage.policy("beside", &text);
        let path = self.stage.path("p.policy");
        fs::rename(self.stage.path("beside"), &path).unwrap();
        path
    }

    /// What a process of this name must be when nothing is enforced, from that group.
    pub(crate) fn untouched(&self, home: &str) -> State {
        let cpus = if online().len() == 2 { "0-1".to_owned() } else { format!("0-{}", online().last().unwrap()) };
        State {
            policy: OTHER,
            priority: 0,
            nice: 0,
            cpus: Some(cpus),
            cpuset: home.to_owned(),
            freezer: "/".to_owned(),
        }
    }

    /// What the policy wants of a process of this name that is found in that cpuset group.
    pub(crate) fn wanted(&self, wording: Wording, name: &str, found_in: &str) -> State {
        let (cpu, priority, nice) = if wording == Wording::One { ("1", 7, 5) } else { ("0", 8, 6) };
        let own = format!("/{}/{}", self.stage.group(), name.trim_end_matches("nap"));
        let home = [&self.shared.path, &self.mixed.path].into_iter().find(|home| **home == found_in);
        let plain = self.untouched(home.map_or("/", String::as_str));
        let cpus = Some(cpu.to_owned());
        match name {
            _ if found_in == self.shared.path => State { nice: 3, cpus: Some("0".to_owned()), ..plain },
            "web" | "webnap" => State { policy: RR, priority, cpus, cpuset: own, ..plain },
            "batch" | "batchnap" | "kid" if self.is_batch(name, found_in) => {
                let own = format!("/{}/batch", self.stage.group());
                State { policy: IDLE, cpus: None, cpuset: own.clone(), freezer: own, ..plain }
            }
            "calm" => State { nice, ..plain },
            "mask" => State { policy: FIFO, priority: 3, cpus, ..plain },
            "many" if wording == Wording::One => {
                State { policy: RR, priority: 4, cpus: Some("0".to_owned()), cpuset: own, ..plain }
            }
            _ => plain,
        }
    }

    /// A `kid` whose parent ended while nothing was enforced descends from nobody who is known.
    fn is_batch(&self, name: &str, found_in: &str) -> bool {
        name != "kid" || found_in != "/"
    }
}
