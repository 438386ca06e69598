//! The elements of the picture, as text.

use std::fmt::Write;

use crate::render::printable;

/// How text looks; the classes are defined in [`STYLES`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    Title,
    Strong,
    Plain,
    Quiet,
    Label,
    Small,
}

/// Sizes are in pixels of the picture, so that estimates of widths hold.
pub(super) const STYLES: &str = "text{font-family:'DejaVu Sans',Verdana,sans-serif;font-size:12px;fill:#1d2939}\
    .t{font-size:17px;font-weight:bold}.b{font-weight:bold}.q{fill:#475467}.l{font-size:11px;fill:#344054}\
    .s{font-size:9px;fill:#475467}.n{font-size:10px;text-anchor:middle}";

impl Style {
    fn class(self) -> &'static str {
        match self {
            Style::Title => "t",
            Style::Strong => "b",
            Style::Plain => "p",
            Style::Quiet => "q",
            Style::Label => "l",
            Style::Small => "s",
        }
    }
}

/// The elements drawn so far, the later over the earlier.
#[derive(Default)]
pub(super) struct Canvas(String);

impl Canvas {
    /// A line of text, its base line beginning at a place.
    pub(super) fn text(&mut self, x: u32, y: u32, style: Style, text: &str) {
        let _ = writeln!(self.0, "<text x=\"{x}\" y=\"{y}\" class=\"{}\">{}</text>", style.class(), escaped(text));
    }

    /// A number in the middle of a CPU.
    pub(super) fn number(&mut self, x: u32, y: u32, text: &str) {
        let _ = writeln!(self.0, "<text x=\"{x}\" y=\"{y}\" class=\"n\">{}</text>", escaped(text));
    }

    /// A rectangle by corner, width and height, with rounded corners.
    pub(super) fn rect(&mut self, (x, y, width, height): (u32, u32, u32, u32), fill: &str, stroke: &str, round: u32) {
        let round = if round > 0 { format!(" rx=\"{round}\"") } else { String::new() };
        let stroke = if stroke == "none" { String::new() } else { format!(" stroke=\"{stroke}\"") };
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
        let _ = writeln!(self.0, "<rect {place}{round} fill=\"{fill}\"{stroke}/>");
    }

    /// A class's share of a CPU. It has an origin of its own, so that its pattern begins at its corner.
    pub(super) fn band(&mut self, (x, y, width, height): (u32, u32, u32, u32), fill: &str) {
        let size = format!("width=\"{width}\" height=\"{height}\"");
        let _ = writeln!(self.0, "<rect transform=\"translate({x} {y})\" {size} fill=\"{fill}\"/>");
    }

    /// Begins a group that says something when pointed at.
    pub(super) fn open(&mut self, title: &str) {
        let _ = writeln!(self.0, "<g><title>{}</title>", escaped(title));
    }

    /// Ends the group.
    pub(super) fn close(&mut self) {
        self.0.push_str("</g>\n");
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// Text as XML holds it. What XML cannot hold at all is not text, and shown as such.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Lines of at most so many characters, broken at blanks; a longer word is broken where the line ends.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut room = 0;
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(most.max(1)) {
            let piece: String = piece.iter().collect();
            let length = piece.chars().count();
            match lines.last_mut().filter(|_| length < room) {
                Some(line) => {
                    line.push(' ');
                    line.push_str(&piece);
                    room -= length + 1;
                }
                None => {
                    room = most.saturating_sub(length);
                    lines.push(piece);
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("a<b>&\"\u{1b}[\u{ffff}"), "a&lt;b&gt;&amp;&quot;?[\u{fffd}");
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("onetwothree", 4), ["onet", "woth", "ree"]);
        assert_eq!(wrapped("", 4), [""; 0]);
    }
}
