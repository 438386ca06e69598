//! A daemon tells its service manager what sd_notify(3) has words for. The manager is played by a socket.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::stage::{PATIENCE, stage};

/// The next message that is not of the watchdog.
fn next(manager: &UnixDatagram) -> String {
    loop {
        let message = any(manager);
        if message != "WATCHDOG=1\n" {
            return message;
        }
    }
}

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
    assert_eq!(next(&manager), "READY=1\n");
    for _ in 0..3 {
        assert_eq!(any(&manager), "WATCHDOG=1\n", "an idle daemon has nothing else to say");
    }
    for text in ["class a: match exe @/a, nice 2;", "class a: nise;"] {
        stage.policy("p.policy", text);
        stage.signal(daemon, Signal::SIGHUP);
        let reloading = next(&manager);
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap_or_else(|| panic!("{reloading}"));
        assert!(time.trim_end().parse::<u64>().unwrap() > 0);
        assert_eq!(next(&manager), "READY=1\n", "wrong or right, one is in force");
    }
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(next(&manager), "STOPPING=1\n");
    assert_eq!(stage.end(daemon), Some(0));
    manager.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    assert!(manager.recv(&mut [0; 512]).is_err(), "nothing after that");
}
