//! Why a process is in its class, or in none: the policy asked as the daemon asks it, with what the daemon did.

use cotenant_compiler::Plan;
use cotenant_compiler::plan::PlannedClass;
use cotenant_compiler::selector::{Process, Selector, containers, innermost_unit, script, slices};
use cotenant_enforcer::ids::Pid;
use cotenant_grammar::{Diagnostic, Severity, Span};

use crate::render::{Answer, Enforced, Fields, Reason, SCHEMA_VERSION, Site, Tried, one_line};

/// A process, and a policy that was asked about it.
pub(crate) struct Question<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) process: &'a dyn Process,
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    /// What a daemon knows of it.
    pub(crate) enforced: Option<Enforced>,
}

/// The class that the whole answer is about, and whether it has the process.
#[derive(Clone, Copy)]
pub(crate) struct Verdict<'a> {
    pub(crate) class: &'a PlannedClass,
    pub(crate) covers: bool,
}

impl<'a> Question<'a> {
    /// The first class that matches, or else the one that comes nearest; none where nothing comes near.
    pub(crate) fn verdict(&self) -> Option<Verdict<'a>> {
        let classes = &self.plan.classes;
        if let Some(class) = self.plan.classify(self.process).and_then(|at| classes.get(at)) {
            return Some(Verdict { class, covers: true });
        }
        // The class that has it all the same, because it inherited it.
        let inherited = self.enforced.as_ref().and_then(|it| classes.iter().find(|class| class.name == it.class));
        if let Some(class) = inherited {
            return Some(Verdict { class, covers: false });
        }
        let far = |class: &PlannedClass| class.selector.distance(self.process);
        let nearest = classes.iter().min_by_key(|class| far(class)).filter(|class| is_near(class, far(class)));
        nearest.map(|class| Verdict { class, covers: false })
    }

    /// All of it.
    pub(crate) fn answer(self) -> Answer {
        let verdict = self.verdict();
        let matched = verdict.filter(|it| it.covers).map(|it| it.class.name.clone());
        let nearest = verdict.filter(|it| !it.covers).map(|it| it.class.name.clone());
        Answer {
            schema_version: SCHEMA_VERSION,
            process: fields(self.process, self.pid, self.parent),
            tried: tried(self.plan, self.process),
            nearest: nearest.filter(|_| self.enforced.is_none()),
            matched,
            clause: verdict.and_then(|it| site(self.plan, clause(it.class))),
            enforced: self.enforced,
        }
    }
}

/// What is said of a process that a real-time class does not admit.
pub(crate) const POSED: &str = "it matches only by what its owner can make look so, as by a program mounted over that path or a unit of \
                                their own session: not enough for a real-time class";

/// Whether a class that does not match comes near enough to be worth a word: some comparison holds, or only just fails.
fn is_near(class: &PlannedClass, far: u32) -> bool {
    let some_holds = match &class.selector {
        Selector::All(parts) => far < 1000 * u32::try_from(parts.len()).unwrap_or(1),
        _ => false,
    };
    far == 0 || some_holds || !far.is_multiple_of(1000)
}

/// The verdict at its clause.
pub(crate) fn shown(verdict: &Verdict<'_>, answer: &Answer) -> Diagnostic {
    let class = verdict.class;
    let of_class = answer.tried.iter().find(|tried| tried.class == class.name);
    let reasons: Vec<Reason> = of_class.map(|tried| tried.reasons.clone()).unwrap_or_default();
    let said: Vec<String> = reasons.iter().map(sentence).collect();
    let label = match of_class.is_some_and(|tried| tried.posed) {
        true => POSED.to_owned(),
        false if verdict.covers => said.join(", "),
        false => format!("it is not covered: {}", said.join(", ")),
    };
    Diagnostic::new(Severity::Note, cotenant_grammar::Code("why"), headline(verdict, answer), clause(class), label)
}

