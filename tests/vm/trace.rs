//! Who ran where while the sibling ran whom, from the kernel's own `sched_switch` events.

use std::collections::BTreeMap;

/// When, on which CPU, who ran, who runs.
type Event<'a> = (f64, usize, &'a str, &'a str);

/// What a CPU does, seen from one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Idle,
    Of,
    Other,
}

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
        let events: Vec<Event<'_>> =
            fields.map(|field| (field[0].parse().unwrap(), field[1].parse().unwrap(), field[2], field[3])).collect();
        let begin = events.iter().find(|event| event.2 == "-").expect("the trace has a beginning").0;
        Trace::of(begin, events.into_iter().filter(|event| event.2 != "-" && event.0 >= begin))
    }

    /// Of the text of `/sys/kernel/tracing/trace`.
    pub(crate) fn of_tracefs(text: &str) -> Trace {
        let events: Vec<Event<'_>> = text.lines().filter_map(event).collect();
        let begin = events.iter().map(|event| event.0).fold(f64::MAX, f64::min);
        Trace::of(begin, events.into_iter())
    }

    fn of<'a>(begin: f64, events: impl Iterator<Item = Event<'a>>) -> Trace {
        let mut trace = Trace::default();
        let mut running: BTreeMap<usize, (f64, &str)> = BTreeMap::new();
        let mut end = begin;
        for (time, cpu, before, after) in events {
            let (since, _) = running.insert(cpu, (time, after)).unwrap_or((begin, before));
            trace.spans.entry(cpu).or_default().push((since, time, before.to_owned()));
            end = end.max(time);
        }
        for (cpu, (since, name)) in running {
            trace.spans.entry(cpu).or_default().push((since, end, name.to_owned()));
        }
        trace.length = end - begin;
        trace
    }

    /// From the beginning to the last event, in seconds.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// For how long threads of that name ran, all together.
    pub(crate) fn ran(&self, name: &str) -> f64 {
        self.spans.keys().flat_map(|cpu| self.of_name(*cpu, name)).map(|(from, to)| to - from).sum()
    }

    /// For how long the daemon's threads ran.
    pub(crate) fn daemon(&self) -> f64 {
        self.of_daemon().fold(0.0, |all, (from, to, _)| all + to - from)
    }

    /// The same on CPUs of their own, where those that are busy take turns: of each moment in which one ran, its part.
    pub(crate) fn daemon_alone(&self) -> f64 {
        let ours: Vec<(f64, f64)> = self.of_daemon().map(|(from, to, _)| (*from, *to)).collect();
        let busy = self.spans.values().flatten().filter(|(_, _, who)| !who.starts_with("swapper"));
        let mut changes: Vec<(f64, i64, i64)> = busy.flat_map(|(from, to, _)| [(*from, 1, 0), (*to, -1, 0)]).collect();
        changes.extend(ours.into_iter().flat_map(|(from, to)| [(from, 0, 1), (to, 0, -1)]));
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut alone, mut since, mut busy, mut running) = (0.0, 0.0, 0, 0);
        for (time, more_busy, more_running) in changes {
            if running > 0 && busy > 0 {
                alone += (time - since) * running as f64 / busy as f64;
            }
            (since, busy, running) = (time, busy + more_busy, running + more_running);
        }
        alone
    }

    /// How often one of them began to.
    pub(crate) fn turns_of_daemon(&self) -> usize {
        self.of_daemon().count()
    }

    /// The one that hears of changed files has its library's name.
    fn of_daemon(&self) -> impl Iterator<Item = &(f64, f64, String)> {
        let is_ours = |who: &str| who.starts_with("cotenant") || who.starts_with("notify-rs");
        self.spans.values().flatten().filter(move |(_, _, who)| is_ours(who))
    }

    /// For how long of it a thread of another name ran on the sibling, CPUs 2n and 2n+1 being siblings.
    pub(crate) fn shared(&self, name: &str, with: &str) -> f64 {
        self.meetings(name, with).into_iter().sum()
    }

    /// How long each of those meetings was, shortest first. Threads of one name that follow each other at once are one.
    pub(crate) fn meetings(&self, name: &str, with: &str) -> Vec<f64> {
        let mut all = Vec::new();
        for cpu in self.spans.keys() {
            let others = joined(self.of_name(cpu ^ 1, with));
            for (from, to) in joined(self.of_name(*cpu, name)) {
                let both = |(since, until): &(f64, f64)| to.min(*until) - from.max(*since);
                all.extend(others.iter().map(both).filter(|time| *time > 0.0));
            }
        }
        all.sort_by(f64::total_cmp);
        all
    }

    /// For how long threads of that name ran beside each other on one core while a whole other core stood idle, each thread's
    /// time counted. A CPU of which nothing is known was idle: one that works switches. There are `cpus` of them.
    pub(crate) fn crowded(&self, name: &str, cpus: usize) -> f64 {
        let mut changes: Vec<(f64, usize, Load)> = Vec::new();
        for (cpu, spans) in &self.spans {
            for (from, _, who) in spans {
                let load = match who.as_str() {
                    who if who == name => Load::Of,
                    who if who.starts_with("swapper") => Load::Idle,
                    _ => Load::Other,
                };
                changes.push((*from, *cpu, load));
            }
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let end = self.spans.values().flatten().map(|(_, to, _)| *to).fold(0.0, f64::max);
        let until = changes.iter().skip(1).map(|change| change.0).chain([end]).collect::<Vec<_>>();
        let mut now = vec![Load::Idle; cpus];
        let mut crowded = 0.0;
        for ((since, cpu, load), until) in changes.into_iter().zip(until) {
            now[cpu] = load;
            let free = now.chunks(2).any(|core| core.iter().all(|load| *load == Load::Idle));
            let shared = now.chunks(2).filter(|core| core.iter().all(|load| *load == Load::Of)).count();
            if free {
                crowded += 2.0 * shared as f64 * (until - since);
            }
        }
        crowded
    }

    fn of_name(&self, cpu: usize, name: &str) -> impl Iterator<Item = (f64, f64)> {
        let spans = self.spans.get(&cpu).map_or(&[][..], Vec::as_slice).iter();
        spans.filter(move |(_, _, who)| who == name).map(|(from, to, _)| (*from, *to))
    }
}

