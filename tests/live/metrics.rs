//! Metrics of a running daemon say what the kernel and `status` say, by HTTP and in a file.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use nix::sys::signal::Signal;

use super::stage::{Stage, stage, until};

const POLICY: &str = "class web: match exe @/web, nice 3; class none: match exe @/none;";

/// A daemon with these options, and a process of class `web`.
fn daemon(stage: &mut Stage, options: &[&str]) -> u32 {
    stage.program("web", "/bin/sleep");
    stage.sleeper("web");
    let policy = stage.policy("p.policy", POLICY);
    stage.daemon(&policy, options)
}

/// The address that the daemon says it serves at.
fn address(stage: &Stage) -> SocketAddr {
    let log = stage.log();
    log.split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .unwrap_or_else(|| panic!("{log}"))
        .parse()
        .unwrap()
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The value of one line.
fn value(text: &str, metric: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {metric} in {text}")).to_owned()
}

#[test]
fn what_is_scraped_is_what_is_in_force() {
    let Some(mut stage) = stage() else { return };
    daemon(&mut stage, &["--metrics", "127.0.0.1:0"]);
    let address = address(&stage);
    let get = || ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the member", || value(&get(), "cotenant_class_threads_conforming{class=\"web\"}") == "1");
    let (text, status) = (get(), stage.status());
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())) && body.ends_with("# EOF\n"), "{text}");
    assert_eq!(value(body, "cotenant_class_members{class=\"web\"}"), "1");
    assert_eq!(value(body, "cotenant_class_members{class=\"none\"}"), "0");
    assert_eq!(value(body, "cotenant_placed_total"), status["daemon"]["placed"].to_string());
    assert_eq!(value(body, "cotenant_not_enforced"), "0");
    // A broken edit is counted, and the class stays.
    stage.policy("p.policy", "class web: match exe @/web, nise 3;");
    until("the refusal", || value(&get(), "cotenant_reloads_total{outcome=\"refused\"}") == "1");
    assert_eq!(value(&get(), "cotenant_class_members{class=\"web\"}"), "1");
    // Whatever else is asked for.
    assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    // More than a request can be is not even read, and the next one is answered.
    let _ = TcpStream::connect(address).unwrap().write_all(&[b'x'; 1 << 16]);
    assert!(ask(address, "HEAD /metrics HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
}

#[test]
fn a_client_that_says_nothing_keeps_nobody_waiting_for_long() {
    let Some(mut stage) = stage() else { return };
    let daemon = daemon(&mut stage, &["--metrics", "127.0.0.1:0"]);
    let address = address(&stage);
    let threads = || fs::read_dir(format!("/proc/{daemon}/task")).unwrap().count();
    let before = threads();
    let mut silent: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    silent.iter_mut().for_each(|stream| stream.write_all(b"G").unwrap());
    // The daemon itself is kept from nothing.
    assert_eq!(stage.status()["classes"][0]["name"], "web");
    assert!(ask(address, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("# EOF\n"), "after those before it");
    assert_eq!(threads(), before);
    // Signals are the daemon's, whichever thread there is beside it.
    stage.signal(daemon, Signal::SIGTERM);
    stage.end(daemon);
    assert!(stage.log().contains("everything is put back"), "{}", stage.log());
}

#[test]
fn the_file_is_whole_at_any_time_and_gone_at_the_end() {
    let Some(mut stage) = stage() else { return };
    let file = stage.path("cotenant.prom");
    let daemon = daemon(&mut stage, &["--metrics-file", file.to_str().unwrap()]);
    let text = || fs::read_to_string(&file).unwrap();
    until("the first numbers", || text().contains("cotenant_class_members{class=\"web\"} 1"));
    assert!(text().ends_with("# EOF\n"));
    stage.signal(daemon, Signal::SIGTERM);
    stage.end(daemon);
    assert!(!file.exists());
}

#[test]
fn what_cannot_be_served_or_written_is_said_before_anything_is_placed() {
    let Some(stage) = stage() else { return };
    let policy = stage.policy("p.policy", POLICY);
    let refused = |option: &str, value: &str| {
        let output = stage.ask(&["enforce", policy.to_str().unwrap(), option, value]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused("--metrics", "192.0.2.1:9778").contains("cannot be listened to"));
    assert!(refused("--metrics", "localhost").contains("such as `127.0.0.1:9778`"));
    assert!(refused("--metrics-file", "/proc/nowhere/x.prom").contains("name a file in a directory"));
    assert!(!Path::new(&stage.path("run/journal")).exists());
}
