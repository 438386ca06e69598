//! What holds for every text.

mod texts;

use super::comments::is_number_text;
use super::format;
use crate::tokens::{Kind, scan};
use proptest::prelude::*;

/// The tokens other than comments, without what says nothing. A range counts as three.
fn meaning(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for lexeme in scan(text).filter(|lexeme| lexeme.kind != Kind::Comment) {
        if lexeme.kind == Kind::Semicolon {
            drop_commas(&mut words);
        }
        match lexeme.text.split_once('-') {
            Some((low, high)) if is_number_text(low) && is_number_text(high) => words.extend([low, "-", high]),
            _ => words.push(lexeme.text),
        }
    }
    drop_commas(&mut words);
    words.pop_if(|word| *word == ";");
    words
}

fn drop_commas(words: &mut Vec<&str>) {
    while words.pop_if(|word| *word == ",").is_some() {}
}

fn comments(text: &str) -> Vec<&str> {
    scan(text).filter(|lexeme| lexeme.kind == Kind::Comment).map(|lexeme| lexeme.text).collect()
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let once = format(text);
    prop_assert_eq!(&format(&once), &once, "laying out {:?} again changes it", text);
    // A text with an unclosed string comes back as it is.
    if scan(text).any(|lexeme| lexeme.kind == Kind::UnclosedString) {
        prop_assert_eq!(&once, text);
        return Ok(());
    }
    prop_assert_eq!(meaning(text), meaning(&once));
    prop_assert_eq!(comments(text), comments(&once));
    prop_assert!(once.is_empty() || once.ends_with('\n'));
    prop_assert!(!once.starts_with('\n') && !once.ends_with("\n\n") && !once.contains("\n\n\n"), "{:?}", once);
    prop_assert!(once.lines().all(|line| line.trim_end_matches([' ', '\t', '\r']) == line), "{:?}", once);
    Ok(())
}

proptest! {
    #[test]
    fn of_anything(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn of_few_characters(text in "[a0 \t\r\n,;:()#\"\\\\é\u{feff}-]*") {
        check(&text)?;
    }

    #[test]
    fn of_token_soup(text in texts::soup()) {
        check(&text)?;
    }

    #[test]
    fn of_policies(text in texts::commented_policy()) {
        check(&text)?;
    }

    #[test]
    fn blanks_say_nothing(tokens in texts::policy()) {
        prop_assert_eq!(format(&tokens.join(" ")), format(&tokens.join("\n")));
    }
}
