use super::*;
use proptest::prelude::*;

fn scanned(text: &str) -> Vec<(Kind, &str)> {
    scan(text).map(|lexeme| (lexeme.kind, lexeme.text)).collect()
}

#[test]
fn words_end_at_blanks_and_punctuation() {
    let expected = [
        (Kind::Word, "batch"),
        (Kind::Colon, ":"),
        (Kind::Word, "match"),
        (Kind::Open, "("),
        (Kind::Word, "/usr/bin/*-[ab]"),
        (Kind::Close, ")"),
        (Kind::Comma, ","),
        (Kind::Word, "größe"),
        (Kind::Semicolon, ";"),
        (Kind::Comment, "# why"),
    ];
    assert_eq!(scanned("batch:match(/usr/bin/*-[ab]),größe;# why"), expected);
}

#[test]
fn strings_end_at_the_quote_that_is_not_escaped() {
    let text = r##""a \" b \\" "# , ; :" "\u{e9}""##;
    let strings = [r#""a \" b \\""#, r##""# , ; :""##, r#""\u{e9}""#];
    assert_eq!(scanned(text), strings.map(|text| (Kind::String, text)));
}

#[test]
fn an_unclosed_string_ends_with_its_line() {
    let expected = [(Kind::UnclosedString, r#""a; b"#), (Kind::Word, "c"), (Kind::UnclosedString, r#""\"#)];
    assert_eq!(scanned("\"a; b\r\nc \"\\"), expected);
}

#[test]
fn comments_do_not_hold_the_blanks_that_end_them() {
    assert_eq!(scanned("# a \"b\" ; \t\r\n#"), [(Kind::Comment, "# a \"b\" ;"), (Kind::Comment, "#")]);
}

#[test]
fn line_breaks_are_counted_in_both_spellings() {
    let breaks: Vec<_> = scan("\u{feff}a b\nc\r\n\r\n  \r\nd # e\n\n# f").map(|lexeme| lexeme.line_breaks).collect();
    assert_eq!(breaks, [0, 0, 1, 3, 0, 2]);
}

proptest! {
    #[test]
    fn only_blanks_stand_between_tokens(text in "([ab\"\\\\#,;:() \t\r\n\u{feff}é]|\\PC)*") {
        let mut rest = text.trim_start_matches(|c| c == BYTE_ORDER_MARK || BLANKS.contains(&c));
        for lexeme in scan(&text) {
            prop_assert!(!lexeme.text.is_empty());
            rest = rest.trim_start_matches(BLANKS).strip_prefix(lexeme.text).unwrap();
        }
        prop_assert_eq!(rest.trim_start_matches(BLANKS), "");
    }
}
