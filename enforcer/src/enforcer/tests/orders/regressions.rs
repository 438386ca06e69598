//! Histories that ended wrongly once, as they were shrunk.

use super::history::Act::{Change, Exec, Exit, Fork, Quit, Run, Thread};
use super::history::By::{Mask, Nice, Nobody, Policy};
use super::history::Step::{self, Hear, Kill, Lose, Meanwhile, Release, Reload, Start, Then};
use super::*;

fn ends_well(version: Option<Version>, steps: &[Step]) {
    if let Err(error) = play(version, steps) {
        panic!("{error}");
    }
}

fn ends_well_everywhere(steps: &[Step]) {
    [Some(Version::V1), Some(Version::V2), None].into_iter().for_each(|version| ends_well(version, steps));
}

#[test]
fn a_fork_that_was_not_heard_of_is_released_with_its_parent() {
    ends_well_everywhere(&[Then(Run("/bin/a", "/", Nobody, 0)), Start(0), Then(Fork(0, 0, 0)), Release]);
}

#[test]
fn a_fork_from_before_its_parent_changed_class_is_known_for_what_it_is() {
    ends_well_everywhere(&[
        Then(Run("/bin/a", "/", Nobody, 1)),
        Start(0),
        Then(Fork(0, 0, 0)),
        Then(Thread(0, 0, 0)),
        Then(Exec(1, 0, "/bin/b")),
        Meanwhile(1, Fork(1, 0, 0)),
        Meanwhile(1, Run("/bin/a", "/", Nobody, 0)),
        Then(Run("/bin/a", "/", Nobody, 0)),
    ]);
}

#[test]
fn threads_that_are_made_after_an_exec_keep_their_record_when_it_is_heard_of() {
    let reset_on_fork = Policy(SchedPolicy::Batch, 0, 2, true);
    ends_well_everywhere(&[Start(0), Then(Run("/bin/a", "/", reset_on_fork, 0)), Then(Thread(0, 0, 0)), Reload(5)]);
}

#[test]
fn a_thread_that_is_made_while_its_process_moves_has_not_asked_for_where_it_is() {
    ends_well(
        Some(Version::V1),
        &[
            Then(Run("/bin/b", "/", Nobody, 0)),
            Start(0),
            Meanwhile(8, Thread(0, 0, 0)),
            Reload(4),
            Then(Run("/bin/a", "/", Nobody, 0)),
        ],
    );
}

#[test]
fn a_process_whose_leader_has_ended_is_moved_back() {
    ends_well(
        Some(Version::V1),
        &[
            Then(Run("/bin/b", "/", Nobody, 1)),
            Start(0),
            Meanwhile(1, Thread(0, 0, 1)),
            Reload(1),
            Then(Fork(0, 0, 0)),
            Then(Quit(1, 0)),
        ],
    );
}

#[test]
fn a_thread_that_asked_for_other_cpus_than_its_next_class_has_gets_the_rest_all_the_same() {
    ends_well(
        Some(Version::V1),
        &[
            Start(0),
            Reload(6),
            Then(Run("/bin/b", "/", Mask("5-7"), 0)),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Hear(2),
            Reload(4),
        ],
    );
}

#[test]
fn an_orphan_found_before_its_fork_was_heard_of_is_put_back_to_what_its_parent_was() {
    for next in [0, 2] {
        ends_well_everywhere(&[
            Then(Run("/bin/a", "/", Nobody, 0)),
            Start(0),
            Then(Fork(3, 0, 0)),
            Then(Exit(0, false)),
            Reload(next),
            Then(Run("/bin/a", "/", Nobody, 0)),
        ]);
    }
}

#[test]
fn a_double_fork_is_followed_though_the_process_between_has_ended() {
    ends_well_everywhere(&[
        Then(Run("/bin/a", "/", Nobody, 0)),
        Start(0),
        Then(Fork(0, 0, 13)),
        Then(Fork(1, 0, 14)),
        Then(Exit(1, true)),
    ]);
}

#[test]
fn a_mask_that_somebody_set_is_theirs_after_a_restart_too() {
    ends_well_everywhere(&[
        Then(Run("/bin/b", "/", Nobody, 0)),
        Start(4),
        Then(Run("/bin/a", "/", Nobody, 0)),
        Kill,
        Then(Change(6, 0, Mask("1,3,5"))),
        Then(Run("/bin/a", "/", Nobody, 0)),
    ]);
}

#[test]
fn a_mask_that_somebody_set_where_none_was_written_is_what_the_next_class_begins_with() {
    ends_well_everywhere(&[
        Start(0),
        Then(Run("/bin/b", "/", Nobody, 0)),
        Then(Run("/bin/a", "/", Nobody, 0)),
        Reload(0),
        Then(Change(6, 0, Mask("1,3,5"))),
        Then(Exec(6, 0, "/bin/a")),
        Release,
        Then(Run("/bin/a", "/", Nobody, 0)),
    ]);
}

#[test]
fn a_nice_value_that_somebody_set_does_not_keep_the_classs_policy() {
    ends_well_everywhere(&[
        Then(Run("/bin/a", "/", Nobody, 0)),
        Start(0),
        Then(Change(0, 0, Nice(6))),
        Then(Fork(0, 0, 0)),
        Release,
    ]);
}

#[test]
fn who_leaves_with_the_class_is_in_none_of_the_next_plan_meanwhile() {
    ends_well(
        Some(Version::V1),
        &[
            Then(Run("/bin/b", "/", Nobody, 0)),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Then(Run("/bin/b", "/", Nobody, 0)),
            Start(0),
            Then(Change(2, 0, Mask("1,3,5"))),
            Reload(6),
        ],
    );
}

