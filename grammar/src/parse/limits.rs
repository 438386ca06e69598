//! What is refused before parsing, because reading it would cost memory or stack without bound.

use crate::mistake::Mistake;
use crate::{SourceId, Span};

/// Bytes in one file. The largest rule set known (15,794 rules) has about one MiB.
const LARGEST_FILE: usize = 32 << 20;

/// Parentheses inside parentheses.
const DEEPEST: usize = 64;

pub(super) fn check(text: &str, source: SourceId) -> Result<(), Mistake> {
    if text.len() > LARGEST_FILE {
        let at = Span { source, start: 0, end: 0 };
        return Err(Mistake::TooLarge { at, bytes: text.len(), limit: LARGEST_FILE });
    }
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            // A statement's end closes whatever it forgot to close.
            b';' => depth = 0,
            b'#' => drop(bytes.find(|(_, byte)| *byte == b'\n')),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
        if depth > DEEPEST {
            let at = at as u32;
            return Err(Mistake::TooDeep { at: Span { source, start: at, end: at + 1 }, limit: DEEPEST });
        }
    }
    Ok(())
}

fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'"' | b'\n' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}
