//! Two tables to check by eye.

use std::fmt::Write;

use super::machines::plain;
use super::*;

/// Two cores of two threads, CPUs 0 and 1 being one core: `W. ..` says that `who` ran on CPU 0. A column for each demand
/// of web. `w` is a CPU that web may use now, `b` one that batch may use, `+` one that both may.
fn table(who: char, load: impl Fn(CpuSet, usize) -> Load) -> String {
    let stage = Stage::new("rt class web: prefer idle core; batch: only when core idle;", &plain(2, 2));
    let draw = |mark: &dyn Fn(CpuId) -> char| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|cpu| mark(CpuId(cpu)));
        format!("{a}{b} {c}{d}")
    };
    let mut text = String::from("ran on   0       1       2       3       4       5\n");
    for occupancy in 0..16_u64 {
        let on = CpuSet::from_words(vec![occupancy]);
        write!(text, "{} ", draw(&|cpu| if on.contains(cpu) { who } else { '.' })).unwrap();
        for demand in 0..=5 {
            let now = stage.after(&[load(on.clone(), demand)]);
            let [Some(web), Some(batch)] = &now.classes[..] else { panic!() };
            let may = draw(&|cpu| match (web.cpus.contains(cpu), !batch.frozen && batch.cpus.contains(cpu)) {
                (true, true) => '+',
                (true, false) => 'w',
                (false, true) => 'b',
                (false, false) => '.',
            });
            write!(text, "   {may}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn one(foreign: CpuSet, web: CpuSet, demand: usize) -> Load {
    let classes = vec![ClassLoad { ran_on: web, demand }, ClassLoad::default()];
    Load { elapsed: Duration::from_millis(10), foreign, classes, ..Load::default() }
}

#[test]
fn where_web_and_batch_may_run_once_web_ran() {
    insta::assert_snapshot!(table('W', |on, demand| one(CpuSet::new(), on, demand)));
}

#[test]
fn where_web_and_batch_may_run_once_somebody_else_ran() {
    insta::assert_snapshot!(table('X', |on, demand| one(on, CpuSet::new(), demand)));
}
