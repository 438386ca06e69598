//! Everything a lint can find, as data, and the prose for it in one place.

use cotenant_grammar::{Code, Diagnostic, Severity, Span};

/// Something else that takes part in a finding: where it stands and what it is called.
pub(super) type Site = (Span, String);

#[derive(Debug)]
pub(super) enum Lint {
    // Selectors that cannot do what they say
    Shadowed { class: String, at: Span, by: Vec<Site> },
    NeverMatches { at: Span, with: Contradiction },
    RedundantMatch { at: Span, by: Vec<Span>, of: Joint },
    UnitSuffix { at: Span, text: String, field: &'static str, write: String },
    RelativePath { at: Span, text: String, field: &'static str, write: String },
    RegexLike { at: Span, text: String, write: String },
    AndForOr { first: Span, second: Span },
    CaseTwins { what: &'static str, first: (Span, String), again: (Span, String) },
    LauncherWithoutDescendants { program: String, at: Span, more: Vec<Site> },
    // Who may join a real-time class
    RtByName { class: String, at: Span },
    RtInterpreter { class: String, at: Span, program: String },
    RtForRoot { class: String, at: Span },
    ArgAlone { class: String, at: Span },
    AboveKernelThreads { at: Span, priority: u8 },
    // What a machine makes of it
    RtCoversAll { class: String, at: Span, cpus: String },
    OverlappingFloors { wanted: u32, cores: usize, at: Span, others: Vec<Site> },
    NoSmt { class: String, clauses: Vec<Span> },
    KeptBy { class: String, counts: Vec<(&'static str, usize)>, clauses: Vec<Site> },
    // What a host makes of it
    NiceUnderAutogroup { at: Span },
    UnknownAccount { what: &'static str, name: String, at: Span },
}

/// What a condition is at odds with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contradiction {
    /// With this other one.
    Between(Span),
    /// With several others together.
    Among,
    /// With itself.
    Alone,
}

/// How two parts of a selector are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

impl From<Lint> for Diagnostic {
    fn from(lint: Lint) -> Diagnostic {
        let error = |code, message: String, at, label: &str| Diagnostic::error(Code(code), message, at, label);
        let warning =
            |code, message: String, at, label: &str| Diagnostic::new(Severity::Warning, Code(code), message, at, label);
        match lint {
            Lint::Shadowed { class, at, by } => {
                let message = format!("class `{class}` gets no process: whatever it matches belongs to a class above it");
                let finding = error("shadowed", message, at, "never reached");
                let also = |finding: Diagnostic, (at, name): Site| finding.also(at, format!("taken by `{name}`"));
                by.into_iter().fold(finding, also).help(
                    "the first class that matches wins: put the narrower class first, narrow the upper one with \
                     `and not`, or remove one",
                )
            }
            Lint::NeverMatches { at, with } => {
                let finding = |label| error("never-matches", "no process can satisfy this".into(), at, label);
                let help = "write `or` where either will do; otherwise remove one of the conditions";
                match with {
                    Contradiction::Between(first) => {
                        finding("and this").also(first, "these rule each other out: this").help(help)
                    }
                    Contradiction::Among => finding("these conditions rule each other out").help(help),
                    Contradiction::Alone => finding("never true").help("correct the pattern, or remove it"),
                }
            }
            Lint::RedundantMatch { at, by, of } => {
                let (message, label) = match of {
                    Joint::Or => ("this alternative adds nothing: another one covers it", "covered already"),
                    Joint::And => ("this condition adds nothing: it follows from another", "always true here"),
                };
                let also = |finding: Diagnostic, at| {
                    finding.also(at, if of == Joint::Or { "covers it" } else { "implies it" })
                };
                let finding = warning("redundant-match", message.into(), at, label);
                by.into_iter().fold(finding, also).help("remove it, or correct the pattern")
            }
            Lint::UnitSuffix { at, text, field, write } => error(
                "unit-suffix",
                format!("no process has `{text}` as its {field}: names of {field}s end in their kind"),
                at,
                "never matches",
            )
            .help(write),
            Lint::RelativePath { at, text, field, write } => error(
                "relative-path",
                format!("`{text}` is compared with the whole path of the {field}, which begins with `/`"),
                at,
                "never matches",
            )
            .help(write),
            Lint::RegexLike { at, text, write } => warning(
                "regex-like",
                format!("`{text}` is read as a glob and looks like a regular expression"),
                at,
                "`^`, `$` and `.` stand for themselves",
            )
            .help(write),
            Lint::AndForOr { first, second } => warning(
                "and-for-or",
                "a process has one unit, and this asks for two".into(),
                second,
                "and this one at the same time",
            )
            .also(first, "this unit")
            .help("write `or` between them"),
            Lint::CaseTwins { what, first, again } => {
                let name = ["class", "zone", "process set"].contains(&what);
                let word = |spelling: &str| if name { format!("`{spelling}`") } else { format!("`{what} {spelling}`") };
                let (one, other) = (word(&first.1), word(&again.1));
                let message = format!("{one} and {other} differ in nothing but case");
                let finding = warning("case-twins", message, again.0, "spelt like this here").also(first.0, "and like this here");
                finding.help(match name {
                    true => format!("give one {what} another name"),
                    false => "comparisons heed case: keep the spelling that processes really have".to_owned(),
                })
            }
            Lint::LauncherWithoutDescendants { program, at, more } => {
                let finding = warning(
                    "launcher-without-descendants",
                    format!("`{program}` starts other programs, and they leave the class as they start"),
                    at,
                    "only itself belongs to the class",
                );
                let also = |finding: Diagnostic, (at, name): Site| finding.also(at, format!("and so does `{name}`"));
                more.into_iter().fold(finding, also).help("add `with descendants` behind the match")
            }
            Lint::RtByName { class, at } => warning(
                "rt-by-name",
                format!("any user can join the real-time class `{class}` by giving a program this name"),
                at,
                "says nothing about whose program it is",
            )
            .help("add `and user NAME`, match its `unit` or `slice`, or write the whole path of a program that only root can replace, such as `exe /usr/sbin/nginx`"),
            Lint::RtInterpreter { class, at, program } => warning(
                "rt-interpreter",
                format!("`{program}` runs whatever it is given, so any user can join the real-time class `{class}`"),
                at,
                "an interpreter",
            )
            .help("add `and user NAME`, or match the `unit` of the service that runs it"),
            Lint::RtForRoot { class, at } => warning(
                "rt-for-root",
                format!("everything that root runs joins the real-time class `{class}`"),
                at,
                "systemd, sshd and every login shell of root, too",
            )
            .help("name the program as well: `user root and exe /usr/sbin/chronyd`"),
            Lint::ArgAlone { class, at } => warning(
                "arg-alone",
                format!("any process that is passed this argument joins the real-time class `{class}`"),
                at,
                "`ls` and an editor can have it, too",
            )
            .help("say which program: `exe /usr/bin/NAME and arg …`"),
            Lint::AboveKernelThreads { at, priority: 99 } => warning(
                "above-kernel-threads",
                "at priority 99 a thread is the equal of the kernel's own migration and watchdog threads".into(),
                at,
                "nothing runs before it",
            )
            .help("write `priority 98` at most; below 50 interrupts keep working beside it"),
            Lint::AboveKernelThreads { at, priority } => Diagnostic::new(
                Severity::Note,
                Code("above-kernel-threads"),
                format!("at priority {priority} a thread outranks the kernel's interrupt threads, which have 50"),
                at,
                "above 50",
            )
            .help("write `priority 49` or less where it waits for what interrupts deliver"),
            Lint::RtCoversAll { class, at, cpus } => warning(
                "rt-covers-all",
                format!("the real-time class `{class}` may take every CPU of this machine ({cpus})"),
                at,
                "leaves none for the rest",
            )
            .help("leave a core to everybody else: `on all except core 0`"),
            Lint::OverlappingFloors { wanted, cores, at, others } => {
                let has = if cores == 1 { "core".to_owned() } else { format!("{cores} cores") };
                let finding = warning(
                    "overlapping-floors",
                    format!("these floors claim {wanted} cores of a zone that has {cores}"),
                    at,
                    &format!("only {has} for all of them"),
                );
                let also = |finding: Diagnostic, (at, name): Site| finding.also(at, format!("and `{name}` claims these"));
                others.into_iter().fold(finding, also).help("lower a floor, or move the zones apart")
            }
            Lint::NoSmt { class, clauses } => {
                let first = clauses.first().copied().unwrap_or_default();
                let message = format!("no core of this machine has siblings, and class `{class}` says what to do with them");
                let finding = warning("no-smt", message, first, "nothing to do here");
                let finding = clauses.iter().skip(1).fold(finding, |finding, at| finding.also(*at, "nor here"));
                finding.help("keep it for machines with SMT, or remove it")
            }
            Lint::KeptBy { class, counts, clauses } => {
                let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
                let message = format!("what `{class}` is promised: {}", counts.join(", "));
                let mut clauses = clauses.into_iter();
                let (at, said) = clauses.next().unwrap_or_default();
                let note = Diagnostic::new(Severity::Note, Code("kept-by"), message, at, said);
                clauses.fold(note, |note, (at, said)| note.also(at, said)).help("`cotenant plan` has it as a table")
            }
            Lint::NiceUnderAutogroup { at } => warning(
                "nice-under-autogroup",
                "autogroup is on here, so `nice` weighs threads of one session against each other only".into(),
                at,
                "no effect between sessions",
            )
            .help("write `kernel: autogroup off;`, or see sched(7), \"The autogroup feature\""),
            Lint::UnknownAccount { what, name, at } => warning(
                "unknown-account",
                format!("this host knows no {what} `{name}`"),
                at,
                "matches nobody until it exists",
            )
            .help(format!("create the {what}, or correct its name; a number needs no entry")),
        }
    }
}
