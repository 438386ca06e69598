//! Sessions as documents show them: what was typed after `$ `, further lines of it after `> `, and what was said.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// One command and what came of it.
pub(crate) struct Step {
    pub(crate) typed: String,
    pub(crate) said: String,
}

/// The fenced blocks of a language, fences left out.
pub(crate) fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The commands of a block, in order. What stands before the first is an error.
pub(crate) fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        if let Some(typed) = line.strip_prefix("$ ") {
            steps.push(Step { typed: typed.to_owned(), said: String::new() });
            continue;
        }
        let step = steps.last_mut().unwrap_or_else(|| panic!("a session begins with `$ `: {block}"));
        let more = if line == ">" { Some("") } else { line.strip_prefix("> ") };
        match more.filter(|_| step.said.is_empty()) {
            Some(more) => step.typed += &format!("\n{more}"),
            None => step.said += &format!("{line}\n"),
        }
    }
    steps
}

/// A block of these steps.
pub(crate) fn shown(steps: &[Step]) -> String {
    let show = |step: &Step| format!("$ {}\n{}", step.typed.replace('\n', "\n> ").replace("> \n", ">\n"), step.said);
    steps.iter().map(show).collect()
}

/// A shell that commands are typed into, one at a time.
pub(crate) struct Shell<'a> {
    /// Where it works.
    pub(crate) directory: &'a Path,
    /// Where programs are looked for first.
    pub(crate) programs: &'a Path,
}

impl Shell<'_> {
    /// Types all the commands into one shell, and gives what each said, standard error with it.
    pub(crate) fn types(&self, commands: &[&str]) -> Vec<String> {
        // A line that nothing prints, in a file of its own so that it comes after all that a command said.
        const END: &str = "\u{1}typed\u{1}";
        let path = format!("{}:{}", self.programs.display(), std::env::var("PATH").unwrap());
        // A command that waits in vain ends the session and what it started.
        let mut shell = Command::new("timeout");
        shell
            .args(["300", "bash", "--noprofile", "--norc"])
            .current_dir(self.directory)
            .env("PATH", path)
            .env("NO_COLOR", "1");
        shell.env("COLUMNS", "100").env("LC_ALL", "C.UTF-8").env("TMPDIR", self.directory);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut input = shell.stdin.take().unwrap();
        // However the shell ends, what it started ends with it.
        writeln!(input, "exec 2>&1\ntrap 'jobs -p | xargs -r kill 2>/dev/null' EXIT").unwrap();
        for command in commands {
            // Commands must not read what is typed after them.
            writeln!(input, "{{ {command}\n}} </dev/null\nprintf '{END}'").unwrap();
        }
        drop(input);
        let output = shell.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut said: Vec<String> = text.split(END).map(str::to_owned).collect();
        assert_eq!(said.pop().as_deref(), Some(""), "every command was typed");
        assert_eq!(said.len(), commands.len(), "{text}");
        said
    }
}
