use proptest::prelude::*;
use proptest::sample::Index;

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
        earlier: Earlier {
            sched: Some(SchedState::of(SchedPolicy::Batch)),
            cpus: Some("0-1".parse().unwrap()),
            cookie: Some(Given::Common(Cookie(7))),
            was: Some(Before { sched: SchedState::of(SchedPolicy::Idle), mask: Mask::Only("2".parse().unwrap()) }),
        },
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
    assert_eq!(before, Left::default());
    let wrote = Wrote { sched: Some(SchedState::of(SchedPolicy::Idle)), ..Wrote::default() };
    let again = thread(1, wrote);
    let gone = Record::Gone { pid: Pid(2) };
    journal.append(&[process(1), thread(1, Wrote::default()), process(2), thread(2, Wrote::default())]).unwrap();
    journal.append(&[again.clone(), gone, group("/g")]).unwrap();
    drop(journal);
    let (journal, left) = Journal::open(run.path(), proc).unwrap();
    assert_eq!(left.records, [process(1), again, group("/g")]);
    journal.remove().unwrap();
    assert_eq!(Journal::open(run.path(), proc).unwrap().1, Left::default());
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
        let (journal, left) = Journal::open(run.path(), proc).unwrap();
        assert_eq!((left.records.len(), left.illegible.len()), (complete, 0), "cut at {length}");
        // And what was made of it is whole.
        drop(journal);
        assert_eq!(Journal::open(run.path(), proc).unwrap().1, left);
    }
}

#[test]
fn lines_that_say_nothing_are_reported_and_cost_no_other() {
    let run = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(run.path(), Path::new("/proc")).unwrap();
    journal.append(&[process(1)]).unwrap();
    let path = run.path().join("journal");
    let spoil = |bytes: &[u8]| OpenOptions::new().append(true).open(&path).unwrap().write_all(bytes).unwrap();
    spoil(b"\xff\xfe\x00\nthread pid=1 tid=1\n");
    journal.append(&[process(2)]).unwrap();
    spoil(b"thread pid=99 tid=\xff");
    let (_, left) = Journal::open(run.path(), Path::new("/proc")).unwrap();
    assert_eq!(left.records, [process(1), process(2)]);
    let said = left.damage(&path).unwrap().to_string();
    assert!(
        said.contains("(and 1 more lines)` from ") && said.contains("/journal: ") && said.contains("stays as it is"),
        "{said}"
    );
}

#[test]
fn a_journal_in_other_words_is_reported_as_a_whole() {
    let left = read(b"cotenant-journal 2 boot=b\nprocess pid=1 start=1 cpuset=/ freezer=-\n", "b");
    assert_eq!((left.records.len(), left.illegible.len()), (0, 2));
}

proptest! {
    #[test]
    fn any_bytes_are_read(before in any::<Vec<u8>>(), after in any::<Vec<u8>>(), at in any::<Index>()) {
        let mut text = format!("{HEADER} boot=b\n{}\n{}\n", process(1), thread(1, Wrote::default())).into_bytes();
        let at = at.index(text.len());
        text.splice(at..at, before);
        text.extend(after);
        read(&text, "b");
    }
}

#[test]
fn another_boots_journal_is_void() {
    let text = b"cotenant-journal 1 boot=a\ngone pid=1\nprocess pid=1 start=1 cpuset=/ freezer=-\n";
    assert_eq!(read(text, "b"), Left::default());
}

#[test]
fn a_directory_that_others_can_write_in_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let run = tempfile::tempdir().unwrap();
    prepare_directory(run.path()).unwrap();
    fs::set_permissions(run.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = prepare_directory(run.path()).unwrap_err();
    assert!(error.to_string().contains("others must not be able to write to it"), "{error}");
    let below = run.path().join("below");
    assert!(prepare_directory(&below).is_err(), "somebody could put another one in its place");
    fs::set_permissions(run.path(), fs::Permissions::from_mode(0o755)).unwrap();
    prepare_directory(&below).unwrap();
    std::os::unix::fs::symlink(&below, run.path().join("link")).unwrap();
    assert!(prepare_directory(&run.path().join("link")).is_err(), "a link is no directory");
}

#[test]
fn links_planted_in_the_run_directory_are_not_followed() {
    let run = tempfile::tempdir().unwrap();
    let victim = run.path().join("victim");
    let plant = |name: &str| {
        fs::write(&victim, "untouched").unwrap();
        std::os::unix::fs::symlink(&victim, run.path().join(name)).unwrap();
    };
    let unharmed = || assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    let planted = |error: KernelError| assert!(error.to_string().contains("a symbolic link stands"), "{error}");
    plant("journal");
    planted(Journal::open(run.path(), Path::new("/proc")).err().unwrap());
    unharmed();
    fs::remove_file(run.path().join("journal")).unwrap();
    // What the journal is written anew in is made anew itself.
    plant("journal.new");
    drop(Journal::open(run.path(), Path::new("/proc")).unwrap());
    unharmed();
    plant("lock");
    match crate::lock::RunLock::take(run.path()).unwrap_err() {
        crate::lock::Busy::Kernel(error) => planted(error),
        busy => panic!("{busy}"),
    }
    unharmed();
    plant("moving");
    planted(moving::MovingFile::create(run.path(), &crate::procfs::Procfs::new("/proc")).err().unwrap());
    unharmed();
    plant("control.sock");
    drop(crate::control::Control::listen(run.path()).unwrap());
    unharmed();
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
