//! What a sensor changes about a plan.

use super::*;
use crate::compile_on;

fn sensed(text: &str, topology: &Topology) -> Plan {
    let facilities = Facilities { sensor: true, ..Facilities::default() };
    compile_on(SourceSet::one("p.policy", text), topology, facilities).0.unwrap()
}

fn means(placement: &Placement, clause: &str) -> Means {
    placement.clauses.iter().find(|it| it.text.starts_with(clause)).unwrap().means
}

#[test]
fn all_cpus_are_open_and_nothing_follows_the_load() {
    let plan = sensed("rt class web: prefer idle core, spill to siblings;", &machine(4, 2));
    let web = placed(&plan, "web");
    assert!(web.spread && !web.is_reactive() && plan.is_reactive());
    assert_eq!((web.reach(), web.spill_below), (set("0-7"), None));
    assert_eq!(means(web, "prefer"), Means::Sensor);
    assert_eq!(means(web, "spill"), Means::Sensor);
}

#[test]
fn more_cores_to_spare_than_one_are_left_to_the_tick_loop_as_well() {
    let plan = sensed("class web: prefer idle core, spill to siblings below 2 idle cores;", &machine(4, 2));
    let web = placed(&plan, "web");
    assert!(web.spread && web.is_reactive());
    assert_eq!((web.spill_below, means(web, "spill")), (Some(2), Means::TickLoop));
}

#[test]
fn threads_that_cannot_be_moved_and_machines_with_nothing_to_see_stay_with_the_tick_loop() {
    let hold = sensed("rt class web: prefer idle core, hold equal prio;", &machine(4, 2));
    assert_eq!((placed(&hold, "web").spread, placed(&hold, "web").spill_below), (false, Some(1)));
    let gated = sensed("batch: prefer idle core, only when core idle;", &machine(4, 2));
    let batch = placed(&gated, "batch");
    assert_eq!((batch.spread, batch.spill_below, means(batch, "only when")), (false, Some(1), Means::Sensor));
    let flat = sensed("fair class x: prefer idle core, only when core idle;", &machine(4, 1));
    assert_eq!((placed(&flat, "x").spread, means(placed(&flat, "x"), "only when")), (false, Means::TickLoop));
}

#[test]
fn classes_beyond_what_a_sensor_tells_apart_are_kept_by_the_tick_loop() {
    let many = Facilities::SENSED_CLASSES + 2;
    let text: String = (0..many).map(|at| format!("class c{at}: match exe c{at}, prefer idle core;\n")).collect();
    let plan = sensed(&text, &machine(4, 2));
    let spread = plan.classes.iter().filter(|class| class.placement.as_ref().unwrap().spread).count();
    assert_eq!((plan.classes.len(), spread), (many, Facilities::SENSED_CLASSES));
}
