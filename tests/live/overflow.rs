//! Events that are lost because the daemon could not read them in time: counted, and made up for by a look at everything.

use std::fs;

use nix::sys::signal::Signal;

use super::cast::{Cast, Wording};
use super::stage::{stage, until};

/// Events that are more than the connector's buffer holds: it has 32 MiB, and an event counts for half a KiB there at least.
const TOO_MANY: usize = 80_000;

#[test]
fn nothing_is_missed_for_good_when_events_are_lost() {
    let Some(stage) = stage() else { return };
    let Some(mut cast) = Cast::new(stage) else { return };
    let policy = cast.policy(Wording::One);
    let daemon = cast.stage.daemon(&policy, &["--topology", "pack:1 core:1 pu:2"]);
    let lost = |cast: &Cast| cast.stage.status()["daemon"]["lost"].as_u64().unwrap();
    assert_eq!(lost(&cast), 0);
    // Stopped, it reads nothing, while everybody begins to come and go. A new name is the cheapest of all events.
    cast.stage.signal(daemon, Signal::SIGSTOP);
    let own = format!("/proc/self/task/{}/comm", nix::unistd::gettid());
    let name = fs::read(&own).unwrap();
    (0..TOO_MANY).for_each(|_| fs::write(&own, &name).unwrap());
    cast.begin();
    // The batch may be frozen at this moment.
    until("children of every other class", || {
        let found = cast.found();
        ["leaf", "webnap", "guestnap"].iter().all(|name| found.iter().filter(|it| it.name == *name).count() > 3)
    });
    cast.stage.signal(daemon, Signal::SIGCONT);
    until("the loss to be seen", || lost(&cast) > 0);
    assert!(cast.stage.log().contains("process events were lost: everything was looked at again"));
    cast.settle(Some(Wording::One));
    // Also what was made unseen becomes what it would have been.
    cast.stage.signal(daemon, Signal::SIGTERM);
    assert_eq!(cast.stage.end(daemon), Some(0), "{}", cast.stage.log());
    cast.assert_untouched();
}
