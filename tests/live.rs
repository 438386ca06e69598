//! The real binary on real processes, read back from the kernel.
//!
//! Programs have paths, groups and run directories of the test's own, and everything is ended when a test is over, also
//! after a failure. Placing needs root, as the product does; without it these tests say so and pass over.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "live/apply.rs"]
mod apply;
#[path = "live/cast.rs"]
mod cast;
#[path = "live/contest.rs"]
mod contest;
#[path = "live/crash.rs"]
mod crash;
#[path = "live/dice.rs"]
mod dice;
#[path = "live/enforce.rs"]
mod enforce;
#[path = "live/enforced.rs"]
mod enforced;
#[path = "live/exec.rs"]
mod exec;
#[path = "live/hostile.rs"]
mod hostile;
#[path = "live/kubernetes.rs"]
mod kubernetes;
#[path = "live/metrics.rs"]
mod metrics;
#[path = "live/naming.rs"]
mod naming;
#[path = "live/overflow.rs"]
mod overflow;
#[path = "live/privilege.rs"]
mod privilege;
#[path = "live/refusals.rs"]
mod refusals;
#[path = "live/reload.rs"]
mod reload;
#[path = "live/sandbox.rs"]
mod sandbox;
#[path = "live/sensor.rs"]
mod sensor;
#[path = "live/service.rs"]
mod service;
#[path = "live/soak.rs"]
mod soak;
#[path = "live/stage.rs"]
mod stage;
#[path = "live/watch.rs"]
mod watch;
#[path = "live/why.rs"]
mod why;
#[path = "live/world.rs"]
mod world;
