//! `cotenant explain`.

use clap::Args;
use cotenant_grammar::nearest;

use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::pages::{page, pages};
use crate::render;
use crate::terminal::{Look, print};

/// Explain a finding
///
/// Every finding carries a code in brackets, as in `error[unknown-word]`. This prints its page: what it means, a policy
/// that has it, the same policy put right, and why it matters. Without a code it lists all there are.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  cotenant explain unknown-word         one code
  cotenant explain                      all codes, one a line
  cotenant explain | grep warning")]
pub(crate) struct Options {
    /// The code, as findings show it in brackets.
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<Outcome, Failure> {
    let look = Look::of_stdout();
    print(&match &options.code {
        None => render::codes(look),
        Some(code) => render::page(page(bare(code)).ok_or_else(|| unknown(code))?, look),
    })?;
    Ok(Outcome::Done)
}

/// The code of what was pasted from a finding: `error[unknown-word]:` is as good as `unknown-word`.
fn bare(code: &str) -> &str {
    let code = code.split_once('[').map_or(code, |(_, rest)| rest);
    code.split_once(']').map_or(code, |(code, _)| code)
}

fn unknown(code: &str) -> Failure {
    let failure = Failure::new(format!("no finding has the code `{code}`"));
    match nearest(bare(code), pages().map(|page| page.code)) {
        Some(near) => failure.help(format!("type `cotenant explain {near}`")),
        None => failure.help("`cotenant explain` lists all codes"),
    }
}
