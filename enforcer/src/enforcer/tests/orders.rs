//! Any order of starts, forks, execs, exits, reloads, restarts and losses ends in the same state: histories are made up at
//! random, played on a [kernel of their own](crate::fake), and held against what a daemon does that starts when all is over.
//!
//! `HISTORIES=1000000` plays that many instead of [`HISTORIES`], `SEED=7` others. A failure is shrunk to a history of a few
//! steps, which can be put into `regressions` as it is printed.

mod history;
mod policies;
mod regressions;
mod truth;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::*;
use history::{Step, steps};
use world::World;

/// How many are played, over all kinds of hosts.
const HISTORIES: u32 = 10_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays one history to its end.
fn play(version: Option<Version>, steps: &[Step]) -> Result<(), String> {
    let mut world = World::new(version);
    steps.iter().for_each(|step| world.step(step));
    truth::hold(world)
}

/// Plays a part of the histories, in hundredths, on a host with control groups of that version.
fn play_many(version: Option<Version>, part: u64) {
    let histories = number("HISTORIES").unwrap_or(u64::from(HISTORIES)) * part / 100;
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number("SEED").unwrap_or(1).to_le_bytes());
    let config =
        Config { cases: histories as u32, max_shrink_iters: 100_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let played = runner.run(&steps(), |steps| play(version, &steps.0).map_err(TestCaseError::fail));
    if let Err(failure) = played {
        panic!("{failure}");
    }
}

#[test]
fn every_order_ends_the_same_with_groups_of_version_1() {
    play_many(Some(Version::V1), 50);
}

#[test]
fn every_order_ends_the_same_with_groups_of_version_2() {
    play_many(Some(Version::V2), 30);
}

#[test]
fn every_order_ends_the_same_without_groups() {
    play_many(None, 20);
}
