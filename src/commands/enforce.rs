//! `cotenant enforce`.

mod journal;
mod log;
mod metrics;
mod policy;
mod service;

use std::time::Duration;

use clap::{Args, ValueEnum};
use cotenant_compiler::plan::Facilities;
use cotenant_compiler::topology::TopologySource;
use cotenant_enforcer::daemon::{self, DaemonError, Notice, Settings, UNHEARD};
use cotenant_enforcer::hotplug::Hotplug;
use cotenant_enforcer::lock::Busy;
use cotenant_enforcer::sensor::Sensor;

use crate::cli::PolicyPaths;
use crate::enforcing::{Place, machine, ready, shed};
use crate::failure::Failure;
use crate::host;
use crate::outcome::Outcome;
use metrics::Metrics;
use policy::{Machine, PolicyOnDisk};

/// Keep a policy true until told to stop
///
/// Places what runs, then every process as it starts, follows the load where the policy asks for it, and reads the policy
/// again whenever its files change or CPUs go offline or come online. A changed policy that is wrong is reported and the
/// running one stays. SIGTERM, SIGINT and `cotenant release` put everything back as it was.
///
/// Needs root, or CAP_SYS_NICE. Also of use, and kept where it is there: CAP_SYS_PTRACE for telling other users' programs and
/// for core-scheduling cookies, CAP_NET_ADMIN for process events, CAP_BPF and CAP_PERFMON for the sensor, and on version 1 of
/// control groups CAP_DAC_OVERRIDE for groups of its own. Everything else is given up before the policy is read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant enforce /etc/cotenant/policies   every policy of a directory, as a service would run it
  cotenant enforce --tick 5ms web.policy    look at the load twice as often
  cotenant enforce --eyes tick web.policy   without a program in the kernel
  COTENANT_LOG=debug cotenant enforce web.policy

Signals:
  TERM, INT  put everything back and end
  HUP        read the policy again now, changed or not, and look again at users, groups, CPUs and what this host offers;
             `cotenant reload` asks for the same and waits for what comes of it")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    /// Time between two looks at the load, while a class follows it: 1ms to 1s.
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = tick)]
    tick: Duration,
    /// Play this machine as another, to try a policy out: levels or a file as for `plan`. CPUs that go offline or come online
    /// are not followed then.
    #[arg(long = "topology", value_name = "T", default_value = "live")]
    source: TopologySource,
    /// What watches for clauses that the kernel does not keep by itself.
    #[arg(long, value_enum, default_value_t = Eyes::Auto)]
    eyes: Eyes,
    #[command(flatten)]
    metrics: Metrics,
    #[command(flatten)]
    place: Place,
}

/// How to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Eyes {
    /// The sensor where it can be had, else the tick loop.
    Auto,
    /// A BPF program that sees every switch, and reacts within 0.1 ms; an error where it cannot be had.
    Sensor,
    /// A look at the load every tick.
    Tick,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let lacks = shed(&options.place)?;
    // Before the first look, so that no CPU comes or goes between. One that is played has those that it was given.
    let hotplug = (options.source == TopologySource::Live).then(Hotplug::open).transpose();
    let machine = machine(&options.source)?;
    let settings = Settings { roots: options.place.roots(), tick: options.tick };
    let (sensor, without) = match options.eyes {
        Eyes::Tick => (None, None),
        Eyes::Sensor => (Some(Sensor::open(&settings.roots, &machine)?), None),
        Eyes::Auto => match Sensor::open(&settings.roots, &machine) {
            Ok(sensor) => (Some(sensor), None),
            Err(error) => (None, Some(error)),
        },
    };
    let facilities = Facilities { sensor: sensor.is_some(), ..host::facilities() };
    let Some(ready) = ready(&options.policy.paths, &machine, facilities)? else { return Ok(Outcome::Refused) };
    log::start();
    lacks.iter().for_each(|lack| log::notice(&Notice::Weaker(lack.means, &lack.error)));
    if let Some(error) = without.filter(|_| ready.plan.is_reactive()) {
        log::notice(&Notice::Weaker("there is no sensor, and the tick loop watches instead", &error));
    }
    if let Err(error) = &hotplug {
        log::notice(&Notice::Weaker(UNHEARD, error));
    }
    let machine = Machine { source: options.source.clone(), topology: machine, facilities };
    let mut host = PolicyOnDisk::new(&options.policy.paths, machine, ready.sources);
    let eyes = daemon::Eyes { sensor, hotplug: hotplug.ok().flatten() };
    let kept = options.metrics.start(&settings.roots)?;
    let pass = daemon::run(&settings, ready.plan, eyes, &mut host)?;
    drop(kept);
    Ok(if pass.failures.is_empty() { Outcome::Done } else { Outcome::InPart })
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Failure {
        match error {
            DaemonError::Busy(busy) => busy.into(),
            DaemonError::Kernel(error) => error.into(),
        }
    }
}

impl From<Busy> for Failure {
    fn from(busy: Busy) -> Failure {
        match busy {
            Busy::Held { .. } => Failure::new(busy.to_string())
                .help("`cotenant status` shows what it enforces, and `cotenant release` ends it"),
            Busy::Kernel(error) => error.into(),
        }
    }
}

/// `10ms`, `0.5s`, `2000us`.
fn tick(text: &str) -> Result<Duration, String> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let number = |(unit, scale): (&str, f64)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * scale);
    let seconds = units.into_iter().find_map(number).ok_or("write a time such as `10ms`")?;
    match (0.001..=1.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("from `1ms` to `1s`".to_owned()),
    }
}
