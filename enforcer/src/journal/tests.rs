use super::*;
use crate::cookies::Given;
use crate::ids::{Pid, Tid};
use crate::member::Origin;
use crate::sys::core_sched::Cookie;
use crate::sys::sched::{Deadline, SchedPolicy, SchedState};
use crate::thread::{Before, Earlier, Mask, Touched, Wrote};

fn thread(pid: i32, wrote: Wrote) -> Record {
    let deadline = Deadline { runtime: 1, deadline: 2, period: 3, reclaim: true, overrun_signal: false };
    let sched =
        SchedState { deadline: Some(deadline), nice: -3, reset_on_fork: true, ..SchedState::of(SchedPolicy::Deadline) };
    let before = Before { sched, mask: Mask::Only("0-3,8".parse().unwrap()) };
    Record::Thread { pid: Pid(pid), tid: Tid(pid + 1), touched: Touched { start: 99, before, wrote } }
}

fn process(pid: i32) -> Record {
    let origin = Origin { cpuset: PathBuf::from("/a b/c%d/é"), freezer: Some(PathBuf::from("/")) };
    Record::Process { pid: Pid(pid), start: 7, origin }
}

fn group(path: &str) -> Record {
    let (before, wrote) = (Default::default(), "1".parse().unwrap());
    Record::Group { path: PathBuf::from(path), before, wrote, frozen: true }
}

#[test]
fn every_record_is_read_as_it_was_written() {
    let wrote = Wrote {
        sched: Some(SchedState::of(SchedPolicy::Idle)),
        cpus: Some("2".parse().unwrap()),
        cookie: Some(Given::Own(Cookie(0xfedc_ba98_7654_3210))),
        earlier: Earlier { sched: Some(SchedState::of(SchedPolicy::Batch)), cpus: Some("0-1".parse().unwrap()) },
    };
    for record in [thread(4, Wrote::default()), thread(4, wrote), process(5), group("/x")] {
        let line = record.to_string();
        assert_eq!(Record::parse(&line), Some(record), "{line}");
    }
}

#[test]
fn a_later_run_sees_what_still_matters() {
    let run = tempfile::tempdir().unwrap();
    let proc = Path::new("/proc");
    let (mut journal, before) = Journal::open(run.path(), proc).unwrap();
    assert_eq!(before, []);
    let wrote = Wrote { sched: Some(SchedState::of(SchedPolicy::Idle)), ..Wrote::default() };
    let again = thread(1, wrote);
    let gone = Record::Gone { pid: Pid(2) };
    journal.append(&[process(1), thread(1, Wrote::default()), process(2), thread(2, Wrote::default())]).unwrap();
    journal.append(&[again.clone(), gone, group("/g")]).unwrap();
    drop(journal);
    let (journal, records) = Journal::open(run.path(), proc).unwrap();
    assert_eq!(records, [process(1), again, group("/g")]);
    journal.remove().unwrap();
    assert_eq!(Journal::open(run.path(), proc).unwrap().1, []);
}

#[test]
fn a_journal_cut_anywhere_loses_its_last_line_at_most() {
    let run = tempfile::tempdir().unwrap();
    let proc = Path::new("/proc");
    let (mut journal, _) = Journal::open(run.path(), proc).unwrap();
    journal.append(&[process(1), process(2), process(3)]).unwrap();
    drop(journal);
    let path = run.path().join("journal");
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        assert_eq!(read(&fs::read_to_string(&path).unwrap(), &boot(&whole)).len(), complete, "cut at {length}");
    }
}

fn boot(whole: &[u8]) -> String {
    let line = std::str::from_utf8(whole).unwrap().lines().next().unwrap();
    line.rsplit('=').next().unwrap().to_owned()
}

#[test]
fn another_boots_journal_is_void() {
    assert_eq!(read("cotenant-journal 1 boot=a\ngone pid=1\nprocess pid=1 start=1 cpuset=/ freezer=-\n", "b"), []);
}

#[test]
fn a_directory_that_others_can_write_in_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let run = tempfile::tempdir().unwrap();
    prepare_directory(run.path()).unwrap();
    fs::set_permissions(run.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(prepare_directory(run.path()).is_err());
}

#[test]
fn a_journal_has_grown_when_most_of_it_is_old() {
    let run = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(run.path(), Path::new("/proc")).unwrap();
    let gone: Vec<Record> = (0..=FEW_LINES as i32).map(|pid| Record::Gone { pid: Pid(pid) }).collect();
    assert!(!journal.has_grown());
    journal.append(&gone).unwrap();
    assert!(journal.has_grown());
    journal.rewrite(&gone).unwrap();
    assert!(!journal.has_grown(), "what matters is not too much");
}
