//! Where comments end up.

use super::laid_out;

#[test]
fn alone_in_the_text() {
    laid_out("  # a\n\n\n#b  \n# c", &["# a", "", "#b", "# c"]);
}

#[test]
fn between_statements_and_at_the_end() {
    laid_out(
        "# a\n\nzone a: all; # b\n# c\nzone d: all;\n\n# e\n",
        &["# a", "", "zone a: all;  # b", "# c", "zone d: all;", "", "# e"],
    );
}

#[test]
fn at_the_end_of_a_line_on_either_side_of_a_comma() {
    laid_out("rt: a, # of a\nb;", &["rt:", "    a,  # of a", "    b;"]);
    laid_out("rt: a # of a\n, b;", &["rt:", "    a,  # of a", "    b;"]);
}

#[test]
fn on_both_sides_of_a_comma() {
    laid_out("rt: a # c\n , # d\n b;", &["rt:", "    a,  # c", "    # d", "    b;"]);
}

#[test]
fn at_the_end_of_a_line_on_either_side_of_a_semicolon() {
    laid_out("rt: a; # of a", &["rt: a;  # of a"]);
    laid_out("rt: a # of a\n;", &["rt: a;  # of a"]);
    laid_out("rt: a # of a", &["rt: a;  # of a"]);
    laid_out("rt: a, # of a\n;", &["rt: a;  # of a"]);
}

#[test]
fn on_both_sides_of_a_semicolon() {
    laid_out("rt: a # c\n ; # d\n zone e: all", &["rt: a;  # c", "# d", "zone e: all;"]);
}

#[test]
fn around_a_comma_that_goes() {
    laid_out("rt: a # c\n , # d\n ; # e", &["rt:", "    a  # c", "    # d", "    ;  # e"]);
    laid_out("rt: a, # c\n # d", &["rt: a;  # c", "# d"]);
}

#[test]
fn before_the_comma() {
    laid_out("rt: a\n# of b\n, b;", &["rt:", "    a,", "    # of b", "    b;"]);
}

#[test]
fn before_the_semicolon() {
    laid_out("rt: a,\n  # b,\n  ;\nzone c: all;", &["rt:", "    a", "    # b,", "    ;", "", "zone c: all;"]);
}

#[test]
fn before_a_semicolon_that_is_left_out() {
    laid_out("rt: a, b\n# c", &["rt:", "    a,", "    b;", "# c"]);
}

#[test]
fn before_a_clause() {
    laid_out("rt:\n # of a\n a,\n # of b\n b;", &["rt:", "    # of a", "    a,", "    # of b", "    b;"]);
}

#[test]
fn behind_the_header() {
    laid_out("batch: # c\n a", &["batch:  # c", "    a;"]);
    laid_out("batch # c\n : a", &["batch:  # c", "    a;"]);
    laid_out("batch # c\n : # d\n a", &["batch:  # c", "    # d", "    a;"]);
}

#[test]
fn in_the_header() {
    laid_out("rt # c\n class a: b", &["rt  # c", "        class a:", "    b;"]);
    laid_out("rt\n # c\n class a: b", &["rt", "        # c", "        class a:", "    b;"]);
}

#[test]
fn in_a_clause() {
    laid_out(
        "class x: match exe a # first\n # second\n or exe b # third\n;",
        &["class x:", "    match exe a  # first", "        # second", "        or exe b;  # third"],
    );
}

#[test]
fn in_parentheses() {
    laid_out("zone x: ( # c\n all # d\n )", &["zone x:", "    (  # c", "        all  # d", "        );"]);
}

#[test]
fn behind_an_include() {
    laid_out("include \"a\" # c\n; # d", &["include \"a\";  # c", "# d"]);
}
