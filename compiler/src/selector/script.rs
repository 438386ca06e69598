//! The script that an interpreter runs, from what the kernel knows of the process: its executable and its arguments.
//!
//! Each interpreter has options that take the next argument as their value, and options that take the program itself from
//! the command line, so that no script is run. What an option does that is not listed here is not known; it is taken to
//! stand alone.

use super::last_part;

/// How to find the script among the arguments.
struct Interpreter {
    /// Options whose value is the next argument.
    with_value: &'static [&'static str],
    /// Options behind which the program stands as text, so that there is no script.
    inline: &'static [&'static str],
    /// Options whose value is what is run.
    runs: &'static [&'static str],
}

const PYTHON: Interpreter =
    Interpreter { with_value: &["-W", "-X", "-Q", "--check-hash-based-pycs"], inline: &["-c"], runs: &["-m"] };
const PERL: Interpreter = Interpreter { with_value: &["-I"], inline: &["-e", "-E"], runs: &[] };
const RUBY: Interpreter = Interpreter { with_value: &["-I", "-r", "-C", "-E", "-K"], inline: &["-e"], runs: &[] };
const NODE: Interpreter = Interpreter {
    with_value: &[
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-C",
        "--conditions",
        "--env-file",
    ],
    inline: &["-e", "--eval", "-p", "--print"],
    runs: &[],
};
const SHELL: Interpreter =
    Interpreter { with_value: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"], inline: &["-c", "-s"], runs: &[] };
const PHP: Interpreter =
    Interpreter { with_value: &["-c", "-d", "-z", "-t", "-S"], inline: &["-r"], runs: &["-f", "--file"] };
const LUA: Interpreter = Interpreter { with_value: &["-l", "-e"], inline: &[], runs: &[] };
const JAVA: Interpreter = Interpreter {
    with_value: &[
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--add-modules",
        "--add-opens",
        "--add-exports",
        "--add-reads",
        "--upgrade-module-path",
    ],
    inline: &[],
    runs: &["-jar", "-m", "--module"],
};
const PLAIN: Interpreter = Interpreter { with_value: &[], inline: &[], runs: &[] };

/// The script, or the jar, module or class, that the process runs; for Wine the Windows program. None where the
/// executable is no interpreter that is known, or runs no script.
#[must_use]
pub fn script<'a>(exe: Option<&[u8]>, args: &'a [Vec<u8>]) -> Option<&'a [u8]> {
    let exe = exe.or_else(|| args.first().map(Vec::as_slice))?;
    let name = std::str::from_utf8(last_part(exe)).ok()?;
    if name.starts_with("wine") && !name.starts_with("wineserver") {
        return windows_program(args);
    }
    let rest = args.get(1..)?;
    let Interpreter { with_value, inline, runs } = interpreter(name)?;
    let mut rest = rest.iter().map(Vec::as_slice);
    while let Some(argument) = rest.next() {
        let is = |option: &&str| option.as_bytes() == argument;
        if inline.iter().any(is) || argument == b"-" {
            return None;
        }
        if runs.iter().any(is) || argument == b"--" {
            return rest.next();
        }
        if with_value.iter().any(is) {
            rest.next();
        } else if !argument.starts_with(b"-") && !argument.starts_with(b"+") {
            return Some(argument);
        } else if takes_program(argument, inline) {
            return None;
        }
    }
    None
}

/// Whether a bundle such as `-lc` holds a one-letter option that takes the program as text.
fn takes_program(argument: &[u8], inline: &[&str]) -> bool {
    let letters = argument.strip_prefix(b"-").filter(|rest| rest.iter().all(u8::is_ascii_alphabetic));
    let is_short = letters.is_some_and(|letters| letters.len() <= 4);
    let letter = |option: &&str| option.len() == 2 && option.bytes().last() == argument.last().copied();
    is_short && inline.iter().any(letter)
}

