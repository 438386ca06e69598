//! The README and the book say what the product does: their policies compile, and their sessions go as shown.
//!
//! Pages of `docs/lints` are held by `tests/explain.rs`, and the tutorial, which needs a daemon, by `tests/tutorial.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "documents/session.rs"]
mod session;

use std::path::{Path, PathBuf};

use session::{Shell, blocks, shown, steps};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The documents whose blocks are tried, as paths from the root of the repository.
fn documents() -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("README.md")];
    for folder in ["docs", "docs/guides", "docs/reference"] {
        for entry in std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap() {
            let path = Path::new(folder).join(entry.unwrap().file_name());
            if path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("tutorial.md") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

fn binaries() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cotenant")).parent().unwrap()
}

#[test]
fn policies_compile() {
    let directory = tempfile::tempdir().unwrap();
    let shell = Shell { directory: directory.path(), programs: binaries() };
    let mut found = 0;
    for document in documents() {
        for policy in blocks(&read(&document), "policy") {
            found += 1;
            std::fs::write(directory.path().join("p.policy"), &policy).unwrap();
            let said = &shell.types(&["cotenant lint --topology 'pack:1 core:8 pu:2' p.policy || echo refused"])[0];
            assert!(!said.contains("refused"), "{}:\n{policy}\n{said}", document.display());
        }
    }
    assert!(found > 1, "documents have policies");
}

/// With `README_UPDATE=1` the documents are rewritten instead; read the difference before it is committed.
#[test]
fn sessions_go_as_shown() {
    let mut found = 0;
    for document in documents() {
        // The sessions of a document go on from one another.
        let directory = tempfile::tempdir().unwrap();
        let shell = Shell { directory: directory.path(), programs: binaries() };
        let before = read(&document);
        let sessions: Vec<_> = blocks(&before, "console").into_iter().map(|block| (steps(&block), block)).collect();
        let typed: Vec<&str> =
            sessions.iter().flat_map(|(steps, _)| steps.iter().map(|it| it.typed.as_str())).collect();
        found += typed.len();
        let mut said = shell.types(&typed).into_iter();
        let mut after = before.clone();
        for (mut steps, block) in sessions {
            steps.iter_mut().for_each(|step| step.said = said.next().unwrap());
            after = after.replace(&block, &shown(&steps));
        }
        if std::env::var_os("README_UPDATE").is_some() {
            std::fs::write(Path::new(ROOT).join(&document), after).unwrap();
            continue;
        }
        for (line, now) in before.lines().zip(after.lines()) {
            assert_eq!(now, line, "{}: a session goes otherwise now; see with README_UPDATE=1", document.display());
        }
        assert_eq!(before.lines().count(), after.lines().count(), "{}", document.display());
    }
    assert!(found > 1, "documents have sessions");
}

/// What the summary names as chapters.
fn chapters() -> Vec<String> {
    let summary = read("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    links.filter(|link| !link.is_empty()).collect()
}

#[test]
fn the_book_has_every_page_and_every_page_is_in_the_book() {
    let chapters = chapters();
    for folder in ["", "guides/", "reference/", "lints/", "measurements/"] {
        for entry in std::fs::read_dir(Path::new(ROOT).join("docs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let chapter = format!("{folder}{name}");
            if name.ends_with(".md") && name != "SUMMARY.md" {
                assert!(chapters.contains(&chapter), "docs/SUMMARY.md names {chapter}");
            }
        }
    }
    for chapter in &chapters {
        assert!(Path::new(ROOT).join("docs").join(chapter).exists(), "docs/SUMMARY.md names {chapter}");
    }
    let mut once = chapters.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), chapters.len(), "each once");
}

#[test]
fn links_of_documents_lead_somewhere() {
    for document in documents().into_iter().chain([PathBuf::from("docs/tutorial.md")]) {
        let text = read(&document);
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let target = link.split('#').next().unwrap();
            if !link.contains("://") && !target.is_empty() {
                let path = Path::new(ROOT).join(document.parent().unwrap()).join(target).canonicalize();
                let path = path.unwrap_or_else(|_| panic!("{}: {link} is not there", document.display()));
                // What a book links to must be in it.
                let is_in_book = path.starts_with(Path::new(ROOT).canonicalize().unwrap().join("docs"));
                assert!(is_in_book || !document.starts_with("docs"), "{}: {link} leaves the book", document.display());
            }
        }
    }
}
