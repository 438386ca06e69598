//! Mistakes in deadline classes, and what is said of them. See sched(7), "Deadline scheduling".

use cotenant_grammar::tree::{At, Duration, Percent};
use cotenant_grammar::{Code, Diagnostic, Severity, Span};

use super::Mistake;

#[derive(Debug)]
pub(crate) enum DeadlineMistake {
    WithoutRuntime { header: Span },
    OutOfOrder { longer: At<Duration>, shorter: At<Duration>, names: [&'static str; 2] },
    OutOfRange { at: At<Duration>, what: &'static str, lowest: Duration, highest: Duration },
    Overload { at: Span, asked: Percent, cpus: usize, limit: Percent, others: Vec<(String, Span)>, knob: Option<Span> },
    Zone { at: Span, cpus: usize, online: usize },
}

impl From<DeadlineMistake> for Mistake {
    fn from(mistake: DeadlineMistake) -> Mistake {
        Mistake::Deadline(mistake)
    }
}

impl From<DeadlineMistake> for Diagnostic {
    fn from(mistake: DeadlineMistake) -> Diagnostic {
        let error = |code, message: String, at, label: &str| Diagnostic::error(Code(code), message, at, label);
        match mistake {
            DeadlineMistake::WithoutRuntime { header } => error(
                "deadline-without-runtime",
                "a deadline class says how long its threads run, and how often".into(),
                header,
                "no `runtime … every …`",
            )
            .help("add a clause such as `runtime 2ms every 10ms`"),
            DeadlineMistake::OutOfOrder { longer, shorter, names: [long, short] } => error(
                "deadline-order",
                format!("the {long} of {} is longer than the {short} of {}", longer.value, shorter.value),
                longer.span,
                "longer",
            )
            .also(shorter.span, "than this")
            .help("the runtime fits into the deadline, and the deadline into the period"),
            DeadlineMistake::OutOfRange { at, what, lowest, highest } => error(
                "deadline-out-of-range",
                format!("the kernel takes {what}s of {lowest} to {highest}, not of {}", at.value),
                at.span,
                "out of range",
            )
            .help("see sched_setattr(2), and kernel.sched_deadline_period_min_us for the bounds of a host"),
            DeadlineMistake::Overload { at, asked, cpus, limit, others, knob } => {
                let cpus = if cpus == 1 { "1 CPU has".to_owned() } else { format!("{cpus} CPUs have") };
                let finding = error(
                    "deadline-overload",
                    format!("one thread of each deadline class takes {asked} of a CPU here, and {cpus} {limit}"),
                    at,
                    "refused by the kernel",
                );
                let finding = others
                    .into_iter()
                    .fold(finding, |finding, (class, at)| finding.also(at, format!("`{class}` runs there, too")));
                let finding = match knob {
                    Some(knob) => finding.also(knob, "the share that real-time threads may take"),
                    None => finding,
                };
                finding.help("shorten a runtime, lengthen a period, or widen the zone")
            }
            DeadlineMistake::Zone { at, cpus, online } => Diagnostic::new(
                Severity::Warning,
                Code("deadline-zone"),
                format!("the kernel refuses deadline threads that may run on {cpus} of {online} CPUs only"),
                at,
                "smaller than the machine",
            )
            .help("remove the clause, or make the zone a cpuset partition of its own; see sched(7)"),
        }
    }
}
