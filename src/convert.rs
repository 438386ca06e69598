//! Policies made of what people have: rules of libcgroup, of ananicy, of TuneD.
//!
//! ```text
//! texts ─one reader a form─▶ rules ─compiler─▶ rules it takes ─formatter─▶ policy
//! ```
//!
//! A reader says what each line would be in a policy, and what of it no policy can say. [`out`] asks the compiler and writes.

mod ananicy;
mod cgrules;
mod out;
mod rule;
mod tuned;
mod words;

#[cfg(test)]
mod tests;

use clap::ValueEnum;

pub(crate) use self::cgrules::Groups;
pub(crate) use self::out::Converted;
use self::rule::{Line, Rule};

/// What matches every process.
const EVERYBODY: &str = "comm \"*\"";

/// Where the rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// `cgrules.conf` of libcgroup.
    Cgrules,
    /// Rules, types and groups of ananicy and ananicy-cpp.
    Ananicy,
    /// `tuned.conf`, section `[scheduler]`.
    Tuned,
}

/// A text and the name it has in comments.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Input {
    /// Its lines, as the other readers share them.
    fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        text.lines().zip(1..).map(|(text, number)| Line { file: self.name.clone(), number, text: text.to_owned() })
    }

    /// The form that the name or else the first line speaks for.
    pub(crate) fn form(&self) -> Option<Form> {
        let name = self.name.rsplit('/').next().unwrap_or(&self.name);
        if [".rules", ".types", ".cgroups"].iter().any(|ending| name.ends_with(ending)) {
            return Some(Form::Ananicy);
        }
        if name == "tuned.conf" {
            return Some(Form::Tuned);
        }
        if name == "cgrules.conf" {
            return Some(Form::Cgrules);
        }
        let mut lines = self.lines().map(|line| line.text.trim().to_owned());
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']))?;
        match first.chars().next()? {
            '{' => Some(Form::Ananicy),
            '[' => Some(Form::Tuned),
            _ => (first.split_whitespace().count() >= 3 && !first.contains(['=', ';'])).then_some(Form::Cgrules),
        }
    }
}

/// The policy that the texts, all of one form, come to. Control groups are for libcgroup's rules.
///
/// # Errors
/// What makes all of it be refused.
pub(crate) fn convert(form: Form, inputs: &[Input], groups: Option<&Groups>) -> Result<Converted, String> {
    let rules = match form {
        Form::Cgrules => {
            let faults = groups.iter().flat_map(|groups| &groups.faults);
            let faults = faults.map(|(line, what)| Rule::fault(line.clone(), what.as_str()));
            faults.chain(cgrules::rules(inputs, groups)).collect()
        }
        Form::Ananicy => ananicy::rules(inputs),
        Form::Tuned => tuned::rules(inputs),
    };
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let from = match names.as_slice() {
        [one] => (*one).to_owned(),
        many => format!("{} files", many.len()),
    };
    out::write(&format!("Converted from {from}. Read it, and check it with `cotenant lint`."), rules)
}
