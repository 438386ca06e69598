//! What the keys and the marks mean, over everything else.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

const HELP: [&str; 13] = [
    "Marks side by side are CPUs of a core: the higher, the",
    "busier (. is idle). The colour is that of the first class",
    "that may run there now. Where there is no room, a mark is",
    "a core or a cache. A class that waits is stopped until",
    "cores are free.",
    "",
    "Up, Down, k, j   choose a class",
    "PgUp, PgDn       go through its processes",
    "Home, End        the first and the last class",
    "/                only classes and processes with a text",
    "Esc              everything again",
    "?                this",
    "q, Ctrl-C        quit",
];

/// Draws it in the middle.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect) {
    let size = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
    let widest = HELP.iter().map(|line| line.len()).max().unwrap_or(0);
    let (width, height) = (size(widest + 4).min(area.width), size(HELP.len() + 2).min(area.height));
    let at = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    frame.render_widget(Clear, at);
    let block = Block::bordered().title(" help, any key closes it ");
    frame.render_widget(Paragraph::new(HELP.map(|line| Line::raw(format!(" {line}"))).to_vec()).block(block), at);
}
