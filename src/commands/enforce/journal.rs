//! Log lines for systemd's journal: each begins with its priority, sd-daemon(3), so that `journalctl -p warning` shows what
//! matters and a line that is continued is not taken for another of less weight.

use std::io::{Stderr, Write};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Whether standard error leads to the journal. The variable alone does not say so: whoever redirects standard error passes it
/// on, and systemd.exec(5) tells to compare.
pub(super) fn is_stderr() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    nix::sys::stat::fstat(std::io::stderr()).is_ok_and(|is| stream == format!("{}:{}", is.st_dev, is.st_ino))
}

/// Makes writers to a journal's stream.
pub(super) struct Journal;

/// Writes lines of one priority.
pub(super) struct Lines<W> {
    priority: u8,
    to: W,
}

impl MakeWriter<'_> for Journal {
    type Writer = Lines<Stderr>;

    fn make_writer(&self) -> Lines<Stderr> {
        Lines { priority: 6, to: std::io::stderr() }
    }

    fn make_writer_for(&self, meta: &Metadata<'_>) -> Lines<Stderr> {
        // Those of syslog(3).
        let priority = match *meta.level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            Level::DEBUG | Level::TRACE => 7,
        };
        Lines { priority, ..self.make_writer() }
    }
}

impl<W: Write> Write for Lines<W> {
    /// Takes whole lines, which is how they are handed over.
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let priority = format!("<{}>", self.priority);
        // In one write, so that lines of two threads do not mix.
        let lines = text.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [priority.as_bytes(), line]);
        self.to.write_all(&lines.collect::<Vec<_>>().concat())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_priority() {
        let mut lines = Lines { priority: 3, to: Vec::new() };
        lines.write_all("wrong\n  here \u{256d}\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(lines.to).unwrap(), "<3>wrong\n<3>  here \u{256d}\n");
    }
}
