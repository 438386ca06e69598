//! One mistake a file, the file named for it: what a user is told.
//!
//! A fixture is checked on four cores of two threads, unless it begins with lines that say otherwise: `# machine: …`;
//! `# arguments: …` for `lint`; `# on this host, with /proc/…: …` for what depends on how the kernel is set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::{Ran, cotenant, files, finish, run, stem};

const MACHINE: &str = "pack:1 core:4 pu:2";
const ON_THIS_HOST: &str = "# on this host, with ";

#[test]
fn every_mistake_is_explained() {
    for path in files("tests/ui", ".policy") {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).unwrap();
        let said = |key: &str| text.lines().take(2).find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let more = said("# arguments").into_iter().flat_map(|more| more.split(' '));
        let lint = match text.lines().next().and_then(|line| line.strip_prefix(ON_THIS_HOST)?.split_once(": ")) {
            Some(_) if !is_root() => {
                println!("passed over, because only root can give a host another face: {path}");
                continue;
            }
            Some((setting, value)) => run_with_setting(&["lint", &path], setting, value),
            None => {
                let machine = said("# machine").unwrap_or(MACHINE);
                run(&["lint", "--topology", machine].into_iter().chain(more).chain([path.as_str()]).collect::<Vec<_>>())
            }
        };
        let errors = lint.stderr.contains(" error[");
        assert_eq!(lint.code, Some(i32::from(errors)), "{path}:\n{}", lint.stderr);
        assert_eq!(lint.stdout, "", "{path}");
        let code = stem(&path).split_once("--").map_or(stem(&path), |(code, _)| code);
        assert!(lint.stderr.contains(&format!("[{code}]: ")), "{path} is named for a code:\n{}", lint.stderr);
        // Some mistakes can only be made with clauses that nothing carries out yet, which is said of them besides.
        let said = lint.stderr.lines().filter(|line| line.contains("]: "));
        let mistakes = said.filter(|line| code == "not-carried-out" || !line.contains("[not-carried-out]")).count();
        assert_eq!(mistakes, 1, "{path} has one mistake:\n{}", lint.stderr);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "ui" }, {
            insta::assert_snapshot!(stem(&path), lint.stderr);
        });
    }
}

#[test]
fn every_code_has_a_fixture_and_a_page() {
    let explained: BTreeSet<String> = files("tests/ui", ".policy")
        .iter()
        .map(|path| stem(path).split("--").next().unwrap().to_owned())
        // Thirty megabytes and thousands of files are made when they are needed; see `cli.rs`.
        .chain(["file-too-large", "include-too-many"].map(str::to_owned))
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut codes = BTreeSet::new();
    for folder in ["grammar/src", "compiler/src"] {
        prose(&root.join(folder))
            .iter()
            .for_each(|file| codes.extend(codes_in(&std::fs::read_to_string(file).unwrap())));
    }
    assert!(codes.len() > 40, "codes are found where they are: {codes:?}");
    for code in &codes {
        assert!(
            explained.contains(code),
            "`{code}` has no fixture: add tests/ui/{code}.policy, a policy with that mistake"
        );
        let page = root.join(format!("docs/lints/{code}.md"));
        assert!(page.exists(), "`{code}` has no page: add docs/lints/{code}.md, with the headings of its neighbours");
    }
    for code in &explained {
        assert!(codes.contains(code), "no mistake has the code `{code}`: remove or rename tests/ui/{code}.policy");
    }
    for page in files("docs/lints", ".md") {
        assert!(codes.contains(stem(&page)), "no mistake has the code `{}`: remove or rename {page}", stem(&page));
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Runs it where a file of the kernel's says something else, for this run alone: in a mount namespace of its own.
fn run_with_setting(arguments: &[&str], setting: &str, value: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let stand_in = folder.path().join("setting");
    std::fs::write(&stand_in, format!("{value}\n")).unwrap();
    let lint = cotenant(arguments);
    let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(&stand_in).arg(setting);
    command.arg(lint.get_program()).args(lint.get_args()).current_dir(lint.get_current_dir().unwrap());
    command.env("NO_COLOR", "1").env("COLUMNS", "100").stdin(std::process::Stdio::null());
    finish(&mut command)
}

/// Where the prose of all mistakes stands: `mistake.rs` and everything below `mistake/`.
fn prose(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(prose(&entry));
        } else if entry.components().any(|part| Path::new(part.as_os_str()).file_stem() == Some("mistake".as_ref())) {
            found.push(entry);
        }
    }
    found
}

/// Codes are the only kebab-case strings of those files; those of one word stand where a diagnostic is made.
fn codes_in(text: &str) -> BTreeSet<String> {
    let kebab = |text: &&str| {
        text.contains('-')
            && text.split('-').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase()))
    };
    let strings = text.split('"').filter(kebab);
    let makers = ["Code(\"", "error(\""];
    let made = makers.iter().flat_map(|maker| text.split(maker).skip(1)).filter_map(|rest| rest.split('"').next());
    strings.chain(made).map(str::to_owned).collect()
}
