//! Who ran where while the sibling ran whom, from the kernel's own `sched_switch` events.

use std::collections::BTreeMap;

/// For each CPU, who ran from when to when, in seconds since boot.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    spans: BTreeMap<usize, Vec<(f64, f64, String)>>,
    length: f64,
}

impl Trace {
    /// Of lines of time, CPU, who ran, who runs, as `trace_off` in `guest/lib.sh` says them; the first is the beginning.
    pub(crate) fn parse(lines: &[String]) -> Trace {
        let fields = lines.iter().map(|line| line.split(' ').collect::<Vec<_>>());
        let events: Vec<(f64, usize, &str, &str)> =
            fields.map(|field| (field[0].parse().unwrap(), field[1].parse().unwrap(), field[2], field[3])).collect();
        let begin = events.iter().find(|event| event.2 == "-").expect("the trace has a beginning").0;
        let end = events.iter().map(|event| event.0).fold(begin, f64::max);
        let mut trace = Trace { length: end - begin, ..Trace::default() };
        let mut running: BTreeMap<usize, (f64, &str)> = BTreeMap::new();
        for (time, cpu, before, after) in events.into_iter().filter(|event| event.2 != "-" && event.0 >= begin) {
            let (since, _) = running.insert(cpu, (time, after)).unwrap_or((begin, before));
            trace.spans.entry(cpu).or_default().push((since, time, before.to_owned()));
        }
        for (cpu, (since, name)) in running {
            trace.spans.entry(cpu).or_default().push((since, end, name.to_owned()));
        }
        trace
    }

    /// From the beginning to the last event, in seconds.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// For how long threads of that name ran, all together.
    pub(crate) fn ran(&self, name: &str) -> f64 {
        self.spans.keys().flat_map(|cpu| self.of(*cpu, name)).map(|(from, to)| to - from).sum()
    }

    /// For how long of it a thread of another name ran on the sibling, CPUs 2n and 2n+1 being siblings.
    pub(crate) fn shared(&self, name: &str, with: &str) -> f64 {
        let both = |(from, to): (f64, f64), (since, until): (f64, f64)| (to.min(until) - from.max(since)).max(0.0);
        let beside = |cpu: usize, span| self.of(cpu ^ 1, with).map(move |other| both(span, other)).sum::<f64>();
        self.spans.keys().flat_map(|cpu| self.of(*cpu, name).map(|span| beside(*cpu, span))).sum()
    }

    fn of(&self, cpu: usize, name: &str) -> impl Iterator<Item = (f64, f64)> {
        let spans = self.spans.get(&cpu).map_or(&[][..], Vec::as_slice).iter();
        spans.filter(move |(_, _, who)| who == name).map(|(from, to, _)| (*from, *to))
    }
}

#[test]
fn time_on_a_shared_core_is_counted_to_the_microsecond() {
    let lines = ["10.0 000 - -", "11.0 001 swapper batch", "12.5 000 web sh", "13.0 001 batch swapper"];
    let trace = Trace::parse(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    assert!((trace.length() - 3.0).abs() < 1e-6, "{trace:?}");
    assert!((trace.ran("web") - 2.5).abs() < 1e-6, "{trace:?}");
    assert!((trace.ran("batch") - 2.0).abs() < 1e-6, "{trace:?}");
    assert!((trace.shared("web", "batch") - 1.5).abs() < 1e-6, "{trace:?}");
    assert!(trace.shared("web", "sh").abs() < 1e-6, "{trace:?}");
}
