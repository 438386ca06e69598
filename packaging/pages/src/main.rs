//! Writes what a package has of the command line beside the program: a manual page a command, and completions.
//!
//! A program of its own, so that the one that is shipped and runs as root does not carry what makes them.

mod page;

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

/// Where each shell looks for completions, below `/usr/share`.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/cotenant"),
    (Shell::Zsh, "zsh/vendor-completions/_cotenant"),
    (Shell::Fish, "fish/vendor_completions.d/cotenant.fish"),
];

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name the folder to write to"))?;
    write(Path::new(&folder))
}

/// Writes everything below a folder, as it belongs below `/usr/share`.
fn write(folder: &Path) -> io::Result<()> {
    let mut command = cotenant::command().disable_help_subcommand(true);
    command.build();
    let pages = folder.join("man/man1");
    fs::create_dir_all(&pages)?;
    for command in std::iter::once(&command).chain(shown(&command)) {
        fs::write(pages.join(format!("{}.1", page::name(command))), page::page(command)?)?;
    }
    for (shell, file) in SHELLS {
        let file = folder.join(file);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut cotenant::command(), "cotenant", &mut text);
        fs::write(file, text)?;
    }
    Ok(())
}

/// The commands below one that users are told of.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

#[cfg(test)]
mod tests;
