//! Runs a program as Hob runs a check, in a tier: for whoever wants to know what works there.
//!
//!     inside TIER HOB FOLDER -- PROGRAM ARGUMENT…
//!
//! TIER is `none`, `fence` or `box`, or `own-box` for a box that Hob makes where bubblewrap is not installed.
//! The program works in FOLDER, which it may write; `home` in it is its home. HOB is Hob's program. Ends with the program's exit
//! code, or with 125.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for engineers, which prints what the other one did"
)]

use std::{path::Path, process::ExitCode, time::Duration};

use hob_config::{child_environment, toolchain_folders};
use hob_process::{Exit, Program};
use hob_sandbox::{Limits, Maker, Sandbox, Tier};
use tokio_util::sync::CancellationToken;

/// Suites that take longer are not measured here.
const TIME: Duration = Duration::from_secs(1_800);
/// Bytes of each stream that are kept: the summary of a suite stands at the end.
const OUTPUT: usize = 4 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [tier, hob, folder, "--", program, arguments @ ..] = words.as_slice() else {
        eprintln!("inside TIER HOB FOLDER -- PROGRAM ARGUMENT…");
        return ExitCode::from(2);
    };
    let (tier, maker) = match *tier {
        "own-box" => (Some(Tier::Box), Some(Maker::Hob)),
        name => (Tier::named(name), None),
    };
    let Some(tier) = tier else {
        eprintln!("there are the tiers none, fence, box and own-box");
        return ExitCode::from(2);
    };
    let mut environment = child_environment();
    let read = toolchain_folders(&environment);
    let home = Path::new(folder).join("home");
    environment.insert("HOME".into(), home.clone().into());
    environment.insert("TMPDIR".into(), home.join("tmp").into());
    if let Err(error) = std::fs::create_dir_all(home.join("tmp")) {
        eprintln!("make the home: {error}");
        return ExitCode::from(125);
    }
    let sandbox = Sandbox::new(tier, hob.into(), Limits::default()).sharing(read, Vec::new());
    let sandbox = maker.into_iter().fold(sandbox, Sandbox::made_by);
    let child = Program::inside(&sandbox.plan().writes(folder), program, &environment).args(arguments);
    let child = child.env("CI", "true").dir(folder).deadline(TIME).output_cap(OUTPUT);
    match child.run(&CancellationToken::new()).await {
        Ok(finished) => {
            print!("{}{}", finished.stdout.text(), finished.stderr.text());
            if let Some(refused) = finished.refused {
                println!("\nrefused: {refused}");
            }
            match finished.exit {
                Exit::Code(code) => ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)),
                Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => ExitCode::from(125),
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(125)
        }
    }
}
