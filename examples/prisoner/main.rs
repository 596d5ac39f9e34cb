//! The prisoner: a program that tries, by some hundred names, what a child of Hob must not be able to do, and prints how
//! each attempt ended, as JSON. `lab/measure/prisoner.py` makes the table in `docs/design/attacks.md` of it, and a test
//! in `tests/it` runs it.
//!
//! - `prisoner guard TIER HOB` makes what the prisoner is after (files, processes, sockets), runs the prisoner beside it
//!   in a plan of that tier, with Hob's program as the launcher, and looks from outside at what is left.
//! - `prisoner inside KEY=VALUE…` is the prisoner itself.
//! - `prisoner below FILTER -- PROGRAM…` runs a program where the kernel refuses what a container or an old kernel does.
//!
//! Whatever succeeds without a sandbox harms nothing: arguments are such that the kernel looks at the right to the call,
//! and finds nothing to do. Linux only.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for engineers, which prints and stops at the first error"
)]

#[cfg(target_os = "linux")]
mod attempt;
#[cfg(target_os = "linux")]
mod below;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod reads;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod supervised;
#[cfg(target_os = "linux")]
mod writes;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["guard", tier, hob, flags @ ..] => println!("{}", guard::run(tier, hob.as_ref(), flags)),
        ["inside", told @ ..] => println!("{}", attempt::all(&attempt::Told::of(told))),
        ["below", filter, "--", program, arguments @ ..] => below::run(filter, program, arguments),
        _other => {
            eprintln!("prisoner guard TIER HOB [loopback-only] | inside KEY=VALUE… | below FILTER -- PROGRAM…");
            return std::process::ExitCode::from(2);
        }
    }
    std::process::ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("there is no sandbox to try on this system");
}
