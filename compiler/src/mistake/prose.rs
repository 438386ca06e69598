//! What each mistake says. One voice: lowercase, no final stop, the user's words in backticks.

use cotenant_grammar::tree::ClassKind;
use cotenant_grammar::{Code, Diagnostic, Severity, nearest as near};

use super::Mistake;

impl From<Mistake> for Diagnostic {
    fn from(mistake: Mistake) -> Diagnostic {
        let error = |code, message: String, at, label: &str| Diagnostic::error(Code(code), message, at, label);
        match mistake {
            Mistake::Undefined { what, name, nearest } => {
                let code = if what == "zone" { "undefined-zone" } else { "undefined-processes" };
                let finding = error(code, format!("no {what} is called `{}`", name.value), name.span, "not defined");
                match nearest {
                    Some(near) => finding
                        .help(format!("write `{}`", near.value))
                        .also(near.span, format!("`{}` is defined here", near.value)),
                    None if what == "zone" && near(&name.value, ["all"]).is_some() => finding.help("write `all`"),
                    None if what == "zone" => finding.help(format!("define it: `zone {}: CPUS;`", name.value)),
                    None => finding.help(format!(
                        "define it with `processes {0}: …;`, or compare a field: `exe {0}`, `unit {0}.service`",
                        name.value
                    )),
                }
            }
            Mistake::DefinedTwice { what, name, first } => {
                error("defined-twice", format!("{what} `{}` is defined twice", name.value), name.span, "defined again")
                    .also(first, "first defined here")
                    .help("give one of them another name, or remove it")
            }
            Mistake::ReservedName { what, name } => error(
                "reserved-name",
                format!("a {what} cannot be called `{}`, which means something of its own", name.value),
                name.span,
                "reserved",
            )
            .help(format!("choose another name, such as `{}-1`", name.value)),
            Mistake::RefersToItself { what, name, again } => error(
                "refers-to-itself",
                format!("{what} `{}` is defined through itself", name.value),
                again,
                "leads back here",
            )
            .also(name.span, "defined here")
            .help("take this name out of the definition"),
            Mistake::ChainTooLong { what, at, limit } => error(
                "too-deep",
                format!("more than {limit} definitions of a {what} refer to one another"),
                at,
                "followed no further",
            )
            .help("define it directly"),
            Mistake::Unused { what, name } => Diagnostic::new(
                Severity::Warning,
                Code("unused-name"),
                format!("{what} `{}` is never used", name.value),
                name.span,
                "defined, and named by no class",
            )
            .help("use it or remove it"),
            Mistake::EmptyPattern { at } => {
                error("empty-pattern", "an empty pattern matches nothing".into(), at, "empty")
                    .help("write what to compare with, such as `nginx*`")
            }
            Mistake::BadGlob { at, reason } => {
                error("bad-glob", format!("this pattern cannot be read: {reason}"), at, "not a pattern")
                    .help("to match a bracket or brace itself, put it into brackets: `[[]`, `[{]`")
            }
            Mistake::BlankAtEnd { at, text } => error(
                "blank-at-end",
                "this pattern begins or ends with a blank, and no name does".into(),
                at,
                "see the quotes",
            )
            .help(format!("write `\"{}\"`", text.trim())),
            Mistake::CommTooLong { at, text, limit } => error(
                "comm-too-long",
                format!("the kernel keeps {limit} bytes of a name, so `{text}` never matches"),
                at,
                &format!("needs {} bytes", text.bytes().filter(|byte| *byte != b'*').count()),
            )
            .help(format!("write `\"{}*\"`, or compare `exe {text}`", shortened(&text, limit))),
            Mistake::RepeatedClause { what, first, again } => {
                error("repeated-clause", format!("this class says {what} twice"), again, "said again")
                    .also(first, "said first here")
                    .help("remove one of them")
            }
            Mistake::Contradiction { first, second, why } => {
                error("contradiction", format!("these clauses contradict each other: {why}"), second, "this one")
                    .also(first, "and this one")
                    .help("remove one of them")
            }
            Mistake::WrongKind { clause, what, kind, fits } => {
                let word = kind.value.word();
                error("wrong-kind", format!("{what} does not fit a class of kind `{word}`"), clause, "does not fit")
                    .also(kind.span, format!("this class is `{word}`"))
                    .help(match kind.value {
                        ClassKind::Unmanaged => "unmanaged processes are never touched: keep `match` only".to_owned(),
                        _ => format!("it fits {fits}: change the kind, or remove the clause"),
                    })
            }
            Mistake::PriorityOutOfRange { at } => error(
                "priority-out-of-range",
                format!("real-time priorities go from 1 to 99, not to {}", at.value),
                at.span,
                "out of range",
            )
            .help("1 is the lowest; above 50 a thread outranks most interrupt threads"),
            Mistake::NiceOutOfRange { at } => error(
                "nice-out-of-range",
                format!("nice goes from -20 to 19, not to {}", at.value),
                at.span,
                "out of range",
            )
            .help("-20 is the most favoured, 19 the least"),
            Mistake::ZeroCores { at } => error("zero-cores", "a class runs on one core or more".into(), at, "no core")
                .help("write 1 or more, or remove the clause"),
            Mistake::UnmanagedWithoutMatch { header } => error(
                "unmanaged-without-match",
                "this says to leave something alone, and not what".into(),
                header,
                "no `match`",
            )
            .help("write `unmanaged: match exe /usr/sbin/sshd;`"),
            Mistake::MatchedByName { class } => Diagnostic::new(
                Severity::Note,
                Code("matched-by-name"),
                format!("class `{}` has no `match`, so it takes the processes of its name", class.value),
                class.span,
                "comm, last part of exe, or a part of the cgroup path",
            )
            .help(format!("to say it outright, write `match exe {0}` or `match unit {0}.service`", class.value)),
            Mistake::Clause(mistake) => mistake.into(),
            Mistake::Deadline(mistake) => mistake.into(),
            Mistake::Host(mistake) => mistake.into(),
            Mistake::NotHere { at, what, missing, last } => {
                error("not-on-this-machine", format!("this machine has no {what} {missing}"), at, "not there").help(
                    match last {
                        Some(last) => format!("{what} numbers go from 0 to {last} here; see `cotenant topology`"),
                        None => format!("the machine reports no {what}; see `cotenant topology`"),
                    },
                )
            }
            Mistake::Offline { at, cpu } => {
                error("cpu-offline", format!("cpu {cpu} of this machine is switched off"), at, "offline")
                    .help("leave it out, or switch it on")
            }
            Mistake::EmptyCpuSet { at } => {
                error("empty-cpu-set", "this is no CPU at all on this machine".into(), at, "empty")
                    .help("see `cotenant topology` for what there is")
            }
            Mistake::FloorTooHigh { at, cores, zone } => error(
                "floor-too-high",
                format!("the class asks for {} cores and its zone has {cores}", at.value),
                at.span,
                "more than there are",
            )
            .also(zone, format!("{cores} cores"))
            .help(format!("ask for {cores} at most, or widen the zone")),
            Mistake::FloorsLeaveNothing { class, floors } => {
                let finding = error(
                    "floors-leave-nothing",
                    format!("the floors of other classes leave no CPU for class `{}`", class.value),
                    class.span,
                    "nothing left",
                );
                let also =
                    |finding: Diagnostic, (name, span): (String, _)| finding.also(span, format!("kept for `{name}`"));
                floors.into_iter().fold(finding, also).help("lower a floor, or move the zones apart")
            }
            Mistake::EqualPrioConflict { holds, pushes, holder, pusher, priority, shared } => error(
                "equal-prio-conflict",
                format!("`{holder}` holds and `{pusher}` pushes at priority {priority} on common CPUs ({shared})"),
                holds,
                "pins its threads",
            )
            .also(pushes, "wants every equal movable")
            .help("give one of them another priority or zone, or let both push or both hold"),
        }
    }
}

/// The first bytes of a name, cut at a character's border.
fn shortened(text: &str, limit: usize) -> &str {
    let end = (0..=limit.saturating_sub(1)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}
