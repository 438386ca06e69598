//! `status --watch`: asks and draws again and again until a key ends it, and leaves the terminal as it was.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cotenant_compiler::CpuId;
use cotenant_compiler::topology::Topology;
use cotenant_enforcer::control::{Request, ask};
use cotenant_enforcer::procfs::{CpuTimes, CpuTimesReader, Procfs};
use cotenant_enforcer::roots::Roots;
use nix::sys::signal::{SigSet, Signal};
use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;

use crate::enforced::{Enforced, nothing_enforced};
use crate::failure::Failure;
use crate::render::{Gaze, Key, Scene, draw};
use crate::terminal::Look;

/// Shows what the daemon of this run directory enforces, anew after each `interval`.
pub(super) fn watch(roots: &Roots, interval: Duration) -> Result<(), Failure> {
    if !(std::io::stdout().is_terminal() && std::io::stdin().is_terminal()) {
        return Err(Failure::new("`--watch` draws on a terminal, and this is none")
            .help("`cotenant status` prints once, and `cotenant status --format json` for programs"));
    }
    let mut eyes = Eyes::new(roots);
    // Before the terminal changes: what is wrong now is said on it as it is.
    let mut scene = eyes.look(&roots.run)?;
    restore_on_signals()?;
    let fail = |error: std::io::Error| Failure::new(format!("the terminal cannot be drawn on: {error}"));
    let mut terminal = ratatui::try_init().map_err(fail)?;
    let done = (|| {
        let mut gaze = Gaze::default();
        loop {
            show(&mut terminal, &scene, &mut gaze).map_err(fail)?;
            let next = Instant::now() + interval;
            while event::poll(next.saturating_duration_since(Instant::now())).map_err(fail)? {
                match event::read().map_err(fail)? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        if known(key).is_some_and(|key| !gaze.key(key)) {
                            return Ok(());
                        }
                    }
                    Event::Resize(..) => {}
                    _ => continue,
                }
                show(&mut terminal, &scene, &mut gaze).map_err(fail)?;
            }
            scene = eyes.look(&roots.run)?;
        }
    })();
    ratatui::restore();
    done
}

fn show(terminal: &mut DefaultTerminal, scene: &Scene, gaze: &mut Gaze) -> std::io::Result<()> {
    scene.settle(gaze);
    let mut page = 0;
    terminal.draw(|frame| page = draw(frame, scene, gaze))?;
    gaze.fit(page);
    Ok(())
}

/// What is looked at, and what was seen before.
struct Eyes {
    procfs: Procfs,
    reader: CpuTimesReader,
    before: Vec<CpuTimes>,
    /// The machine of the policy in force.
    machine: Option<Topology>,
    answers: u32,
}

/// Answers after which the machine is asked for again: CPUs come and go seldom.
const MACHINE_AFTER: u32 = 10;

impl Eyes {
    fn new(roots: &Roots) -> Eyes {
        let procfs = Procfs::new(&roots.proc);
        Eyes { procfs, reader: CpuTimesReader::default(), before: Vec::new(), machine: None, answers: 0 }
    }

    fn look(&mut self, run: &Path) -> Result<Scene, Failure> {
        let answer = ask(run, Request::Status)?.ok_or_else(|| nothing_enforced(run))?;
        let machine = match self.machine.take() {
            Some(machine) if !self.answers.is_multiple_of(MACHINE_AFTER) => machine,
            _ => Enforced::of_daemon(run)?.machine,
        };
        self.answers = self.answers.wrapping_add(1);
        self.machine = Some(machine.clone());
        let now = self.reader.read(&self.procfs)?.to_vec();
        let loads = loads(&self.before, &now);
        self.before = now;
        Scene::new(&String::from_utf8_lossy(&answer), machine, loads, Look::of_stdout().colour)
    }
}

/// What part of the time between each CPU was at work.
fn loads(before: &[CpuTimes], now: &[CpuTimes]) -> BTreeMap<CpuId, f64> {
    let before: BTreeMap<CpuId, &CpuTimes> = before.iter().map(|times| (times.cpu, times)).collect();
    let load = |now: &CpuTimes| {
        let before = before.get(&now.cpu)?;
        let (busy, idle) = (now.busy.saturating_sub(before.busy), now.idle.saturating_sub(before.idle));
        let all = busy + idle;
        (all > 0).then(|| (now.cpu, busy as f64 / all as f64))
    };
    now.iter().filter_map(load).collect()
}

/// Has whoever is told to end put the terminal right first. The keyboard's own signals are keys here.
fn restore_on_signals() -> Result<(), Failure> {
    let fail = |error: String| Failure::new(format!("signals cannot be waited for: {error}"));
    let mut ends = SigSet::empty();
    [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT].into_iter().for_each(|signal| ends.add(signal));
    ends.thread_block().map_err(|errno| fail(errno.to_string()))?;
    let wait = move || {
        if let Ok(signal) = ends.wait() {
            // Kept until the end, so that no frame follows on the screen of before.
            let _drawing = std::io::stdout().lock();
            ratatui::restore();
            // What draws does that at its own end, which does not come.
            let _ = execute!(std::io::stdout(), Show);
            // As shells report the end by a signal.
            std::process::exit(128 + signal as i32);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop).map_err(|error| fail(error.to_string()))
}

fn known(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Interrupt,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_what_a_cpu_did_since_and_nothing_is_said_of_one_that_came() {
        let times = |cpu, busy, idle| CpuTimes { cpu: CpuId(cpu), busy, idle, stolen: 0 };
        let before = [times(0, 10, 10), times(1, 10, 10)];
        let now = [times(0, 13, 11), times(1, 10, 9), times(2, 5, 5)];
        assert_eq!(loads(&before, &now), [(CpuId(0), 0.75)].into());
    }
}
