//! The manual page of a command: what clap_mangen makes of its options, and examples, exit codes and signals as they are laid
//! out in its help.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// What the page is called: `cotenant`, `cotenant-lint`.
pub(crate) fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command that was built, in man(7).
pub(crate) fn page(command: &Command) -> io::Result<Vec<u8>> {
    let page = Man::new(command.clone());
    // By hand, because an empty argument would be left out, and there is no date that would be true of every build.
    let (name, version) = (name(command), env!("CARGO_PKG_VERSION"));
    let mut text = format!(".TH \"{name}\" 1 \"\" \"cotenant {version}\" \"CPU placement by policy\"\n").into_bytes();
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if crate::shown(command).next().is_some() {
        page.render_subcommands_section(&mut text)?;
    }
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    for (title, body) in sections(&after) {
        roff.control("SH", [title.to_uppercase().as_str()]);
        // As it is: it is laid out in columns.
        roff.control("nf", []);
        for line in body {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(see_also(command))]);
    roff.to_writer(&mut text)?;
    Ok(text)
}

/// The pieces of a text that are headed by a line ending in a colon, at the left.
fn sections(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            Some(title) => sections.push((title, Vec::new())),
            None => sections.last_mut().into_iter().for_each(|(_, body)| body.push(line)),
        }
    }
    for (_, body) in &mut sections {
        while body.pop_if(|line| line.is_empty()).is_some() {}
    }
    sections
}

fn see_also(command: &Command) -> String {
    let own = name(command);
    let mut pages = vec!["cotenant(1)".to_owned(), "cotenant.policy(5)".to_owned()];
    pages.extend(crate::shown(command).map(|command| format!("{}(1)", name(command))));
    pages.retain(|page| *page != format!("{own}(1)"));
    pages.join(", ")
}
