//! Hob: a worker for GitHub. Label an issue `code`; Hob claims it, works on it in a branch with a code agent,
//! proves the work with the repository's own checks, and opens a pull request.
//!
//! This package is the command line and the wiring. The parts are crates of their own, from the inside out; which may
//! depend on which is in `docs/design/architecture.md`, and `tests/it/layering.rs` holds their `Cargo.toml` files to it.
//!
//! | crate | owns |
//! |---|---|
//! | [`hob_domain`] | pure rules: no async, no I/O, no clock |
//! | [`hob_config`] | typed settings; the only reader of the environment |
//! | [`hob_process`] | child processes: group, environment allow-list, deadline, output cap |
//! | [`hob_forge`] | the GitHub client |
//! | `hob_workspace` | mirrors, checkouts, branches, commits, diffs, the leased push |
//! | [`hob_agent`] | code agents behind one trait, clients for language models, transcripts |
//! | [`hob_traces`] | traces for OpenTelemetry |
//! | [`hob_worker`] | the loop: discover, claim, run, prove, publish |
//! | [`github_emulator`] | the embedded GitHub-compatible server |
//!
//! In this package, [`cli`] has one file a command, and [`telemetry`] starts the logs and the traces.

pub mod cli;
pub mod telemetry;