/// In one sentence.
fn headline(verdict: &Verdict<'_>, answer: &Answer) -> String {
    let (process, class) = (&answer.process, &verdict.class.name);
    let it = format!("process {} (`{}`)", process.pid, one_line(&process.comm));
    let unmanaged = if verdict.class.placement.is_none() { ", which is unmanaged: nothing is done to it" } else { "" };
    match &answer.enforced {
        Some(enforced) if enforced.joined == "forked" => format!(
            "{it} is in class `{}` because process {} is, which forked it, and it has executed no program since{unmanaged}",
            enforced.class, enforced.parent
        ),
        Some(enforced) if enforced.joined == "descended" => format!(
            "{it} is in class `{}`, which keeps the descendants of its processes: no class matches it by itself, and it comes \
             from process {}{unmanaged}",
            enforced.class, enforced.parent
        ),
        Some(enforced) if enforced.joined == "asked" => {
            format!("{it} is in class `{}` because it was started by `cotenant exec`{unmanaged}", enforced.class)
        }
        Some(enforced) if verdict.covers && enforced.class != *class => {
            format!("{it} is in class `{}`, which matched it when it was started; now `{class}` would", enforced.class)
        }
        Some(enforced) if enforced.class.is_empty() => format!("{it} left its class and could not be put back yet"),
        Some(enforced) if !verdict.covers => {
            format!("{it} is in class `{}`, which matched it when it was started and does not any more", enforced.class)
        }
        Some(_) => format!("{it} is in class `{class}`, the first that matches it{unmanaged}"),
        None if verdict.covers => format!("{it} is matched by class `{class}`{unmanaged}"),
        None => format!("{it} is in no class; nearest: `{class}`"),
    }
}

/// The longest value quoted in a sentence, in characters.
const VALUE: usize = 60;

/// A comparison with what it saw.
pub(crate) fn sentence(reason: &Reason) -> String {
    let of = reason.of.as_ref().map_or_else(String::new, |of| format!("{of} "));
    let says_it = |seen: &String| reason.comparison.trim_end_matches('"').ends_with(seen.as_str());
    if reason.holds && reason.seen.iter().any(says_it) {
        return format!("{of}{} holds", reason.comparison);
    }
    let seen = match &reason.seen[..] {
        [] if reason.comparison.starts_with("exe ") => "it cannot be read".to_owned(),
        [] => "there is none".to_owned(),
        [one] => format!("it is `{}`", brief(one, VALUE)),
        [first, rest @ ..] if rest.len() > 3 => format!("of `{}` and {} others", brief(first, VALUE), rest.len()),
        some => some.iter().map(|one| format!("`{}`", brief(one, VALUE))).collect::<Vec<_>>().join(", "),
    };
    let verb = if reason.holds { "holds" } else { "fails" };
    format!("{of}{} {verb}: {seen}", reason.comparison)
}

/// A value that may be of any length, in so many characters of one line.
pub(crate) fn brief(value: &str, longest: usize) -> String {
    let value = one_line(value);
    match value.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", value.get(..at).unwrap_or_default()),
        None => value,
    }
}

/// The `match` clause, or the header where the class matches by its name.
fn clause(class: &PlannedClass) -> Span {
    class.matched.unwrap_or(class.header)
}

fn site(plan: &Plan, span: Span) -> Option<Site> {
    let source = plan.sources.get(span.source)?;
    let at = source.location(span.start);
    Some(Site { file: source.name().to_owned(), line: at.line, column: at.column })
}

/// Every class up to the first that matches.
fn tried(plan: &Plan, process: &dyn Process) -> Vec<Tried> {
    let end = plan.classify(process).map_or(plan.classes.len(), |at| at + 1);
    let tried = |class: &PlannedClass| Tried {
        class: class.name.clone(),
        kind: class.kind.word().to_owned(),
        matches: class.covers(process),
        posed: class.selector.matches(process) && !class.covers(process),
        reasons: class.selector.reasons(process).into_iter().map(Reason::from).collect(),
    };
    plan.classes.iter().take(end).map(tried).collect()
}

fn fields(process: &dyn Process, pid: Pid, parent: Pid) -> Fields {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let cgroups = process.cgroups();
    let mut slices: Vec<String> = cgroups.iter().flat_map(|path| slices(path)).map(text).collect();
    slices.dedup();
    Fields {
        pid: pid.0,
        comm: text(process.comm()),
        exe: process.exe().map(text),
        script: script(process.exe(), process.args()).map(text),
        args: process.args().iter().map(|argument| text(argument)).collect(),
        user: process.user(),
        group: process.group(),
        cgroups: cgroups.iter().map(|path| text(path)).collect(),
        units: cgroups.iter().filter_map(|path| innermost_unit(path)).map(text).collect(),
        slices,
        containers: cgroups.iter().flat_map(|path| containers(path)).map(text).collect(),
        parent: parent.0,
        parent_comm: process.parent().map(|parent| text(parent.comm())),
    }
}
