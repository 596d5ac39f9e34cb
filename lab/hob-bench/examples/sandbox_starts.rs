//! Measures what the start of a child costs in each tier of the sandbox:
//! `cargo run --release -p hob-bench --example sandbox_starts -- target/release/hob 200`.
//!
//! `/bin/true` is started as agents and checks are, with the limits of the default settings; `own box` is one that Hob
//! makes without bubblewrap. The tiers take turns, so that other load on the machine affects all of them. With `itself`
//! instead of Hob's program this example starts the children: it is smaller, and the difference is the cost of the size
//! of Hob's program. Prints, asserts nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for engineers, which prints and stops at the first error"
)]

use std::{collections::HashMap, fs, process::ExitCode, time::Instant};

use hob_config::Settings;
use hob_process::{Environment, Program};
use hob_sandbox::{Maker, Network, Sandbox, Tier};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    if let Some(end) = hob_sandbox::was_launched(std::env::args_os()) {
        return end;
    }
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(measure());
    ExitCode::SUCCESS
}

async fn measure() {
    let mut arguments = std::env::args().skip(1);
    let hob = match arguments.next().as_deref() {
        Some("itself") => std::env::current_exe().unwrap(),
        Some(hob) => fs::canonicalize(hob).unwrap(),
        None => fs::canonicalize("target/release/hob").unwrap(),
    };
    let rounds: usize = arguments.next().map_or(200, |text| text.parse().unwrap());
    let limits = Settings::load(None, HashMap::new(), &[]).unwrap().sandbox.limits();
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let (bubblewrap, own) = (Maker::Bubblewrap, Maker::Hob);
    let kinds = [(Tier::None, own), (Tier::Fence, own), (Tier::Box, bubblewrap), (Tier::Box, own)];
    let mut tiers = kinds.map(|kind| (kind, Vec::with_capacity(rounds)));
    // The first of each finds nothing in the caches.
    for round in 0..=rounds {
        for ((tier, maker), times) in &mut tiers {
            let sandbox = Sandbox::new(*tier, hob.clone(), limits).made_by(*maker).with_network(Network::None);
            let plan = sandbox.plan().writes(folder.path());
            let child = Program::inside(&plan, "/bin/true", &environment).dir(folder.path());
            let began = Instant::now();
            let ended = child.run(&CancellationToken::new()).await.unwrap();
            let took = began.elapsed().as_secs_f64() * 1e3;
            assert!(ended.exit.is_success(), "{tier}: {} {}", ended.exit, ended.stderr.text());
            if round > 0 {
                times.push(took);
            }
        }
    }
    println!(
        "{:>7} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "tier", "least ms", "median ms", "p95 ms", "+ median", "+ p95"
    );
    let mut least = (0.0, 0.0);
    for ((tier, maker), times) in &mut tiers {
        times.sort_by(f64::total_cmp);
        let (median, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
        if *tier == Tier::None {
            least = (median, p95);
        }
        let (more, more_p95) = (median - least.0, p95 - least.1);
        let tier = if (*tier, *maker) == (Tier::Box, own) { "own box" } else { tier.name() };
        println!("{tier:>7} {:>10.2} {median:>10.2} {p95:>10.2} {more:>10.2} {more_p95:>10.2}", times[0]);
    }
}
