//! Journals that were cut short or written to by others: what can be read is put back, the rest is said, and nobody panics.

use super::*;
use crate::journal::Journal;

/// Cuts tried, spread over the whole journal; all of them are read in the journal's own tests.
const CUTS: usize = 24;

const TEXT: &str = "rt class a: match exe @/a, priority 7; rt class b: match exe @/b, priority 8;
    class c: match exe @/c, nice 5, on cpu 0;";

/// An enforcer that ends without a word, and its journal.
fn left(stage: &Stage) -> Vec<u8> {
    let mut enforcer = stage.start(stage.plan(TEXT, &machine(1)));
    enforcer.scan().unwrap();
    drop(enforcer);
    std::fs::read(Journal::path_in(&stage.roots.run)).unwrap()
}

fn recover(stage: &Stage, journal: &[u8]) -> Pass {
    std::fs::write(Journal::path_in(&stage.roots.run), journal).unwrap();
    let (_, pass) = Enforcer::start(stage.roots.clone(), stage.plan("", &machine(1))).unwrap();
    assert!(!stage.has_groups());
    pass
}

#[test]
fn of_a_journal_cut_anywhere_what_is_legible_is_put_back() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let pids = ["a", "b", "c"].map(|name| (stage.sleeper(name), name));
    pids.iter().for_each(|(pid, name)| settled(*pid, name));
    let before = pids.map(|(pid, _)| kernel(pid));
    let length = left(&stage).len();
    recover(&stage, &std::fs::read(Journal::path_in(&stage.roots.run)).unwrap());
    for cut in (0..=length).step_by(length / CUTS) {
        let whole = left(&stage);
        let torn = &whole[..cut.min(whole.len())];
        assert_eq!(recover(&stage, torn).failures, [], "cut at {cut}");
        let lines = torn.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &torn[..end]);
        let lines = String::from_utf8(lines.to_vec()).unwrap();
        for ((pid, _), before) in pids.iter().zip(&before) {
            let tells = |line: &&str| line.starts_with(&format!("thread pid={pid} ")) && !line.contains("wrote=-");
            match lines.lines().find(tells) {
                Some(_) => assert_eq!(kernel(*pid), *before, "cut at {cut}"),
                // It cannot be known; but it is in no group, and the test itself puts it back.
                None => sched::set(pid.leader(), &SchedState::of(SchedPolicy::Other)).unwrap(),
            }
        }
    }
}

#[test]
fn garbage_costs_nothing_that_is_legible_and_is_reported() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let pid = stage.sleeper("a");
    settled(pid, "a");
    let before = kernel(pid);
    let mut journal = left(&stage);
    journal.extend(
        b"\xff\xfe\n\nthread pid=1 tid=1 start=\nprocess pid=9999999999 start=1 cpuset=/ freezer=-\nthread pid=1 t\xff",
    );
    let pass = recover(&stage, &journal);
    assert_eq!(kernel(pid), before);
    let [failure] = &pass.failures[..] else { panic!("{pass:?}") };
    assert!(failure.to_string().contains("(and 2 more lines)"), "{failure}");
    // Once: what is legible was kept, and the rest is gone.
    assert_eq!(recover(&stage, &std::fs::read(Journal::path_in(&stage.roots.run)).unwrap()).failures, []);
}

#[test]
fn what_was_written_before_goes_back_where_the_last_write_was_recorded_and_not_made() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let pid = stage.sleeper("a");
    settled(pid, "a");
    let before = kernel(pid);
    let mut enforcer = stage.start(stage.plan("rt class a: match exe @/a, priority 7;", &machine(1)));
    enforcer.scan().unwrap();
    enforcer.adopt(stage.plan("rt class a: match exe @/a, priority 8;", &machine(1))).unwrap();
    drop(enforcer);
    // As if the run had been killed between the two.
    sched::set(pid.leader(), &SchedState { priority: 7, ..SchedState::of(SchedPolicy::RoundRobin) }).unwrap();
    let journal = std::fs::read(Journal::path_in(&stage.roots.run)).unwrap();
    recover(&stage, &journal);
    assert_eq!(kernel(pid), before);
}
