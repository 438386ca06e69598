//! Lists the pages of `cotenant explain`, so that a page is added by adding its file.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDER: &str = "docs/lints";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut pages = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    let mut list = String::from("&[\n");
    for page in pages {
        let code = page.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let _ = writeln!(list, "    ({code:?}, include_str!({page:?})),");
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("pages.rs"), list)
}
