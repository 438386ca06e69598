//! A daemon tells its service manager what sd_notify(3) has words for. The manager is played by a socket.

use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::stage::{PATIENCE, stage};

/// The next message that is not of the watchdog.
fn next(manager: &UnixDatagram) -> String {
    loop {
        let message = any(manager);
        if message != ALIVE {
            return message;
        }
    }
}

const ALIVE: &str = "WATCHDOG=1\n";
const READY: &str = "READY=1\nSTATUS=the policy is in force\n";

fn any(manager: &UnixDatagram) -> String {
    let mut bytes = [0; 512];
    let length = manager.recv(&mut bytes).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[test]
fn the_manager_hears_of_start_reload_and_end_and_all_the_time_of_life() {
    let Some(mut stage) = stage() else { return };
    let socket = stage.path("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let policy = stage.policy("p.policy", "class a: match exe @/a, nice 1;");
    let mut command = stage.cotenant(&["enforce", policy.to_str().unwrap()]);
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "200000");
    let daemon = stage.daemon_of(command);
    assert_eq!(next(&manager), READY);
    for _ in 0..3 {
        assert_eq!(any(&manager), ALIVE, "an idle daemon has nothing else to say");
    }
    let wrong = "STATUS=the changed policy is wrong, keeping the one before: error[unknown-clause]: no clause begins with `nise`\n";
    let cases =
        [("class a: match exe @/a, nice 2;", 0, READY.to_owned()), ("class a: nise;", 1, format!("READY=1\n{wrong}"))];
    for (text, code, ready) in cases {
        // Written elsewhere and renamed, and the daemon asked at once: it does not get to see it by itself.
        stage.policy(".new", text);
        std::fs::rename(stage.path(".new"), &policy).unwrap();
        let reload = stage.ask(&["reload"]);
        assert_eq!(reload.status.code(), Some(code), "{reload:?}");
        let reloading = next(&manager);
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap_or_else(|| panic!("{reloading}"));
        assert!(time.trim_end().parse::<u64>().unwrap() > 0);
        assert_eq!(next(&manager), ready, "wrong or right, one is in force");
    }
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(next(&manager), "STOPPING=1\nSTATUS=putting everything back\n");
    assert_eq!(stage.end(daemon), Some(0));
    manager.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    assert!(manager.recv(&mut [0; 512]).is_err(), "nothing after that");
}

#[test]
fn lines_for_the_journal_have_its_priorities_and_only_those() {
    let Some(mut stage) = stage() else { return };
    let policy = stage.policy("p.policy", "class a: match exe @/a, nice 1;");
    std::fs::write(stage.path("daemon.log"), "").unwrap();
    let log = std::fs::metadata(stage.path("daemon.log")).unwrap();
    // The stream that the daemon writes to, and one that it inherited the name of and that leads elsewhere.
    for (inode, is_journal) in [(log.ino(), true), (log.ino() + 1, false)] {
        let mut command = stage.cotenant(&["enforce", policy.to_str().unwrap()]);
        command.env("JOURNAL_STREAM", format!("{}:{inode}", log.dev()));
        let daemon = stage.daemon_of(command);
        stage.policy(".new", "class a: nise;");
        std::fs::rename(stage.path(".new"), &policy).unwrap();
        assert_eq!(stage.ask(&["reload"]).status.code(), Some(1));
        let log = stage.log();
        if is_journal {
            assert!(log.contains("<6>the policy is in force placed=0\n"), "{log}");
            let (_, refusal) = log.split_once("<3>the changed policy is wrong, keeping the one before\n").unwrap();
            let shown: Vec<&str> = refusal.lines().take_while(|line| line.starts_with("<3>")).collect();
            assert!(shown.len() > 3 && shown.concat().contains("write `nice`"), "{log}");
            assert!(log.lines().all(|line| line.starts_with('<')), "{log}");
        } else {
            assert!(log.contains("INFO the policy is in force placed=0\n") && !log.contains('<'), "{log}");
        }
        stage.signal(daemon, Signal::SIGTERM);
        assert_eq!(stage.end(daemon), Some(0));
        stage.policy("p.policy", "class a: match exe @/a, nice 1;");
    }
}
