//! The status of a daemon as metrics: text of OpenMetrics 1.0, which Prometheus and its kin read.

use cotenant_compiler::CpuSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use super::status_json::{Class, Daemon, Document, LastReload, Sensor};
use crate::failure::Failure;

type Labels = Vec<(&'static str, String)>;

/// The daemon's answer as metrics.
pub(crate) fn metrics(answer: &str) -> Result<String, Failure> {
    let document = Document::read(answer)?;
    let mut registry = Registry::with_prefix("cotenant");
    daemon(&document.daemon, &mut registry);
    classes(&document, &mut registry);
    if let Some(seen) = &document.daemon.sensor {
        sensor(seen, registry.sub_registry_with_prefix("sensor"));
    }
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Failure::new(format!("the metrics cannot be written: {error}")))?;
    Ok(text)
}

fn daemon(daemon: &Daemon, registry: &mut Registry) {
    let of = vec![("version", daemon.version.clone()), ("eyes", daemon.eyes.clone())];
    // A gauge: node-exporter refuses a whole file for one metric of the type `info`, which its format does not have.
    let build = Family::<Labels, Gauge>::default();
    build.get_or_create(&of).set(1);
    registry.register("build_info", "The daemon, and what watches for clauses that the kernel does not keep", build);
    let is =
        |last: &Option<LastReload>, words: &[&str]| last.as_ref().is_some_and(|last| words.contains(&&*last.outcome));
    // One that failed for a machine is forgotten with the next change of it only, so it says nothing of now.
    let refused = is(&daemon.last_reload, &["refused", "failed"]) || is(&daemon.last_machine, &["refused"]);
    let help = "1 while the policy as it is on disk, or for the machine as it is, is not in force";
    registry.register("policy_refused", help, ConstGauge::new(i64::from(refused)));
    let counters = [
        ("events", "Process events followed", daemon.events),
        ("event_losses", "Times events were lost, each answered by a look at everything", daemon.lost),
        ("ticks", "Looks at the load", daemon.ticks),
        ("placed", "Processes placed", daemon.placed),
        ("released", "Processes put back because they left their class", daemon.released),
        (
            "contests",
            "Processes that became contested: others change again and again what their class insists on",
            daemon.contested,
        ),
    ];
    count(registry, counters);
    let reloads = Family::<Labels, Counter>::default();
    for (outcome, number) in &daemon.reloads {
        reloads.get_or_create(&vec![("outcome", outcome.clone())]).inc_by(*number);
    }
    registry.register("reloads", "Times the policy was read again, by what came of it", reloads);
}

fn sensor(sensor: &Sensor, registry: &mut Registry) {
    let counters = [
        ("switches", "Context switches seen", sensor.switches),
        ("rings", "Bells for threads that want a core to themselves", sensor.rings),
        ("gate_rings", "Bells for gated classes", sensor.gate_rings),
        ("moves", "Threads moved to an idle core", sensor.moves),
        ("moves_not_made", "Moves that the kernel refused, or whose thread had another mask by then", sensor.unmade),
        ("rings_lost", "Bells that were not heard, and answered by the next", sensor.lost),
        ("switches_unknown", "Switches to threads whose class could not be known", sensor.unknown),
    ];
    count(registry, counters);
}

fn count<const N: usize>(registry: &mut Registry, counters: [(&str, &str, u64); N]) {
    for (name, help, number) in counters {
        registry.register(name, help, ConstCounter::new(number));
    }
}

/// What is said of each class: its name, what it means, and the number; none where a class has none.
type OfClass = (&'static str, &'static str, fn(&Class) -> Option<i64>);

const OF_CLASSES: [OfClass; 8] = [
    ("class_members", "Processes of the class", |class| number(class.members.len())),
    ("class_threads", "Threads of the class", |class| number(class.threads)),
    ("class_threads_conforming", "Threads that the kernel shows as the policy wants them", |class| {
        number(class.conforming)
    }),
    ("class_threads_theirs", "Threads with something that somebody else set after they were placed", |class| {
        number(class.members.iter().map(|member| member.theirs).sum())
    }),
    (
        "class_members_contested",
        "Processes of which others change again and again what the class insists on",
        |class| number(class.members.iter().filter(|member| member.contested).count()),
    ),
    ("class_cpus", "CPUs that the class may use now", |class| {
        number(class.cpus.as_ref()?.parse::<CpuSet>().ok()?.len())
    }),
    ("class_stopped", "1 while the class is stopped because its gate leaves it no CPU", |class| {
        class.cpus.as_ref().map(|_| i64::from(class.frozen))
    }),
    ("class_cookies", "Core-scheduling cookies that the kernel shows of its threads", |class| {
        number(class.cookies.iter().filter(|cookie| *cookie != "0").count())
    }),
];

