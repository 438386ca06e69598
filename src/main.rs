//! `cotenant`: compiles CPU-placement policies and keeps them true.
fn main() {}
