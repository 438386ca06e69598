//! `cotenant fmt`.

mod rewrite;

use clap::Args;
use cotenant_grammar::{Diagnostics, SourceSet, format, parse};

use crate::cli::PolicyPaths;
use crate::failure::Failure;
use crate::load::{self, STDIN};
use crate::outcome::Outcome;
use crate::render;
use crate::terminal::{Look, print, tell};

/// Lay a policy out in the one canonical way
///
/// Rewrites each file in place, keeping its comments, mode and owner; a file that is laid out already is not touched.
/// `-` reads standard input and writes to standard output. A file that cannot be read without errors is reported and left
/// alone, and the others are still done.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant fmt web.policy               one file
  cotenant fmt --check /etc/cotenant    which files of a directory would change; exits with 1 if any would
  cotenant fmt - < web.policy           as a filter, for editors")]
pub(crate) struct Options {
    #[command(flatten)]
    policy: PolicyPaths,
    /// Change nothing; list the files that would change, and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Done;
    for path in load::files(&options.policy.paths)? {
        let stdin = load::is_stdin(&path);
        let (name, text) =
            if stdin { (STDIN.to_owned(), load::read_stdin()?) } else { (load::shown(&path), load::read(&path)?) };
        match laid_out(&name, &text)? {
            Layout::Broken(diagnostics) => {
                let sources = SourceSet::one(name, text);
                tell(&render::human(&diagnostics, &sources, Look::of_stderr()));
                tell(&format!("{}, left as it is\n", render::found(&diagnostics)));
                outcome = Outcome::Refused;
            }
            Layout::New(new) if options.check => {
                if new != text {
                    print(&format!("{name}\n"))?;
                    outcome = Outcome::Refused;
                }
            }
            Layout::New(new) if stdin => print(&new)?,
            Layout::New(new) if new != text => rewrite::rewrite(&path, &new)?,
            Layout::New(_) => {}
        }
    }
    Ok(outcome)
}

enum Layout {
    New(String),
    /// The text has errors of syntax.
    Broken(Diagnostics),
}

/// The new layout of a text, which is known to say the same.
fn laid_out(name: &str, text: &str) -> Result<Layout, Failure> {
    let (before, diagnostics) = parse(SourceSet::one(name, text));
    if diagnostics.has_errors() {
        return Ok(Layout::Broken(diagnostics));
    }
    let new = format(text);
    let (after, diagnostics) = parse(SourceSet::one(name, new.as_str()));
    if diagnostics.has_errors() || before.statements != after.statements {
        return Err(Failure::new(format!(
            "the new layout of `{name}` would say something else, so it was not written"
        ))
        .help("this is a fault of cotenant; please report it together with the file"));
    }
    Ok(Layout::New(new))
}
