//! Placing, keeping placed, putting back.

use std::fs;
use std::process::Command;
use std::time::Instant;

use nix::sys::signal::Signal;

use super::stage::{FIFO, IDLE, Kernel, OTHER, RR, kernel, last_cpu, stage, until};

#[test]
fn the_smallest_policy_places_by_names_alone() {
    let Some(mut stage) = stage() else { return };
    // By name, so the programs are called what the classes are called, and no other test's are: this daemon would place those, too.
    let (web_name, batch_name) = (format!("w{}", std::process::id()), format!("b{}", std::process::id()));
    let text = format!(
        "rt class {web_name}: prefer idle core, push equal prio; batch class {batch_name}: only when core idle"
    );
    let policy = stage.policy("p.policy", &text);
    let (web, batch) = (stage.sleeper(&web_name), stage.sleeper(&batch_name));
    let before = (kernel(web), kernel(batch));
    let daemon = stage.daemon(&policy, &[]);
    assert_eq!((kernel(web).policy, kernel(web).priority), (RR, 1));
    assert_eq!(kernel(batch).policy, IDLE);
    let later = stage.sleeper(&web_name);
    until("the later one", || kernel(later).policy == RR);
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!((kernel(web), kernel(batch), kernel(later)), (before.0.clone(), before.1, before.0));
}

#[test]
fn siblings_are_overflow_and_batch_is_gated_on_a_machine_played_with_smt() {
    let Some(mut stage) = stage() else { return };
    let text = "rt class web: match exe @/web, prefer idle core; batch: match exe @/batch, only when core idle;";
    let policy = stage.policy("p.policy", text);
    let (web, batch) = (stage.sleeper("web"), stage.sleeper("batch"));
    let before = (kernel(web), kernel(batch));
    let daemon = stage.daemon(&policy, &["--topology", "pack:1 core:1 pu:2", "--eyes", "tick"]);
    assert_eq!(kernel(web).cpus, "0", "the front; the sibling is overflow");
    assert_eq!(kernel(batch).policy, IDLE);
    let status = stage.status();
    let clause = |class: usize, at: usize| status["classes"][class]["clauses"][at]["strength"].clone();
    assert_eq!((clause(0, 1), clause(1, 1)), ("reactive".into(), "reactive".into()), "{status:#}");
    until("ticks", || stage.status()["daemon"]["ticks"].as_u64().unwrap() > 10);
    stage.signal(daemon, Signal::SIGINT);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!((kernel(web), kernel(batch)), before);
    assert!(!stage.has_groups());
}

#[test]
fn a_new_process_is_placed_soon_after_its_exec() {
    let Some(mut stage) = stage() else { return };
    let cpu = last_cpu();
    let policy = stage.policy("p.policy", &format!("rt class web: match exe @/web, on cpu {cpu}, fifo, priority 3;"));
    stage.daemon(&policy, &[]);
    let program = stage.program("web", "/bin/sleep");
    let mut waits = Vec::new();
    for _ in 0..50 {
        let pid = stage.run(Command::new(&program).arg("120"));
        let exe = format!("/proc/{pid}/exe");
        until("its exec", || fs::read_link(&exe).is_ok_and(|exe| exe == program));
        let start = Instant::now();
        while kernel(pid) != (Kernel { policy: FIFO, priority: 3, nice: 0, cpus: cpu.clone() }) {
            assert!(start.elapsed() < super::stage::PATIENCE, "{:?}", kernel(pid));
        }
        waits.push(start.elapsed());
    }
    waits.sort_unstable();
    // A figure to look at, not one to fail by: this host may be doing anything else.
    eprintln!("placed after exec was seen: median {:?}, longest {:?}", waits[waits.len() / 2], waits[waits.len() - 1]);
}

