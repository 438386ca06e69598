//! The text of `cgconfig.conf`: blocks in braces, settings that end in `;`. See cgconfig.conf(5).

use crate::convert::Input;
use crate::convert::rule::Line;

/// Blocks inside blocks; libcgroup has three.
const DEEPEST: usize = 8;

/// `key = value;` and the blocks it stands in, from the outside in, each with all its words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) blocks: Vec<Vec<String>>,
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Open,
    Close,
    Equals,
    End,
}

/// Every setting of the file, every block (a setting without key, so that empty ones are known), and what is wrong where.
pub(crate) fn settings(input: &Input) -> (Vec<Setting>, Vec<(Line, String)>) {
    let (mut settings, mut faults) = (Vec::new(), Vec::new());
    let mut blocks: Vec<Vec<String>> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut value: Option<Vec<String>> = None;
    let mut last = None;
    for line in input.lines() {
        for token in tokens(&line.text) {
            match token {
                Token::Word(word) => value.as_mut().unwrap_or(&mut words).push(word),
                Token::Equals if value.is_none() && words.len() == 1 => value = Some(Vec::new()),
                Token::Open if value.is_none() && !words.is_empty() && blocks.len() < DEEPEST => {
                    blocks.push(std::mem::take(&mut words));
                    settings.push(Setting { blocks: blocks.clone(), key: String::new(), value: String::new() });
                }
                Token::Close if value.is_none() && words.is_empty() && !blocks.is_empty() => drop(blocks.pop()),
                Token::End => match (value.take(), std::mem::take(&mut words)) {
                    (Some(value), key) => {
                        settings.push(Setting { blocks: blocks.clone(), key: key.join(" "), value: value.join(" ") });
                    }
                    // A `;` too many says nothing.
                    (None, words) if words.is_empty() => {}
                    (None, words) => faults.push((line.clone(), format!("`{}` has no `=`", words.join(" ")))),
                },
                Token::Open | Token::Close | Token::Equals => {
                    let what = match token {
                        Token::Open => "{",
                        Token::Close => "}",
                        _ => "=",
                    };
                    faults.push((line.clone(), format!("`{what}` does not belong here")));
                    (words, value) = (Vec::new(), None);
                    if token == Token::Close {
                        blocks.pop();
                    }
                }
            }
        }
        last = Some(line);
    }
    if let (Some(line), false) = (last, blocks.is_empty()) {
        faults.push((line, "a `{` is not closed".to_owned()));
    }
    (settings, faults)
}

fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let single = match first {
            '#' => return tokens,
            '{' => Some(Token::Open),
            '}' => Some(Token::Close),
            '=' => Some(Token::Equals),
            ';' => Some(Token::End),
            _ => None,
        };
        let after = match (single, rest.strip_prefix('"')) {
            (Some(token), _) => {
                tokens.push(token);
                rest.get(first.len_utf8()..)
            }
            (None, Some(quoted)) => {
                let (text, after) = quoted.split_once('"').unwrap_or((quoted, ""));
                tokens.push(Token::Word(text.to_owned()));
                Some(after)
            }
            (None, None) => {
                let end = rest.find(|c: char| c.is_whitespace() || "{}=;\"#".contains(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                tokens.push(Token::Word(word.to_owned()));
                Some(after)
            }
        };
        rest = after.unwrap_or_default().trim_start();
    }
    tokens
}
