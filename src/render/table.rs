//! Tables without boxes: a header, a rule, and columns that wrap within the width.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table, TableComponent, Width};

use super::printable;
use crate::terminal::Look;

/// A table with these column heads.
pub(super) fn table(heads: &[&str], look: Look) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_style(TableComponent::HeaderLines, '─');
    table.set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(look.width).unwrap_or(u16::MAX));
    if look.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let head = |text: &&str| if look.colour { Cell::new(text).add_attribute(Attribute::Bold) } else { Cell::new(text) };
    table.set_header(heads.iter().map(head));
    table
}

/// Adds a row of texts.
pub(super) fn row(table: &mut Table, texts: impl IntoIterator<Item = String>) {
    table.add_row(texts.into_iter().map(|text| Cell::new(printable(&text))));
}

/// How a column gives way where the table is wider than the terminal.
pub(super) enum Fit {
    /// It does not.
    Whole,
    /// Its lines may be broken, but not before so many characters.
    AtLeast(u16),
    /// Its lines are broken behind so many characters in any case.
    AtMost(u16),
}

/// Says how each column gives way, from the first on.
pub(super) fn fit(table: &mut Table, columns: &[Fit]) {
    for (column, fit) in table.column_iter_mut().zip(columns) {
        column.set_constraint(match fit {
            Fit::Whole => ColumnConstraint::ContentWidth,
            Fit::AtLeast(characters) => ColumnConstraint::LowerBoundary(Width::Fixed(*characters)),
            Fit::AtMost(characters) => ColumnConstraint::UpperBoundary(Width::Fixed(*characters)),
        });
    }
}

/// The table as text, without blanks at the ends of lines.
pub(super) fn lines(table: &mut Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
