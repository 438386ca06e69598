//! Every rule of the layout but those on comments, which have their own file.

mod comments;

use super::format;
use insta::assert_snapshot;

/// Asserts the layout of a text, and that it is the layout of itself.
#[track_caller]
fn laid_out(text: &str, expected: &[&str]) {
    let expected: String = expected.iter().flat_map(|line| [line, "\n"]).collect();
    assert_eq!(format(text), expected);
    assert_eq!(format(&expected), expected, "laid out again");
}

#[test]
fn the_smallest_policy_gets_a_line_per_clause() {
    let text = "rt class web: prefer idle core, push equal prio; batch: only when core idle";
    assert_snapshot!(format(text), @r"
    rt class web:
        prefer idle core,
        push equal prio;

    batch: only when core idle;
    ");
}

#[test]
fn a_fuller_policy() {
    let text = r#"
# Front end: siblings are overflow only.
require:linux 5.14,at least 4 cores ;

zone front : node 0 except core 0;
processes frontends: unit "nginx.service"   or unit "haproxy@*.service";
unmanaged: match exe /usr/sbin/sshd;
rt class web: match frontends and user www-data, on front, # reserved
  round robin,
  # above the kernel's own threads
  priority 20, prefer idle core,; include "conf.d/*.policy"
"#;
    assert_snapshot!(format(text), @r#"
    # Front end: siblings are overflow only.
    require:
        linux 5.14,
        at least 4 cores;

    zone front: node 0 except core 0;
    processes frontends: unit "nginx.service" or unit "haproxy@*.service";
    unmanaged: match exe /usr/sbin/sshd;

    rt class web:
        match frontends and user www-data,
        on front,  # reserved
        round robin,
        # above the kernel's own threads
        priority 20,
        prefer idle core;

    include "conf.d/*.policy";
    "#);
}

#[test]
fn nothing_stays_nothing() {
    for text in ["", "\n\n", " \t\r\n", "\u{feff}", "\u{feff}\r\n"] {
        laid_out(text, &[]);
    }
}

#[test]
fn one_clause_stays_on_the_line_of_its_header() {
    laid_out("batch:\n    only when core idle", &["batch: only when core idle;"]);
}

#[test]
fn a_comma_behind_the_last_clause_goes() {
    laid_out("batch: only when core idle,", &["batch: only when core idle;"]);
    laid_out("rt:\n  a,\n  b,\n;", &["rt:", "    a,", "    b;"]);
}

#[test]
fn a_header_without_clauses_keeps_its_semicolon() {
    laid_out("class idle : ;", &["class idle:;"]);
}

#[test]
fn an_include_has_no_colon() {
    laid_out("include\n\"a.policy\" ;include \"b.policy\"", &["include \"a.policy\";", "include \"b.policy\";"]);
}

#[test]
fn blanks_between_words_and_inside_parentheses() {
    laid_out(
        "class a :match  not( exe b\tor ( comm \"c  d\" ) )and parent(unit e) ;",
        &["class a: match not (exe b or (comm \"c  d\")) and parent (unit e);"],
    );
}

#[test]
fn ranges_close_up() {
    laid_out("zone a: cpus 0 - 3 and cores 4-7;", &["zone a: cpus 0-3 and cores 4-7;"]);
    laid_out("fair: clamp 10% - 12.5%;", &["fair: clamp 10%-12.5%;"]);
    laid_out("fair: nice -5;", &["fair: nice -5;"]);
    laid_out("zone a: cpus 0 - 3 - 5;", &["zone a: cpus 0-3 - 5;"]);
    laid_out("zone a: cpus 0 - # c\n 3;", &["zone a:", "    cpus 0 -  # c", "        3;"]);
}

#[test]
fn classes_that_share_a_core_are_one_clause() {
    laid_out(
        "class a: share core with itself,class b,\nclass c, never spill; batch: share core with class d, class e,",
        &[
            "class a:",
            "    share core with itself, class b, class c,",
            "    never spill;",
            "",
            "batch: share core with class d, class e;",
        ],
    );
}

#[test]
fn a_line_holds_a_hundred_columns() {
    let fits = format!("zone a: {};", "x".repeat(100 - "zone a: ;".len()));
    laid_out(&fits, &[&fits]);
    let accents = fits.replace('x', "é");
    laid_out(&accents, &[&accents]);
    let word = "x".repeat(101 - "zone a: ;".len());
    laid_out(&format!("zone a: {word};"), &["zone a:", &format!("    {word};")]);
}

#[test]
fn a_comment_takes_no_columns() {
    let text = format!("batch: only when core idle;  # {}", "why ".repeat(30).trim_end());
    laid_out(&text, &[&text]);
}

#[test]
fn a_long_clause_breaks_before_or() {
    let [a, b, c] = ["a", "b", "c"].map(|name| name.repeat(40));
    laid_out(
        &format!("class x: match exe {a} and (exe {b} or exe {b}) or exe {c}, never spill;"),
        &[
            "class x:",
            &format!("    match exe {a} and (exe {b} or exe {b})"),
            &format!("        or exe {c},"),
            "    never spill;",
        ],
    );
}

#[test]
fn a_long_clause_without_or_breaks_before_and() {
    let [a, b, c] = ["a", "b", "c"].map(|name| name.repeat(40));
    laid_out(
        &format!("zone x: {a} and ({b} or {b}) and {c};"),
        &["zone x:", &format!("    {a}"), &format!("        and ({b} or {b})"), &format!("        and {c};")],
    );
}

#[test]
fn strings_are_kept_as_they_are_spelt() {
    let text = r#"class a: match exe "/opt/\u{e9}\t\"x\"  # , ; :";"#;
    laid_out(text, &[text]);
}

#[test]
fn byte_order_mark_and_carriage_returns_go() {
    laid_out("\u{feff}# a\r\nbatch: b; # c\r\n\r\nrt: d;\r\n", &["# a", "batch: b;  # c", "", "rt: d;"]);
}

#[test]
fn blank_lines_between_statements_become_one() {
    laid_out(
        "\n\nzone a: all;\nzone b: all;\n\n\n\nzone c: all; zone d: all;\n\n",
        &["zone a: all;", "zone b: all;", "", "zone c: all;", "zone d: all;"],
    );
}

#[test]
fn a_tall_statement_stands_apart() {
    laid_out(
        "zone a: all; rt: b, c; rt: d, e; zone f: all;",
        &["zone a: all;", "", "rt:", "    b,", "    c;", "", "rt:", "    d,", "    e;", "", "zone f: all;"],
    );
}

#[test]
fn a_tall_statement_stands_apart_with_its_comment() {
    laid_out("zone a: all;\n# b\nrt: c, d;", &["zone a: all;", "", "# b", "rt:", "    c,", "    d;"]);
    laid_out(
        "rt: c, d;\n# of the above\n\nzone a: all;",
        &["rt:", "    c,", "    d;", "# of the above", "", "zone a: all;"],
    );
}

#[test]
fn blank_lines_in_a_statement_go_unless_a_comment_follows() {
    laid_out("rt:\n\na,\n\nb,\n\n\n# c\n\nd\n\n;", &["rt:", "    a,", "    b,", "", "    # c", "    d;"]);
}
