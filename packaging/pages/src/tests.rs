//! Pages and completions are sound, and cotenant.policy(5) says what the grammar says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::{Severity, SourceSet, format, parse};

const POLICY_PAGE: &str = include_str!("../../man/cotenant.policy.5");
const GRAMMAR: &str = include_str!("../../../grammar/src/policy.pest");

fn written() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    super::write(folder.path()).unwrap();
    folder
}

/// What man(1) has to say against a page: nothing.
fn check(page: &Path) {
    let mut man = Command::new("man");
    man.args(["--warnings", "--encoding=UTF-8", "--local-file"]).arg(page).env("MANROFFSEQ", "").env("MANWIDTH", "100");
    match man.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => eprintln!("passed over: there is no man(1)"),
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}: {output:?}", page.display());
            assert!(output.stderr.is_empty(), "{}: {}", page.display(), String::from_utf8_lossy(&output.stderr));
            let shown = String::from_utf8(output.stdout).unwrap();
            assert!(shown.lines().next().unwrap().contains("CPU placement by policy"), "{}: {shown}", page.display());
        }
    }
}

#[test]
fn every_command_has_a_page_that_man_finds_nothing_wrong_with() {
    let folder = written();
    let pages: Vec<PathBuf> =
        std::fs::read_dir(folder.path().join("man/man1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let command = cotenant::command();
    assert_eq!(pages.len(), 1 + command.get_subcommands().count());
    for command in command.get_subcommands() {
        let page = folder.path().join(format!("man/man1/cotenant-{}.1", command.get_name()));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.contains(".SH SYNOPSIS") && text.contains("cotenant.policy(5)"), "{text}");
    }
    pages.iter().for_each(|page| check(page));
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../man/cotenant.policy.5")));
}

#[test]
fn examples_keep_their_columns() {
    let text = std::fs::read_to_string(written().path().join("man/man1/cotenant-enforce.1")).unwrap();
    let (_, signals) = text.split_once(".SH SIGNALS\n.nf\n").unwrap();
    assert!(signals.starts_with("  TERM, INT  put everything back and end\n"), "{signals}");
    let (_, examples) = text.split_once(".SH EXAMPLES\n.nf\n").unwrap();
    assert!(examples.split_once(".fi\n").unwrap().0.contains("\\-\\-tick 5ms"), "{examples}");
}

#[test]
fn bash_completes_commands_and_options() {
    let folder = written();
    let file = folder.path().join("bash-completion/completions/cotenant");
    let complete = |words: &[&str]| {
        // As bash does it: the words, the one the cursor is in, and what the function leaves in COMPREPLY.
        let script = r#"set -eu; . "$1"; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            complete -p cotenant | grep -q -- '-F _cotenant'
            _cotenant cotenant "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\n' "${COMPREPLY[@]}""#;
        let output = Command::new("bash").args(["-c", script, "bash"]).arg(&file).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(Command::new("bash").arg("-n").arg(&file).status().unwrap().success());
    assert_eq!(complete(&["cotenant", "pl"]), "plan\n");
    assert_eq!(complete(&["cotenant", "plan", "--topo"]), "--topology\n");
    assert_eq!(complete(&["cotenant", "status", "--format", "j"]), "json\n");
    assert_eq!(complete(&["cotenant", "re"]), "reload\nrelease\n");
}

/// A shell at a terminal, and somebody who types the beginning of a command and a tab.
#[test]
fn a_tab_in_bash_makes_a_command_of_its_beginning() {
    let folder = written();
    let file = folder.path().join("bash-completion/completions/cotenant");
    let typed = format!("source {}\ncotenant() {{ echo \"ran:$*\"; }}\ncotenant pl\t--diff\nexit\n", file.display());
    let mut shell = Command::new("script");
    shell.args(["--quiet", "--command", "bash --norc --noprofile -i", "/dev/null"]).env("TERM", "dumb");
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let shown = String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap();
    assert!(shown.contains("ran:plan --diff"), "{shown}");
}

/// The forms of a section: what stands behind its `.TP` and `.TQ`, without fonts.
fn forms(section: &str) -> Vec<String> {
    let (_, rest) = POLICY_PAGE.split_once(&format!("\n.SH {section}\n")).unwrap();
    let lines: Vec<&str> = rest.split("\n.SH ").next().unwrap().lines().collect();
    let tags = lines.windows(2).filter(|pair| pair[0] == ".TP" || pair[0] == ".TQ").map(|pair| pair[1]);
    let bare =
        |tag: &str| ["\\fB", "\\fI", "\\fR"].iter().fold(tag.replace("\\-", "-"), |tag, font| tag.replace(font, ""));
    tags.map(bare).collect()
}

/// Everything that a form stands for: each of several words, with and without what may be left out.
fn readings(form: &str) -> Vec<String> {
    if let Some((before, rest)) = form.split_once('[') {
        let (inner, after) = rest.split_once(']').unwrap();
        return [inner, ""].iter().flat_map(|it| readings(&format!("{before}{it}{after}"))).collect();
    }
    // Of `a|b(…)` and `a|b: …` only the words are alternatives.
    let Some(bar) = form.find('|') else { return vec![form.to_owned()] };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '|';
    let start = form[..bar].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
    let end = form[bar..].find(|c| !is_word(c)).map_or(form.len(), |at| bar + at);
    form[start..end]
        .split('|')
        .flat_map(|word| readings(&format!("{}{word}{}", &form[..start], &form[end..])))
        .collect()
}

/// Something for everything that stands for something else.
fn filled(reading: &str) -> String {
    let samples = [
        ("PROCESSES", "exe x"),
        ("CONDITIONS", "smt"),
        ("CLAUSES", "on all"),
        ("VERSION", "5.14"),
        ("KNOBS", "autogroup on"),
        ("CPUS", "all"),
        ("GLOB", "x"),
        ("NAME", "x"),
        ("N", "1"),
        ("T", "10ms"),
    ];
    samples.iter().fold(reading.to_owned(), |text, (name, sample)| text.replace(name, sample))
}

/// Sections with forms, and what goes around one to make a statement.
const SECTIONS: [(&str, &str); 6] = [
    ("STATEMENTS", "@"),
    ("PROCESSES", "processes p: @;"),
    ("CPUS", "zone z: @;"),
    ("CLAUSES", "class c: @;"),
    ("CONDITIONS", "require: @;"),
    ("KNOBS", "kernel: @;"),
];

#[test]
fn the_grammar_takes_every_form_of_the_page() {
    for (section, around) in SECTIONS {
        let forms = forms(section);
        assert!(forms.len() > 2, "{section}: {forms:?}");
        for reading in forms.iter().flat_map(|form| readings(form)) {
            let text = around.replace('@', &filled(&reading));
            let (_, diagnostics) = parse(SourceSet::one("p.policy", text.as_str()));
            assert!(!diagnostics.has_errors(), "{section}: {text}: {diagnostics:?}");
        }
    }
}

/// The words of the grammar: what its tokens have between quotes, letters and perhaps digits.
fn words() -> BTreeSet<String> {
    let tokens = GRAMMAR.lines().filter(|line| line.contains("~ !name_char }"));
    let quoted = tokens.flat_map(|line| line.split('"').skip(1).step_by(2));
    // The plural is written with `~ "s"?`, and units stand behind numbers.
    let words = quoted.filter(|word| word.len() > 1 && !["us", "ms"].contains(word));
    words.map(str::to_owned).collect()
}

#[test]
fn the_page_has_every_word_of_the_grammar() {
    let words = words();
    assert!(words.len() > 90, "{words:?}");
    let all = SECTIONS.iter().flat_map(|(section, _)| forms(section)).collect::<Vec<_>>().join("\n");
    let on_page: BTreeSet<&str> = all.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let missing: Vec<&String> = words.iter().filter(|word| !on_page.contains(word.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn its_example_is_a_policy_without_a_fault() {
    let (_, example) = POLICY_PAGE.split_once(".SH EXAMPLE\n.nf\n").unwrap();
    let example = example.split_once(".fi\n").unwrap().0;
    let machine = Topology::load(&TopologySource::Synthetic("core:8 pu:2".to_owned())).unwrap();
    let (plan, diagnostics) = compile(SourceSet::one("p.policy", example), &machine);
    assert!(plan.is_some() && diagnostics.count(Severity::Warning) == 0, "{diagnostics:?}");
    assert_eq!(format(example), example);
}