/// Spans of which the next begins where the one before ends as one.
fn joined(spans: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match all.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => all.push((from, to)),
        }
    }
    all
}

/// A line such as `web-42 [003] d..2. 12.345678: sched_switch: prev_comm=web prev_pid=42 … next_comm=sh next_pid=7 …`.
fn event(line: &str) -> Option<Event<'_>> {
    let (head, switch) = line.split_once(": sched_switch: ")?;
    let (head, time) = head.rsplit_once(' ')?;
    let cpu = head.rsplit_once('[')?.1.split(']').next()?;
    let between = |from: &str, to: &str| Some(switch.split_once(from)?.1.split_once(to)?.0);
    let who = (between("prev_comm=", " prev_pid=")?, between("next_comm=", " next_pid=")?);
    Some((time.parse().ok()?, cpu.parse().ok()?, who.0, who.1))
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
    assert_eq!(trace.meetings("web", "batch").len(), 1, "{trace:?}");
    assert_eq!((trace.daemon(), trace.turns_of_daemon()), (0.0, 0), "{trace:?}");
    let lines = ["10.0 000 - -", "11.0 000 swapper cotenant-mover", "11.5 000 cotenant-mover web"];
    let trace = Trace::parse(&lines.map(str::to_owned));
    assert!((trace.daemon() - 0.5).abs() < 1e-6 && trace.turns_of_daemon() == 1, "{trace:?}");
    let lines = ["10.0 000 - -", "11.0 000 swapper cotenant", "13.0 001 swapper web", "14.0 000 cotenant swapper"];
    let trace = Trace::parse(&lines.map(str::to_owned));
    assert!((trace.daemon() - 3.0).abs() < 1e-6, "{trace:?}");
    assert!((trace.daemon_alone() - 2.5).abs() < 1e-6, "two seconds alone and half of one: {trace:?}");
}

#[test]
fn a_core_is_crowded_only_while_another_is_idle() {
    let switch = |time: &str, cpu: u32, from: &str, to: &str| {
        format!(
            "  {from}-1  [00{cpu}] d..2.  {time}: sched_switch: prev_comm={from} prev_pid=1 prev_prio=120 prev_state=S ==> \
             next_comm={to} next_pid=2 next_prio=120\n"
        )
    };
    let text = [
        switch("10.0", 0, "swapper/0", "web"),
        switch("11.0", 1, "swapper/1", "web"),
        switch("12.0", 2, "swapper/2", "web"),
        switch("13.0", 1, "web", "other"),
        switch("14.0", 2, "web", "swapper/2"),
        switch("15.0", 1, "other", "web"),
        switch("15.5", 0, "web", "swapper/0"),
    ];
    let trace = Trace::of_tracefs(&text.concat());
    assert!((trace.ran("web") - (5.5 + 2.0 + 2.0 + 0.5)).abs() < 1e-6, "{trace:?}");
    // From 11 to 12 and from 15 to 15.5, two threads each time; from 12 on the other core is in use, and then `other` is there.
    assert!((trace.crowded("web", 4) - 3.0).abs() < 1e-6, "{}", trace.crowded("web", 4));
}