/// The first argument that names a Windows program. Wine replaces its arguments by the program's own, of which the first
/// is its Windows path; before that stand the preloader's.
fn windows_program(args: &[Vec<u8>]) -> Option<&[u8]> {
    let names_program = |argument: &&[u8]| {
        let ending = argument.len().checked_sub(4).and_then(|start| argument.get(start..));
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case(b".exe"))
    };
    args.iter().map(Vec::as_slice).find(names_program)
}

/// By the executable's name without a version: `python3.11`, `perl5.36`, `node`.
fn interpreter(name: &str) -> Option<Interpreter> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    Some(match stem {
        "python" | "pypy" => PYTHON,
        "perl" => PERL,
        "ruby" | "jruby" => RUBY,
        "node" | "nodejs" => NODE,
        "bash" | "sh" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "fish" => SHELL,
        "php" => PHP,
        "lua" | "luajit" => LUA,
        "java" => JAVA,
        "tclsh" | "wish" | "mono" | "dotnet" => PLAIN,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::script;

    /// `exe | argument | argument …`, as `/proc` shows them, and the script.
    const RECORDED: &[(&str, Option<&str>)] = &[
        ("/usr/bin/python3.11 | /usr/bin/python3 | /usr/bin/terminator", Some("/usr/bin/terminator")),
        ("/usr/bin/python3.11 | python3 | -u | -W | ignore | app.py | --serve", Some("app.py")),
        ("/usr/bin/python3.11 | python3 | -m | http.server | 8080", Some("http.server")),
        ("/usr/bin/python3.11 | python3 | -c | import time", None),
        ("/usr/bin/python3.11 | python3 | -Ic | import time", None),
        ("/usr/bin/python3.11 | python3", None),
        ("/usr/bin/perl | /usr/bin/perl | -w | -T | /usr/sbin/exim_tidydb", Some("/usr/sbin/exim_tidydb")),
        ("/usr/bin/perl | perl | -e | sleep 1", None),
        ("/usr/bin/ruby3.1 | ruby | -I | lib | bin/rails | server", Some("bin/rails")),
        ("/usr/bin/node | node | --require | ts-node/register | --inspect | server.js", Some("server.js")),
        ("/usr/bin/bash | /bin/bash | /usr/local/bin/my backup", Some("/usr/local/bin/my backup")),
        ("/usr/bin/bash | bash | -o | pipefail | -e | run.sh", Some("run.sh")),
        ("/usr/bin/bash | bash | -c | make all", None),
        ("/usr/bin/dash | sh | -ec | make all", None),
        ("/usr/bin/bash | -bash", None),
        ("/usr/lib/jvm/java-17/bin/java | java | -Xmx4g | -cp | a.jar | -jar | app.jar | run", Some("app.jar")),
        ("/usr/lib/jvm/java-17/bin/java | java | -cp | a:b | org.x.Main", Some("org.x.Main")),
        ("/usr/lib/wine/wine64-preloader | C:\\windows\\explorer.exe | /desktop", Some("C:\\windows\\explorer.exe")),
        (
            "/usr/lib/wine/wine-preloader | /usr/lib/wine/wine | Z:\\games\\My Game\\Game.EXE | -w",
            Some("Z:\\games\\My Game\\Game.EXE"),
        ),
        ("/usr/bin/wineserver | wineserver | x.exe", None),
        ("/usr/sbin/nginx | nginx: worker | python.py", None),
    ];

    #[test]
    fn scripts_are_found_in_recorded_arguments() {
        for (line, expected) in RECORDED {
            let mut words = line.split(" | ").map(|word| word.as_bytes().to_vec());
            let exe = words.next().unwrap();
            let args: Vec<Vec<u8>> = words.collect();
            let found = script(Some(&exe), &args).map(|found| std::str::from_utf8(found).unwrap());
            assert_eq!(found, *expected, "{line}");
        }
    }

    #[test]
    fn an_unreadable_executable_is_known_by_its_first_argument() {
        let args = [b"/usr/bin/python3".to_vec(), b"x.py".to_vec()];
        assert_eq!(script(None, &args), Some(&b"x.py"[..]));
        assert_eq!(script(None, &[]), None);
    }
}
