//! What a shell, a script and an editor rely on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;
mod cli {
    mod ci;
    mod code_hosts;
    mod compare;
    mod convert;
    mod fleet;
    mod format;
    mod json_places;
    mod load;
    mod picture;
    mod probe;
    mod streams;
}
