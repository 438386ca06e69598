//! Other people's texts as words of a policy. Nothing gets out of its string, comment or name.

use std::collections::HashMap;

use cotenant_compiler::CpuSet;

use crate::render::one_line;

/// Characters of somebody else's line that a comment repeats.
const LONGEST_QUOTE: usize = 200;

/// Characters of a class's name: the name of a control group, of 255 bytes at most, is made of it.
const LONGEST_NAME: usize = 48;

/// A string of the policy language.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // What a terminal would obey does not belong into a file that people read.
            c if one_line(c.encode_utf8(&mut [0; 4])) != c.to_string() => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A glob that covers exactly this text.
pub(crate) fn literal(text: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}');
    text.chars().map(|c| if special(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

/// What stands in a comment, on one line.
pub(crate) fn comment(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The CPUs, as in `on CPUS`; none where there are none.
pub(crate) fn cpus(set: &CpuSet) -> Option<String> {
    let range = |(first, last): (cotenant_compiler::CpuId, cotenant_compiler::CpuId)| match first == last {
        true => format!("cpu {}", first.0),
        false => format!("cpus {}-{}", first.0, last.0),
    };
    let ranges: Vec<String> = set.ranges().map(range).collect();
    (!ranges.is_empty()).then(|| ranges.join(" and "))
}

/// Gives every class a valid name that no other has.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// How often each was asked for. Names that differ only in case count as one: a reader takes them for one.
    asked: HashMap<String, usize>,
}

impl Names {
    /// A name as near to the text as can be.
    pub(crate) fn name(&mut self, text: &str) -> String {
        let base = valid(text);
        let mut name = base.clone();
        loop {
            // `a-2` may be asked for by itself.
            let asked = self.asked.entry(base.to_lowercase()).or_default();
            *asked += 1;
            if *asked > 1 {
                name = format!("{base}-{asked}");
                if self.asked.contains_key(&name.to_lowercase()) {
                    continue;
                }
                self.asked.insert(name.to_lowercase(), 1);
            }
            return name;
        }
    }
}

/// A name made of the text: other characters become single dashes.
fn valid(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    match name.chars().next() {
        None => "class".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, comment, cpus, literal, string};

    #[test]
    fn nothing_gets_out_of_its_place() {
        assert_eq!(string("a\"b\\c\nd\u{1b}e\u{202e}"), r#""a\"b\\c\u{a}d\u{1b}e\u{202e}""#);
        assert_eq!(comment("a\r\nclass x: nice 1;\u{1b}"), "a??class x: nice 1;?");
        assert_eq!(comment(&"ä".repeat(300)).chars().count(), 201);
        assert_eq!(literal("[a]*?{b}"), "[[]a[]][*][?][{]b[}]");
    }

    #[test]
    fn names_are_valid_and_each_is_given_once() {
        let mut names = Names::default();
        let given = ["a b", "7zip", "", "A B", "a-b-2", "a b", "--x--"].map(|text| names.name(text));
        assert_eq!(given, ["a-b", "_7zip", "class", "A-B-2", "a-b-2-2", "a-b-3", "x"]);
    }

    #[test]
    fn cpus_are_said_as_ranges() {
        assert_eq!(cpus(&"0-3,7".parse().unwrap()).unwrap(), "cpus 0-3 and cpu 7");
        assert_eq!(cpus(&"".parse().unwrap_or_default()), None);
    }
}
