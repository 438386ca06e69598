//! A daemon that is killed at any moment of its life, again and again, while processes come and go: the next start brings
//! everybody to what the policy wants, and `release` to what they were.
//!
//! `KILLS` says how many times, `SEED` brings a run back, as far as chance is the test's.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::cast::{Cast, Wording};
use super::dice::Dice;
use super::stage::{stage, until};

const KILLS: u32 = 100;

/// What a daemon is at when it is killed.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Reads what the one before it left, puts it back, and places everybody anew.
    Start,
    /// Follows events and the load.
    Loop,
    /// Puts another policy in force.
    Reload,
    /// Puts everybody back.
    Release,
}

const PHASES: [Phase; 4] = [Phase::Start, Phase::Loop, Phase::Reload, Phase::Release];

/// Longer than most phases take.
const LONG: Duration = Duration::from_millis(60);

/// Longer than putting back takes, mostly: it waits for forks that are under way.
const LONGER: Duration = Duration::from_millis(240);

struct Run {
    cast: Cast,
    dice: Dice,
    wording: Wording,
    /// The daemon that runs.
    daemon: Option<u32>,
    /// How long the last daemon took until its policy was in force.
    start: Duration,
}

impl Run {
    /// Starts a daemon and does not wait for it.
    fn spawn(&mut self) -> u32 {
        let policy = self.cast.policy(self.wording);
        let log = fs::File::create(self.cast.stage.path("daemon.log")).unwrap();
        // Two CPUs that are no siblings play them, so that the gate has something to do.
        let eyes = self.dice.one(&["tick", "tick", "auto"]);
        let arguments = ["enforce", policy.to_str().unwrap(), "--topology", "pack:1 core:1 pu:2", "--eyes", eyes];
        let mut command = self.cast.stage.cotenant(&arguments);
        self.cast.stage.run(command.stderr(log).stdout(Stdio::null()))
    }

    /// A daemon that has its policy in force.
    fn running(&mut self) -> u32 {
        if let Some(daemon) = self.daemon {
            return daemon;
        }
        let begun = Instant::now();
        let daemon = self.spawn();
        until("the daemon", || {
            assert!(std::path::Path::new(&format!("/proc/{daemon}/task")).exists(), "{}", self.cast.stage.log());
            self.cast.stage.log().contains("the policy is in force")
        });
        self.start = begun.elapsed();
        self.daemon = Some(daemon);
        daemon
    }

    fn kill(&mut self, phase: Phase) -> Duration {
        let (daemon, within) = match phase {
            Phase::Start => {
                if let Some(daemon) = self.daemon.take() {
                    self.cast.stage.signal(daemon, Signal::SIGKILL);
                    self.cast.stage.end(daemon);
                }
                (self.spawn(), self.start + self.start / 4)
            }
            Phase::Loop => (self.running(), LONG),
            Phase::Reload => {
                let daemon = self.running();
                self.wording = self.wording.next();
                self.cast.policy(self.wording);
                self.cast.stage.signal(daemon, Signal::SIGHUP);
                (daemon, LONG)
            }
            Phase::Release => {
                let daemon = self.running();
                self.cast.stage.signal(daemon, Signal::SIGTERM);
                (daemon, LONGER)
            }
        };
        let pause = self.dice.pause(Duration::ZERO..within);
        std::thread::sleep(pause);
        self.cast.stage.signal(daemon, Signal::SIGKILL);
        self.cast.stage.end(daemon);
        self.daemon = None;
        pause
    }

    /// Somebody puts back what a killed daemon left; at times that one is killed, too.
    fn release(&mut self) {
        if self.dice.below(3) == 0 {
            let mut command = self.cast.stage.cotenant(&["release"]);
            let pid = self.cast.stage.run(command.stdout(Stdio::null()).stderr(Stdio::null()));
            std::thread::sleep(self.dice.pause(Duration::ZERO..LONGER));
            self.cast.stage.signal(pid, Signal::SIGKILL);
            self.cast.stage.end(pid);
        }
        let released = self.cast.stage.ask(&["release"]);
        assert_eq!((released.status.code(), &released.stderr[..]), (Some(0), &b""[..]), "{released:?}");
        self.cast.assert_untouched();
        let journal = fs::read_to_string(self.cast.stage.path("run/journal")).unwrap();
        assert_eq!(journal.lines().count(), 1, "{journal}");
    }

    /// Another daemon takes over.
    fn take_over(&mut self) {
        self.running();
        self.cast.settle(Some(self.wording));
        assert!(!self.cast.stage.log().contains("left as it is"), "{}", self.cast.stage.log());
    }
}

#[test]
fn a_daemon_may_be_killed_at_any_moment() {
    let Some(stage) = stage() else { return };
    let dice = Dice::new();
    let Some(cast) = Cast::new(stage) else { return };
    let kills = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    cast.begin();
    let mut run = Run { cast, dice, wording: Wording::One, daemon: None, start: LONG };
    run.take_over();
    for kill in 1..=kills {
        let phase = run.dice.one(&PHASES);
        let after = run.kill(phase);
        println!("kill {kill}: {phase:?} after {after:?}, {:?}", run.wording);
        if kill % 2 == 0 { run.release() } else { run.take_over() }
    }
}
