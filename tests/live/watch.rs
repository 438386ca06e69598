//! `status --watch` at a terminal: what it shows, what keys do, and that the terminal is as before in the end.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::Signal;

use vt100::Color;

use super::stage::{Stage, stage, until};

/// A terminal of 80 columns and 24 lines, and what is on it.
struct Screen {
    master: File,
    parser: Arc<Mutex<vt100::Parser>>,
}

impl Screen {
    /// Starts it there, and gives its process.
    fn of(stage: &mut Stage, arguments: &[&str]) -> (Screen, u32) {
        Screen::with(stage, arguments, |_| ())
    }

    /// The same, with something changed about the command.
    fn with(stage: &mut Stage, arguments: &[&str], change: impl Fn(&mut Command)) -> (Screen, u32) {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let slave = |slave: &OwnedFd| Stdio::from(slave.try_clone().unwrap());
        let mut command = stage.cotenant(arguments);
        command.env("TERM", "xterm").env_remove("NO_COLOR").stdout(slave(&pty.slave)).stderr(slave(&pty.slave));
        change(&mut command);
        let pid = stage.run_at(&mut command, slave(&pty.slave));
        drop((command, pty.slave));
        let parser = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let (mut reader, shown) = (File::from(pty.master.try_clone().unwrap()), Arc::clone(&parser));
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            // An error is the end of whoever wrote.
            while let Ok(length) = reader.read(&mut some) {
                shown.lock().unwrap().process(&some[..length]);
            }
        });
        (Screen { master: File::from(pty.master), parser }, pid)
    }

    fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Whether anything on it has a colour.
    fn is_coloured(&self) -> bool {
        let parser = self.parser.lock().unwrap();
        let cells = (0..24).flat_map(|row| (0..80).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| parser.screen().cell(row, column)).any(|cell| cell.fgcolor() != Color::Default)
    }

    fn shows(&self, what: &str) {
        until(what, || self.text().contains(what));
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether the terminal shows what it did before.
    fn is_as_before(&self) -> bool {
        let parser = self.parser.lock().unwrap();
        !parser.screen().alternate_screen() && !parser.screen().hide_cursor()
    }
}

const POLICY: &str = "class web: match exe @/web, nice 3; class batch: match exe @/batch, nice 9;";

#[test]
fn what_is_in_force_is_drawn_and_keys_do_what_people_expect() {
    let Some(mut stage) = stage() else { return };
    for name in ["web", "batch"] {
        stage.sleeper(name);
    }
    let policy = stage.policy("p.policy", POLICY);
    stage.daemon(&policy, &[]);
    let (mut screen, pid) = Screen::of(&mut stage, &["status", "--watch", "--interval", "0.2"]);
    screen.shows("> ■ web");
    assert!(!screen.is_as_before(), "on a screen of its own");
    screen.shows("nice 3");
    screen.press("\u{1b}[B");
    screen.shows("> ■ batch");
    screen.shows("nice 9");
    assert!(!screen.text().contains("nice 3"), "the clauses are those of the chosen class: {}", screen.text());
    screen.press("/web\r");
    screen.shows("only what has `web`");
    assert!(!screen.text().contains("■ batch"), "{}", screen.text());
    screen.press("?");
    screen.shows("any key closes it");
    screen.press("x\u{1b}");
    screen.shows("■ batch");
    // Another policy is seen without a key.
    stage.policy("p.policy", &POLICY.replace("batch", "spare"));
    screen.shows("■ spare");
    screen.press("q");
    assert_eq!(stage.end(pid), Some(0));
    until("the screen before", || screen.is_as_before());
}

#[test]
fn no_colour_is_shown_to_whoever_wants_none() {
    let Some(mut stage) = stage() else { return };
    stage.sleeper("web");
    let policy = stage.policy("p.policy", POLICY);
    stage.daemon(&policy, &[]);
    for (wanted, value) in [(true, ""), (false, "1")] {
        let set = |command: &mut Command| {
            command.env("NO_COLOR", value);
        };
        let (mut screen, pid) = Screen::with(&mut stage, &["status", "--watch"], set);
        screen.shows("q quit");
        assert_eq!(screen.is_coloured(), wanted, "NO_COLOR={value}");
        screen.press("q");
        assert_eq!(stage.end(pid), Some(0));
    }
}

#[test]
fn the_terminal_is_put_right_whatever_ends_it() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", POLICY);
    let daemon = stage.daemon(&policy, &[]);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let (screen, pid) = Screen::of(&mut stage, &["status", "--watch"]);
        screen.shows("q quit");
        stage.signal(pid, signal);
        assert_eq!(stage.end(pid), Some(128 + signal as i32));
        until("the screen before", || screen.is_as_before());
    }
    // Without a daemon there is nothing to watch.
    let (screen, pid) = Screen::of(&mut stage, &["status", "--watch", "--interval", "0.1"]);
    screen.shows("q quit");
    stage.signal(daemon, Signal::SIGTERM);
    stage.end(daemon);
    assert_eq!(stage.end(pid), Some(2));
    screen.shows("nothing is enforced");
    assert!(screen.is_as_before());
    let piped = stage.ask(&["status", "--watch"]);
    assert!(String::from_utf8_lossy(&piped.stderr).contains("`cotenant status` prints once"), "{piped:?}");
}
