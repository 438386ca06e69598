//! `cotenant convert`.

mod files;

use std::path::PathBuf;

use clap::Args;

use crate::convert::{Converted, Form, Groups, Input, convert};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::render::printable;
use crate::terminal::{print, tell};

/// Make a policy of rules for libcgroup, ananicy or TuneD
///
/// Writes the policy to standard output. Above each class stands the line that it comes from, and in comments that begin
/// with `not carried over` what a policy cannot say, with the reason. The form is known by the names of the files, or else
/// by their text. Lines that are wrong are told on standard error, and the others are still done.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant convert --cgconfig /etc/cgconfig.conf /etc/cgrules.conf > web.policy
                                        who goes where, with the CPUs of each group
  cotenant convert /etc/ananicy.d       every rule below a directory
  cotenant convert /usr/lib/tuned/realtime/tuned.conf | cotenant lint -
                                        a profile, and what is to be said of it

Exit codes:
  0  everything was carried over
  2  wrong usage, or a file that cannot be read
  3  done in part; what was not carried over stands in the policy")]
pub(crate) struct Options {
    /// Files of one form, or directories, in which and below which such files are looked for; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The form, where it cannot be told, or told wrongly.
    #[arg(long, value_enum, value_name = "FORM")]
    from: Option<Form>,
    /// A cgconfig.conf, in which the groups of cgrules.conf have their CPUs, weights and quotas.
    #[arg(long, value_name = "FILE")]
    cgconfig: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let inputs = files::read(&options.files)?;
    let form = match options.from {
        Some(form) => form,
        None => common_form(&inputs)?,
    };
    let groups = match &options.cgconfig {
        Some(_) if form != Form::Cgrules => {
            return Err(Failure::new("`--cgconfig` goes with cgrules.conf, and these files are something else")
                .help("leave it out, or write `--from cgrules`"));
        }
        Some(path) => Some(Groups::read(&files::one(path)?)),
        None => None,
    };
    let converted = convert(form, &inputs, groups.as_ref()).map_err(|why| {
        Failure::new(format!("no policy can be made of {}: {why}", listed(&inputs)))
            .help("convert fewer files at once; several policies make one directory")
    })?;
    if converted.rules.is_empty() {
        return Err(Failure::new(format!("no rule in {}", listed(&inputs)))
            .help("name the files that hold the rules, or their form with `--from`"));
    }
    print(&converted.policy)?;
    tell(&printable(&said(&converted)));
    let whole = converted.rules.iter().all(|rule| rule.lost.is_empty());
    Ok(if whole { Outcome::Done } else { Outcome::InPart })
}

/// The form of all the files.
fn common_form(inputs: &[Input]) -> Result<Form, Failure> {
    let mut known: Option<(Form, &str)> = None;
    for input in inputs {
        match (known, input.form()) {
            (_, None) => {}
            (None, Some(form)) => known = Some((form, &input.name)),
            (Some((form, _)), Some(other)) if form == other => {}
            (Some((_, first)), Some(_)) => {
                return Err(Failure::new(format!("`{first}` and `{}` are of two forms", input.name))
                    .help("convert them one by one; several policies make one directory"));
            }
        }
    }
    known.map(|(form, _)| form).ok_or_else(|| {
        Failure::new(format!("the form of {} cannot be told", listed(inputs)))
            .help("write `--from cgrules`, `--from ananicy` or `--from tuned`")
    })
}

/// Wrong lines, and how much was carried over.
fn said(converted: &Converted) -> String {
    let mut text = String::new();
    for rule in converted.rules.iter().filter(|rule| rule.fault) {
        if let (Some(line), Some(what)) = (rule.lines.first(), rule.lost.first()) {
            text.push_str(&format!("{}:{}: {}\n", line.file, line.number, what.replace(['\n', '\r'], "?")));
        }
    }
    let all = converted.rules.len();
    let lost = converted.rules.iter().filter(|rule| rule.class.is_none()).count();
    let whole = converted.rules.iter().filter(|rule| rule.class.is_some() && rule.lost.is_empty()).count();
    let noun = if all == 1 { "rule" } else { "rules" };
    text.push_str(&format!("{all} {noun}: {whole} carried over, {} in part, {lost} not\n", all - whole - lost));
    text
}

fn listed(inputs: &[Input]) -> String {
    match inputs {
        [one] => format!("`{}`", one.name),
        many => format!("{} files", many.len()),
    }
}
