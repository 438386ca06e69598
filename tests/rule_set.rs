//! A rule set of the size people really have: every planted defect is found at its line, in time and memory that do not
//! matter.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::run;
use nix::sys::resource::{UsageWho, getrusage};

/// Classes in the largest rule set known.
const CLASSES: usize = 15_800;

/// Debug builds are some twenty times slower, and nobody checks policies with one.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20_000 } else { 500 });
const MEBIBYTES: i64 = if cfg!(debug_assertions) { 200 } else { 100 };

/// One at a time: what children spent is only known in sum.
static ALONE: Mutex<()> = Mutex::new(());

/// Classes of one predicate, one a line, with the predicates that such sets use.
fn rule_set(classes: usize) -> Vec<String> {
    (0..classes)
        .map(|at| match at % 5 {
            0 => format!("class app-{at}: match comm app{at};"),
            1 => format!("class app-{at}: match exe /usr/bin/app-{at};"),
            2 => format!("batch class app-{at}: match exe \"app {at} *\";"),
            3 => format!("class app-{at}: match unit \"app-{at}@*.service\";"),
            _ => format!("batch class app-{at}: match cgroup /system.slice/app-{at}.service/**;"),
        })
        .collect()
}

/// Processor time of all children so far, and the most memory that any of them had.
fn spent() -> (Duration, i64) {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let time = [usage.user_time(), usage.system_time()]
        .map(|it| Duration::from_secs(it.tv_sec() as u64) + Duration::from_micros(it.tv_usec() as u64));
    (time.iter().sum(), usage.max_rss() / 1024)
}

fn lint(rules: &[String]) -> String {
    let file = tempfile::NamedTempFile::with_suffix(".policy").unwrap();
    std::fs::write(file.path(), rules.join("\n")).unwrap();
    let path = file.path().to_str().unwrap();
    run(&["lint", "--topology", "core:8 pu:2", "--format", "short", path]).stderr.replace(path, "")
}

#[test]
fn every_planted_defect_is_found_at_its_line() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rules = rule_set(CLASSES);
    let defects: BTreeMap<usize, (&str, String)> = [
        (7, ("undefined-processes", "class bad-0: match games;")),
        (1_234, ("blank-at-end", "class bad-1: match comm \"steam \";")),
        (4_000, ("syntax", "class bad-2: match exe lutris junk;")),
        (7_777, ("comm-too-long", "class bad-3: match comm gnome-terminal-server;")),
        (12_345, ("unknown-clause", "class bad-4: match exe a, nise 3;")),
        (15_799, ("defined-twice", "class app-1: match exe other;")),
    ]
    .into_iter()
    .map(|(line, (code, rule))| (line, (code, rule.to_owned())))
    .collect();
    for (line, (_, rule)) in &defects {
        rules[*line - 1].clone_from(rule);
    }
    let (before, _) = spent();
    let said = lint(&rules);
    let (after, most) = spent();
    let found: BTreeMap<usize, String> = said
        .lines()
        .filter_map(|line| {
            let (place, finding) = line.split_once(": error[")?;
            Some((place.split(':').nth(1)?.parse().unwrap(), finding.split(']').next()?.to_owned()))
        })
        .collect();
    let expected: BTreeMap<usize, String> = defects.iter().map(|(at, (code, _))| (*at, (*code).to_owned())).collect();
    assert_eq!(found, expected);
    assert!(after - before < TIME, "{:?}", after - before);
    assert!(most < MEBIBYTES, "{most} MiB");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute without optimisation")]
fn time_grows_no_worse_than_n_log_n() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut times = String::new();
    let mut per_unit = Vec::new();
    for classes in [10_000_usize, 30_000, 100_000] {
        let rules = rule_set(classes);
        let (before, _) = spent();
        assert!(!lint(&rules).contains(": error["));
        let time = spent().0 - before;
        per_unit.push(time.as_secs_f64() / (classes as f64 * (classes as f64).ln()));
        write!(times, "{classes}: {time:?}; ").unwrap();
    }
    // Twice is what a busy machine makes of it; a quadratic part would be ten times.
    assert!(per_unit[2] < 2.0 * per_unit[0], "{times}");
}
