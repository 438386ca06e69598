//! How long it takes to check rule sets of 1,000 to 100,000 classes: `cargo run --release -p cotenant-compiler --example
//! ruleset`, or of as many as the arguments say. Three classes in a hundred have a defect.

use std::fmt::Write;
use std::time::Instant;

use cotenant_compiler::compile;
use cotenant_compiler::topology::{Topology, TopologySource};
use cotenant_grammar::SourceSet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = Topology::load(&TopologySource::Synthetic("pack:1 core:16 pu:2".to_owned()))?;
    println!("{:>8}  {:>8}  {:>10}  {:>12}  {:>9}", "classes", "findings", "parse", "whole", "a class");
    let asked: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let usual = [1_000, 3_000, 10_000, 15_800, 30_000, 100_000];
    for classes in if asked.is_empty() { usual.to_vec() } else { asked } {
        let sources = SourceSet::one("rules.policy", rules(classes)?);
        let start = Instant::now();
        let _ = cotenant_grammar::parse(sources.clone());
        let parse = start.elapsed();
        let start = Instant::now();
        let (_, diagnostics) = compile(sources, &machine);
        let whole = start.elapsed();
        let each = whole / u32::try_from(classes)?;
        println!("{classes:>8}  {:>8}  {parse:>10.1?}  {whole:>12.1?}  {each:>9.2?}", diagnostics.iter().count());
    }
    Ok(())
}

fn rules(classes: usize) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for at in 0..classes {
        match at % 100 {
            1 => writeln!(text, "class r{at}: match exe prog-{}, nice 3;", at - 1)?,
            2 => writeln!(text, "class r{at}: match exe /usr/bin/prog-{};", at - 2)?,
            3 => writeln!(text, "class r{at}: match exe PROG-{};", at + 1)?,
            50 => writeln!(text, "class r{at}: match exe prog-{at}-*;")?,
            51 => writeln!(text, "class r{at}: match comm *-{at} and user games;")?,
            52 => writeln!(text, "class r{at}: match unit \"app-{at}@*.service\" or exe app-{at};")?,
            _ => writeln!(text, "class r{at}: match exe prog-{at}, nice 3;")?,
        }
    }
    Ok(text)
}
