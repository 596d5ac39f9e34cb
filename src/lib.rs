//! Hob: a worker for GitHub. Label an issue `code`; Hob claims it, works on it in a branch with a code agent,
//! proves the work with the repository's own checks, and opens a pull request.
//!
//! The crate map, from the inside out. `tests/it/layering.rs` enforces who may import whom.
//!
//! | module | owns |
//! |---|---|
//! | [`domain`] | pure rules: no async, no I/O, no clock |
//! | [`config`] | typed settings; the only reader of the environment |
//! | [`process`] | child processes: group, environment allow-list, deadline, output cap |
//! | [`telemetry`] | logs on standard error, as text or as JSON lines |
//! | [`forge`] | the GitHub client |
//! | [`workspace`] | mirrors, checkouts, branches, commits, diffs, the leased push |
//! | [`session`] | append-only transcripts |
//! | [`model`] | clients for language models |
//! | [`agent`] | code agents behind one trait |
//! | [`worker`] | the loop: discover, claim, run, prove, publish |
//! | [`local_forge`] | the embedded GitHub-compatible server |
//! | [`scripted_model`] | a model server that plays a script |
//! | [`cli`] | one file a command |

pub mod agent;
pub mod cli;
pub mod config;
pub mod domain;
pub mod forge;
pub mod local_forge;
pub mod model;
pub mod process;
pub mod scripted_model;
pub mod session;
pub mod telemetry;
pub mod worker;
pub mod workspace;
