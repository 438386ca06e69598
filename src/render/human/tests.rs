//! What miette makes of awkward places.

use cotenant_grammar::{Code, SourceId, Span};
use insta::assert_snapshot;

use super::*;

const PLAIN: Look = Look { width: 80, colour: false };

fn id(sources: &SourceSet, file: usize) -> SourceId {
    sources.iter().nth(file).unwrap().0
}

/// A diagnostic on the first occurrence of `piece` in a file.
fn at(sources: &SourceSet, file: usize, piece: &str) -> Span {
    let source = id(sources, file);
    let start = sources.get(source).unwrap().text().find(piece).unwrap() as u32;
    Span { source, start, end: start + piece.len() as u32 }
}

fn finding(span: Span) -> Diagnostic {
    Diagnostic::error(Code("a-code"), "the message", span, "here")
}

fn shown(diagnostic: Diagnostic, sources: &SourceSet) -> String {
    let mut all = Diagnostics::default();
    all.push(diagnostic);
    human(&all, sources, PLAIN)
}

#[test]
fn carets_stand_under_multibyte_text() {
    let sources = SourceSet::one("p", "# zuerst\nclass größe_日本: nise 3;\n");
    assert_snapshot!(shown(finding(at(&sources, 0, "nise")), &sources), @r"
     error[a-code]: the message
      ╭─[p:2:17]
    1 │ # zuerst
    2 │ class größe_日本: nise 3;
      ·                   ──┬─
      ·                     ╰── here
      ╰────
    ");
}

#[test]
fn a_byte_order_mark_and_crlf_move_nothing() {
    let sources = SourceSet::one("p", "\u{feff}class a: nise 3;\r\nclass b: nice 3;\r\n");
    assert_snapshot!(shown(finding(at(&sources, 0, "nise")), &sources), @r"
     error[a-code]: the message
      ╭─[p:1:10]
    1 │ class a: nise 3;
      ·          ──┬─
      ·            ╰── here
    2 │ class b: nice 3;
      ╰────
    ");
    assert_snapshot!(shown(finding(Span { end: 3, ..Span::default() }), &sources), @r"
     error[a-code]: the message
      ╭─[p:1:1]
    1 │ class a: nise 3;
      · ▲
      · ╰── here
    2 │ class b: nice 3;
      ╰────
    ");
}

#[test]
fn an_empty_file_and_the_end_of_a_file_have_places() {
    let sources = SourceSet::one("p", "");
    assert_snapshot!(shown(finding(Span::default()), &sources), @r"
    error[a-code]: the message
     ╭─[p:1:1]
     ╰────
    ");
    let sources = SourceSet::one("p", "class a: nice 3\n\n");
    assert_snapshot!(shown(finding(Span { start: 17, end: 17, ..Span::default() }), &sources), @r"
     error[a-code]: the message
      ╭─[p:1:16]
    1 │ class a: nice 3
      ·                ▲
      ·                ╰── here
      ╰────
    ");
}

#[test]
fn the_finding_stands_first_and_other_sites_follow() {
    let text = "zone big: all;\n\n\n\n\n\n\nzone big: cpu 0;\n";
    let sources = SourceSet::one("p", text);
    let again = Span { start: 26, end: 29, ..Span::default() };
    assert_eq!(sources.text(again), "big");
    let diagnostic = finding(again).also(at(&sources, 0, "big"), "first defined here");
    assert_snapshot!(shown(diagnostic, &sources), @r"
     error[a-code]: the message
      ╭─[p:8:6]
    8 │ zone big: cpu 0;
      ·      ─┬─
      ·       ╰── here
      ╰────
      ╭─[p:1:6]
    1 │ zone big: all;
      ·      ─┬─
      ·       ╰── first defined here
      ╰────
    ");
}

#[test]
fn sites_in_two_files_are_both_shown() {
    let mut sources = SourceSet::one("a.policy", "zone big: all;\n");
    sources.add("b.policy", "# two\nzone big: cpu 0;\n");
    let diagnostic = finding(at(&sources, 1, "big")).also(at(&sources, 0, "big"), "first defined here");
    assert_snapshot!(shown(diagnostic.help("remove one"), &sources), @r"
     error[a-code]: the message
      ╭─[b.policy:2:6]
    1 │ # two
    2 │ zone big: cpu 0;
      ·      ─┬─
      ·       ╰── here
      ╰────
      ╭─[a.policy:1:6]
    1 │ zone big: all;
      ·      ─┬─
      ·       ╰── first defined here
      ╰────
     help: remove one
    ");
}

#[test]
fn a_policy_cannot_talk_to_the_terminal() {
    let sources = SourceSet::one("p\u{1b}[2J", "class \u{1b}[31ma: nise 3;\n");
    let mut diagnostic = finding(at(&sources, 0, "nise"));
    diagnostic.message = "no clause `\u{1b}[31m`".into();
    assert_snapshot!(shown(diagnostic, &sources), @r"
     error[a-code]: no clause `?[31m`
      ╭─[p?[2J:1:15]
    1 │ class ?[31ma: nise 3;
      ·               ──┬─
      ·                 ╰── here
      ╰────
    ");
}

#[test]
fn every_span_of_every_text_can_be_shown() {
    for text in
        ["", "\n", "\u{feff}", "\u{feff}a\r\né;\r\n", "日b\n\n\tc", "a\rb\u{1b}\n \n", "é\u{202e}\n\n\n\n\n\n\né"]
    {
        let sources = SourceSet::one("p", text);
        let borders: Vec<u32> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).map(|at| at as u32).collect();
        for start in &borders {
            for end in borders.iter().filter(|end| *end >= start) {
                let span = Span { start: *start, end: *end, ..Span::default() };
                let diagnostic = finding(span).also(Span { end: 0, ..Span::default() }, "there").also(span, "");
                assert!(shown(diagnostic, &sources).contains("[p:"), "{text:?} {span:?}");
            }
        }
    }
}
