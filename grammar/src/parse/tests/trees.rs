//! Printing a tree and parsing the print gives the tree.

mod generate;
mod print;

use crate::tree::Statement;
use crate::{Diagnostics, SourceSet, format, parse};

fn read(text: &str) -> Vec<Statement> {
    let (parsed, diagnostics) = parse(SourceSet::one("t", text));
    assert_eq!(diagnostics, Diagnostics::default(), "{text}");
    parsed.statements
}

#[test]
fn quantities_and_patterns_survive_the_print() {
    let text = "class a: match exe \"a b\" and comm \"\\\"\\u{7}\\\\\", slice 1.5ms, quota 0.25 cpus, clamp 0%-12.5%;";
    let tree = read(text);
    assert_eq!(print::policy(&tree), format!("{text}\n"));
}

proptest::proptest! {
    #[test]
    fn of_any_tree(statements in generate::statements()) {
        let printed = print::policy(&statements);
        let read_again = read(&printed);
        proptest::prop_assert_eq!(&read_again, &statements, "{}", printed);
        let laid_out = format(&printed);
        proptest::prop_assert_eq!(&read(&laid_out), &statements, "{}", laid_out);
        proptest::prop_assert_eq!(print::policy(&read_again), printed);
    }
}