#[test]
fn a_fork_stays_in_no_group_that_its_parent_has_left() {
    ends_well(
        Some(Version::V1),
        &[Then(Run("/bin/c", "/", Nobody, 0)), Start(6), Meanwhile(1, Fork(0, 0, 0)), Then(Exec(0, 0, "/bin/a"))],
    );
}

#[test]
fn a_thread_that_was_not_seen_before_it_executed_a_program_has_not_asked_for_what_it_has() {
    for (version, exec, thread) in [(Version::V1, 53, 30), (Version::V2, 51, 29)] {
        ends_well(
            Some(version),
            &[
                Then(Run("/bin/a", "/narrow", Nobody, 7)),
                Then(Run("/bin/a", "/", Nobody, 7)),
                Meanwhile(exec, Exec(1, 1, "/bin/a")),
                Then(Run("/bin/a", "/", Nobody, 7)),
                Meanwhile(thread, Thread(1, 0, 0)),
                Then(Run("/bin/c", "/narrow", Nobody, 6)),
                Then(Run("/bin/a", "/", Nobody, 6)),
                Then(Change(0, 0, Nice(6))),
                Start(2),
            ],
        );
    }
}

#[test]
fn a_process_whose_leader_ends_while_it_is_looked_at_is_known_by_its_threads() {
    ends_well(
        Some(Version::V1),
        &[
            Start(7),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Meanwhile(18, Quit(4, 2)),
            Then(Thread(6, 0, 0)),
            Hear(1),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Then(Run("/bin/a", "/", Nobody, 0)),
            Hear(3),
            Reload(0),
        ],
    );
}

#[test]
fn a_child_with_the_id_of_a_former_thread_is_known_for_what_it_is() {
    ends_well(
        Some(Version::V2),
        &[
            Then(Run("/bin/a", "/", Mask("0,2"), 0)),
            Start(1),
            Then(Thread(0, 0, 0)),
            Reload(0),
            Then(Exec(0, 0, "/bin/a")),
            Then(Exec(0, 0, "/bin/c")),
            Meanwhile(1, Fork(0, 0, 0)),
        ],
    );
}

#[test]
fn a_mask_that_somebody_set_is_theirs_where_the_group_is_narrowed_next() {
    ends_well(
        Some(Version::V1),
        &[
            Start(0),
            Meanwhile(1, Fork(0, 0, 6)),
            Then(Run("/bin/a", "/one", Nobody, 0)),
            Reload(4),
            Lose(1),
            Hear(3),
            Then(Quit(0, 0)),
            Then(Fork(0, 0, 0)),
            Then(Exec(5, 0, "/bin/b")),
            Hear(2),
            Then(Change(1, 0, Mask("2-4"))),
            Reload(1),
        ],
    );
}

#[test]
fn a_process_with_the_id_of_a_member_is_not_taken_for_it() {
    ends_well_everywhere(&[
        Then(Run("/bin/a", "/narrow", Nobody, 3)),
        Start(0),
        Then(Run("/bin/b", "/narrow", Nobody, 3)),
        Then(Exit(6, true)),
        Then(Run("/bin/a", "/narrow", Nobody, 3)),
    ]);
}

#[test]
fn what_an_ended_process_had_been_given_is_known_until_all_of_its_forks_are_heard_of() {
    ends_well_everywhere(&[
        Meanwhile(7, Quit(0, 0)),
        Start(0),
        Then(Run("/bin/b", "/", Nobody, 6)),
        Then(Thread(0, 0, 0)),
        Reload(4),
        Then(Fork(0, 0, 0)),
        Then(Exit(1, false)),
        Reload(0),
    ]);
}

#[test]
fn a_thread_that_executed_a_program_while_nobody_watched_is_known_for_what_it_is() {
    ends_well_everywhere(&[
        Meanwhile(1, Thread(0, 0, 0)),
        Then(Run("/bin/b", "/", Nobody, 17)),
        Start(0),
        Then(Fork(0, 0, 0)),
        Meanwhile(1, Exit(6, false)),
        Reload(6),
        Meanwhile(1, Exec(1, 1, "/bin/a")),
        Then(Run("/bin/a", "/", Nobody, 0)),
        Kill,
    ]);
}

#[test]
fn a_child_of_somebody_with_a_mask_of_its_own_has_all_of_that_where_its_group_shows_less() {
    ends_well_everywhere(&[
        Meanwhile(8, Fork(0, 0, 0)),
        Then(Run("/bin/b", "/one", Nobody, 0)),
        Then(Change(0, 0, Mask("1,3,5"))),
        Start(6),
        Hear(1),
    ]);
}

#[test]
fn what_a_childs_group_does_not_show_is_credited_when_its_fork_is_heard_of() {
    ends_well_everywhere(&[
        Meanwhile(40, Fork(0, 0, 0)),
        Start(0),
        Meanwhile(1, Exit(2, true)),
        Then(Run("/bin/b", "/", Mask("0,2"), 6)),
        Then(Run("/bin/a", "/", Nobody, 0)),
        Reload(1),
        Release,
    ]);
}

/// Of two that began in the same hundredth of a second the ids do not tell which is the parent.
#[test]
fn parents_are_looked_at_before_their_children() {
    let mut world = World::new(None);
    for step in [Then(Run("/bin/a", "/", Nobody, 20)), Then(Fork(0, 0, 3)), Then(Exec(0, 0, "/bin/d")), Start(1)] {
        world.step(&step);
    }
    let child = Tid(crate::fake::FIRST + 4);
    assert_eq!(crate::fake::lock(&world.touched).sched(child).unwrap().nice, 4, "a descendant of its class");
}