fn number(number: usize) -> Option<i64> {
    i64::try_from(number).ok()
}

fn classes(document: &Document, registry: &mut Registry) {
    let of = |class: &Class| vec![("class", class.name.clone())];
    for (name, help, of_class) in OF_CLASSES {
        let family = Family::<Labels, Gauge>::default();
        for class in &document.classes {
            of_class(class).map(|number| family.get_or_create(&of(class)).set(number));
        }
        registry.register(name, help, family);
    }
    let placed = Family::<Labels, Gauge>::default();
    for class in &document.classes {
        for (means, count) in &class.places {
            let labels = [of(class), vec![("by", means.clone())]].concat();
            number(*count).map(|count| placed.get_or_create(&labels).set(count));
        }
    }
    registry.register("class_members_placed", "Processes of the class, by how they are placed", placed);
    let refused = number(document.failures.len()).unwrap_or(i64::MAX);
    let help = "Processes for which the kernel refused something that nobody has mended since";
    registry.register("not_enforced", help, ConstGauge::new(refused));
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"schema_version": 1, "daemon": {"version": "0", "pid": 1, "tick_ms": 10.0, "events": 7, "lost": 1,
        "ticks": 2, "placed": 3, "released": 4, "contested": 5, "reloads": {"applied": 6, "refused": 1}, "eyes": "sensor",
        "sensor": {"switches": 1, "rings": 2, "gate_rings": 3, "moves": 4, "unmade": 5, "lost": 6, "unknown": 7},
        "last_reload": null, "last_machine": null},
        "classes": [{"name": "web", "kind": "rt", "cpus": "0-2,5", "frozen": false, "threads": 3, "conforming": 2,
        "places": {"move": 1}, "cookies": ["0", "a"], "clauses": [], "members": [{"pid": 9, "comm": "w", "place": "move",
        "reason": null, "cookies": [], "threads": 3, "conforming": 2, "theirs": 1, "contested": true}]},
        {"name": "free", "kind": "unmanaged", "cpus": null, "frozen": false, "threads": 0, "conforming": 0, "places": {},
        "cookies": [], "clauses": [], "members": []}],
        "failures": [{"pid": 9, "class": "web", "error": "no"}]}"#;

    #[test]
    fn everything_that_a_status_says_is_there() {
        let text = metrics(ANSWER).unwrap_or_else(|failure| panic!("{}", failure.text()));
        assert!(text.ends_with("# EOF\n"));
        // Classes come in no order.
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("# HELP")).collect();
        lines.sort_unstable();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn what_is_refused_shows_until_it_is_mended() {
        let refused = |reload: &str, machine: &str| {
            let last = |what: &str, outcome: &str| format!(r#""{what}": {{"outcome": "{outcome}", "detail": ""}}"#);
            let answer = ANSWER
                .replace(r#""last_reload": null"#, &last("last_reload", reload))
                .replace(r#""last_machine": null"#, &last("last_machine", machine));
            let text = metrics(&answer).unwrap_or_else(|failure| panic!("{}", failure.text()));
            text.contains("\ncotenant_policy_refused 1\n")
        };
        assert!(refused("refused", "applied") && refused("failed", "applied") && refused("applied", "refused"));
        assert!(!refused("applied", "applied") && !refused("unchanged", "failed"));
    }

    #[test]
    fn every_type_is_one_that_a_textfile_collector_knows() {
        let text = metrics(ANSWER).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').nth(1));
        assert!(types.into_iter().all(|kind| ["counter", "gauge", "histogram"].contains(&kind)), "{text}");
    }

    #[test]
    fn no_answer_is_no_metrics() {
        assert!(metrics("").is_err());
    }
}
