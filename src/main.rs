//! The `hob` binary.

fn main() {}
