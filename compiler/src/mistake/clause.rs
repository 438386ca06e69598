//! Mistakes in the clauses of one class, and what is said of them.

use cotenant_grammar::tree::{At, Duration, Name, Percent, Quota};
use cotenant_grammar::{Code, Diagnostic, Severity, Span};

use super::Mistake;
use crate::plan::CoreScheduling;

#[derive(Debug)]
pub(crate) enum ClauseMistake {
    NotCarriedOut { clause: Span, text: String },
    NoCoreScheduling { clause: Span, text: String, has: CoreScheduling },
    UnevenSharing { class: String, clause: Span, with: Vec<String>, through: Option<(String, Span)> },
    ShareAcrossGate { name: Name, gated: String, gate: Span },
    WaitWithoutGate { clause: Span },
    WaitOutOfRange { at: At<Duration> },
    SliceOutOfRange { at: At<Duration> },
    WeightOutOfRange { at: At<i64> },
    QuotaOutOfRange { at: At<Quota> },
    PercentOutOfRange { at: At<Percent>, lowest: Percent },
    LimitWithoutEffect { at: Span, what: &'static str, zone: Option<Span>, has: String },
    PreferredOutsideZone { at: Span, zone: Option<Span> },
    UndefinedClass { name: Name, nearest: Option<Name> },
    ShareWithUnmanaged { name: Name, class: Span },
    OneSidedSharing { name: Name, clause: Span, other: String },
}

impl From<ClauseMistake> for Mistake {
    fn from(mistake: ClauseMistake) -> Mistake {
        Mistake::Clause(mistake)
    }
}

impl From<ClauseMistake> for Diagnostic {
    fn from(mistake: ClauseMistake) -> Diagnostic {
        let error = |code, message: String, at, label: &str| Diagnostic::error(Code(code), message, at, label);
        let warning =
            |code, message: String, at, label: &str| Diagnostic::new(Severity::Warning, Code(code), message, at, label);
        match mistake {
            ClauseMistake::NotCarriedOut { clause, text } => warning(
                "not-carried-out",
                format!("`{text}` is understood, and not carried out yet"),
                clause,
                "nothing keeps this",
            )
            .help("the rest of the policy holds without it; `cotenant plan` lists it as `refused`"),
            ClauseMistake::NoCoreScheduling { clause, text, has } => {
                let (why, help) = match has {
                    CoreScheduling::Unknown => (
                        "nothing says that this machine has it",
                        "write `require: core scheduling`: it is then counted on, and a host without it refuses the \
                         policy",
                    ),
                    CoreScheduling::Overruled => (
                        "it is not relied on while a sched_ext scheduler is loaded",
                        "unload the scheduler that `/sys/kernel/sched_ext/root/ops` names, or remove the clause",
                    ),
                    CoreScheduling::Missing | CoreScheduling::Present => (
                        "this kernel lacks it",
                        "run a kernel built with CONFIG_SCHED_CORE; `require: core scheduling` makes hosts without it \
                         refuse the policy",
                    ),
                };
                warning(
                    "no-core-scheduling",
                    format!("`{text}` needs core scheduling, and {why}"),
                    clause,
                    "anybody may run beside it",
                )
                .help(help)
            }
            ClauseMistake::UnevenSharing { class, clause, with, through } => {
                let names: Vec<String> = with.iter().map(|name| format!("class {name}")).collect();
                let (message, help) = match &through {
                    Some((by, _)) => (
                        format!("class `{class}` shares cores with {} as well, through `{by}`", counted(&with)),
                        format!("add `{}`, or take one of them out of the list of `{by}`", names.join(", ")),
                    ),
                    None => (
                        format!("class `{class}` shares cores with itself as well"),
                        "add `itself`: who may run beside another class may run beside its own threads".to_owned(),
                    ),
                };
                let finding = warning("uneven-sharing", message, clause, "cookies make groups, and this is a part of one");
                let finding = match through {
                    Some((by, span)) => finding.also(span, format!("`{by}` shares with both")),
                    None => finding,
                };
                finding.help(help)
            }
            ClauseMistake::ShareAcrossGate { name, gated, gate } => error(
                "contradiction",
                format!("class `{gated}` runs only where nobody else does, so it shares no core with a class that always runs"),
                name.span,
                "named here",
            )
            .also(gate, "gated here")
            .help("gate both, or neither, or remove this name"),
            ClauseMistake::WaitWithoutGate { clause } => error(
                "wait-without-gate",
                "this class never waits, so its wait has no bound to keep".into(),
                clause,
                "no `only when … idle` stands with it",
            )
            .help("add the condition it waits for, such as `only when core idle`, or remove the clause"),
            ClauseMistake::WaitOutOfRange { at } => error(
                "wait-out-of-range",
                format!("a wait of {} is shorter than any loop can keep", at.value),
                at.span,
                "too short",
            )
            .help("write `wait at most 10ms` or more; to let the class run always, remove its `only when … idle`"),
            ClauseMistake::SliceOutOfRange { at } => error(
                "slice-out-of-range",
                format!("the kernel takes slices of 100us to 100ms, not of {}", at.value),
                at.span,
                "out of range",
            )
            .help("short slices serve latency, long ones throughput; the kernel's own is 3ms"),
            ClauseMistake::WeightOutOfRange { at } => error(
                "weight-out-of-range",
                format!("weights go from 1 to 10000, not to {}", at.value),
                at.span,
                "out of range",
            )
            .help("100 is what every control group has; 200 gets twice the time where both want it"),
            ClauseMistake::QuotaOutOfRange { at } => error(
                "quota-out-of-range",
                format!("a quota of {} is less than the kernel can grant", at.value),
                at.span,
                "too little",
            )
            .help("the least is `quota 0.01 cpus`, 1ms in each 100ms"),
            ClauseMistake::PercentOutOfRange { at, lowest } => error(
                "percent-out-of-range",
                format!("this share goes from {lowest} to 100%, not to {}", at.value),
                at.span,
                "out of range",
            )
            .help("write a share of the whole, such as `50%`"),
            ClauseMistake::LimitWithoutEffect { at, what, zone, has } => {
                let finding = warning(
                    "limit-without-effect",
                    format!("{what} limits nothing: the class's zone has {has}"),
                    at,
                    "no less than there is",
                );
                let finding = match zone {
                    Some(zone) => finding.also(zone, has),
                    None => finding,
                };
                finding.help("write a lower limit, or remove the clause")
            }
            ClauseMistake::PreferredOutsideZone { at, zone } => {
                let finding = error(
                    "preferred-outside-zone",
                    "the class prefers CPUs that its zone does not have".into(),
                    at,
                    "none of these is in the zone",
                );
                let finding = match zone {
                    Some(zone) => finding.also(zone, "the zone"),
                    None => finding,
                };
                finding.help("prefer a part of the zone, or widen the zone")
            }
            ClauseMistake::UndefinedClass { name, nearest } => {
                let finding =
                    error("undefined-class", format!("no class is called `{}`", name.value), name.span, "not defined");
                match nearest {
                    Some(near) => finding
                        .help(format!("write `class {}`", near.value))
                        .also(near.span, format!("`{}` is defined here", near.value)),
                    None => finding.help("name a class of this policy, or write `nobody` or `itself`"),
                }
            }
            ClauseMistake::ShareWithUnmanaged { name, class } => error(
                "contradiction",
                format!("class `{}` is never touched, so it cannot be let onto a core", name.value),
                name.span,
                "shares cores with everybody",
            )
            .also(class, "unmanaged")
            .help("leave it out of the list"),
            ClauseMistake::OneSidedSharing { name, clause, other } => error(
                "contradiction",
                format!("sharing a core takes two, and `{}` does not share with `{other}`", name.value),
                name.span,
                "let onto the core here",
            )
            .also(clause, "and not from this side")
            .help(format!("add `class {other}` there, or take `class {}` out here", name.value)),
        }
    }
}

/// The first of them by name, and the others by number.
fn counted(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [one, other] => format!("`{one}` and `{other}`"),
        [one, more @ ..] => format!("`{one}` and {} more classes", more.len()),
    }
}
