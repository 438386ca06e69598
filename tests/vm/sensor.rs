//! The sensor on real siblings: who is moved, and that nobody's mask is left narrower than it was asked for.

use std::sync::OnceLock;

use super::machine::{Kernel, Run, boot, skipped};
use super::record::Record;

fn run() -> Option<&'static Run> {
    static RUN: OnceLock<Run> = OnceLock::new();
    let boot = || boot(Kernel::Newer, "8,sockets=1,cores=4,threads=2", include_str!("guest/sensor.sh"));
    (!skipped()).then(|| RUN.get_or_init(boot))
}

#[test]
fn threads_that_share_a_core_are_moved_and_the_status_says_by_what() {
    let Some(run) = run() else { return };
    let status = run.all("status");
    assert!(status.iter().any(|line| line.starts_with("watched by the sensor, 0.1 ms: ")), "{status:?}");
    assert!(status.iter().any(|line| line.contains("sensor") && line.ends_with("reactive, 0.1 ms")), "{status:?}");
    // Figures to look at: how often a host lets emulated CPUs stand still is nobody's doing here.
    for how in ["stock", "sensor"] {
        let share = run.get(&format!("share.{how}"));
        let numbers = Record::of(share);
        let [crowded, ran] = ["crowded", "ran"].map(|key| numbers.number(key));
        eprintln!("{how}: {:.1} % of web's time on shared cores while another was idle", 100.0 * crowded / ran);
    }
}

#[test]
fn masks_follow_a_cpuset_that_widens_and_a_thread_keeps_one_of_its_own() {
    let Some(run) = run() else { return };
    for key in ["narrow", "wide", "wide.more", "own"] {
        run.is(key, "yes");
    }
}

#[test]
fn whatever_a_killed_daemon_left_is_mended() {
    let Some(run) = run() else { return };
    for (key, mask) in [("mended", "0-3 0-7"), ("mended.more", "0-7"), ("mended.young", "0-7")] {
        assert!(run.all(key).len() == 5 && run.all(key).iter().all(|masks| masks == mask), "{key}: {:?}", run.all(key));
    }
    run.is("after", "0-3 0-7");
    run.is("after.more", "0-7");
}