#[test]
fn all_threads_are_placed_those_that_come_later_too() {
    let Some(mut stage) = stage() else { return };
    let script = "import threading, time, sys\n\
        started = [threading.Thread(target=time.sleep, args=(120,), daemon=True) for _ in range(8)]\n\
        [thread.start() for thread in started[:4]]\n\
        while not __import__('os').path.exists(sys.argv[1]): time.sleep(0.001)\n\
        [thread.start() for thread in started[4:]]\n\
        time.sleep(120)\n";
    let python = which("python3");
    let Some(python) = python else { return eprintln!("passed over: no python3 to make threads with") };
    let go = stage.path("go");
    let cpu = last_cpu();
    let text = format!("rt class many: match arg @/go, on cpu {cpu}, priority 2;");
    let policy = stage.policy("p.policy", &text);
    let pid = stage.run(Command::new(python).args(["-c", script]).arg(&go));
    let tids = || -> Vec<u32> {
        let entries = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    };
    until("five threads", || tids().len() == 5);
    let before = kernel(pid);
    let daemon = stage.daemon(&policy, &[]);
    let wanted = Kernel { policy: RR, priority: 2, nice: 0, cpus: cpu };
    assert!(tids().iter().all(|tid| kernel(*tid) == wanted), "those that were there");
    fs::write(&go, "").unwrap();
    until("nine threads as wanted", || tids().len() == 9 && tids().iter().all(|tid| kernel(*tid) == wanted));
    let status = stage.status();
    let class = &status["classes"][0];
    assert_eq!((&class["threads"], &class["conforming"]), (&9.into(), &9.into()), "{status:#}");
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert!(tids().iter().all(|tid| kernel(*tid) == before));
}

#[test]
fn what_was_set_by_hand_before_comes_back_by_hand_set() {
    let Some(mut stage) = stage() else { return };
    let pid = stage.sleeper("web");
    let cpu = last_cpu();
    for command in [&["taskset", "-pc", &cpu][..], &["renice", "-n", "7", "-p"][..]] {
        let set = Command::new(command[0]).args(&command[1..]).arg(pid.to_string()).output().unwrap();
        assert!(set.status.success(), "{set:?}");
    }
    let before = kernel(pid);
    assert_eq!((before.nice, before.cpus.as_str()), (7, cpu.as_str()));
    let policy = stage.policy("p.policy", "rt class web: match exe @/web, on cpu 0, push equal prio;");
    let daemon = stage.daemon(&policy, &[]);
    assert_eq!((kernel(pid).policy, kernel(pid).cpus), (RR, "0".to_owned()));
    stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(stage.end(daemon), Some(0));
    assert_eq!(kernel(pid), before);
}

#[test]
fn a_daemon_that_was_killed_is_cleaned_up_after_by_release() {
    let Some(mut stage) = stage() else { return };
    let pid = stage.sleeper("web");
    let before = kernel(pid);
    let cpu = last_cpu();
    let policy = stage.policy("p.policy", &format!("rt class web: match exe @/web, on cpu {cpu};"));
    let daemon = stage.daemon(&policy, &[]);
    assert_eq!(kernel(pid).policy, RR);
    stage.signal(daemon, Signal::SIGKILL);
    stage.end(daemon);
    assert_eq!(kernel(pid).policy, RR, "nobody was there to put it back");
    let released = stage.ask(&["release"]);
    assert_eq!(String::from_utf8_lossy(&released.stdout), "1 process put back\n", "{released:?}");
    assert_eq!(kernel(pid), before);
    assert!(!stage.has_groups());
}

#[test]
fn an_exec_leaves_the_class_and_gets_back_what_it_would_have_had() {
    let Some(mut stage) = stage() else { return };
    let (shell, leaf) = (stage.program("web", "/bin/sh"), stage.program("leaf", "/bin/sleep"));
    let go = stage.path("go");
    let script = format!("while [ ! -e {} ]; do :; done; exec {} 120", go.display(), leaf.display());
    let policy = stage.policy("p.policy", &format!("rt class web: match exe @/web, on cpu {};", last_cpu()));
    stage.daemon(&policy, &[]);
    let pid = stage.run(Command::new(&shell).args(["-c", &script]));
    until("the class", || kernel(pid).policy == RR);
    fs::write(&go, "").unwrap();
    let all = kernel(std::process::id()).cpus;
    until("the way back", || kernel(pid) == Kernel { policy: OTHER, priority: 0, nice: 0, cpus: all.clone() });
}

fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.exists())
}
