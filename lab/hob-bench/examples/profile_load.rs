//! Measures how long one profile takes to load: `cargo run --release -p hob-bench --example profile_load -- 1000`.
//!
//! The ready profiles, and one as large as a file may be with as many error patterns as a list may have, are read from their
//! bytes, in turns. Prints, asserts nothing.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for engineers, which prints")]

use std::{hint::black_box, time::Instant};

use hob_domain::{PROFILE_MAX, parse_profile, ready_profiles};

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(1_000, |text| text.parse().unwrap());
    let mut files: Vec<(String, Vec<u8>)> =
        ready_profiles().files.into_iter().map(|file| (file.name, file.content.unwrap())).collect();
    let patterns: String = (0..100).map(|n| format!("\n      - '(?i)\\berror {n}: \\w+ at \\d+'")).collect();
    let mut largest = format!("---\nname: largest\ndescription: x\nhob:\n  match:\n    errors:{patterns}\n---\n");
    largest.push_str(&"x ".repeat((PROFILE_MAX - largest.len()) / 2));
    files.push(("largest.md".to_owned(), largest.into_bytes()));
    let mut times = vec![Vec::with_capacity(rounds); files.len()];
    for _ in 0..rounds {
        for ((name, bytes), times) in files.iter().zip(&mut times) {
            let began = Instant::now();
            black_box(parse_profile(name, bytes));
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    println!("{:>16} {:>8} {:>10} {:>10}", "profile", "bytes", "median ms", "p95 ms");
    for ((name, bytes), times) in files.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("{name:>16} {:>8} {:>10.3} {:>10.3}", bytes.len(), times[rounds / 2], times[rounds * 95 / 100]);
    }
}
