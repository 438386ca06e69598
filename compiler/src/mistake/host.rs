//! Mistakes in what a policy asks of a host and sets for its kernel, and what is said of them.

use cotenant_grammar::tree::At;
use cotenant_grammar::{Code, Diagnostic, Span};

use super::Mistake;

#[derive(Debug)]
pub(crate) enum HostMistake {
    UnreadInclude { pattern: At<String> },
    RequirementUnmet { at: Span, what: String, has: String },
    UnmetOnHost { at: Span, reason: String },
    RepeatedKnob { what: String, first: Span, again: Span },
    KnobBothWays { what: String, first: Span, again: Span },
}

impl From<HostMistake> for Mistake {
    fn from(mistake: HostMistake) -> Mistake {
        Mistake::Host(mistake)
    }
}

impl From<HostMistake> for Diagnostic {
    fn from(mistake: HostMistake) -> Diagnostic {
        let error = |code, message: String, at, label: &str| Diagnostic::error(Code(code), message, at, label);
        match mistake {
            HostMistake::UnreadInclude { pattern } => error(
                "include-empty",
                format!("the files that `{}` names were not read", pattern.value),
                pattern.span,
                "left out",
            )
            .help("name the file that holds this statement, rather than its text"),
            HostMistake::RequirementUnmet { at, what, has } => error(
                "requirement-unmet",
                format!("the policy requires {what}, and this machine has {has}"),
                at,
                "required here",
            )
            .help("use the policy on another machine, or remove the condition"),
            HostMistake::UnmetOnHost { at, reason } => {
                error("requirement-unmet", format!("the policy {reason}"), at, "required here")
                    .help("put it in force on another host, or remove the condition")
            }
            HostMistake::RepeatedKnob { what, first, again } => {
                error("repeated-clause", format!("the kernel's {what} is set twice"), again, "set again")
                    .also(first, "set first here")
                    .help("remove one of them")
            }
            HostMistake::KnobBothWays { what, first, again } => {
                error("contradiction", format!("the kernel's {what} is set in two ways"), again, "this one")
                    .also(first, "and this one")
                    .help("remove one of them")
            }
        }
    }
}
