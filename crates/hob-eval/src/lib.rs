//! Evaluation: coding tasks with hidden tests, and what the runs of an agent on many of them say.
//!
//! - Flow: [`find_tasks`] reads a folder in Harbor's format or a file of SWE-bench's instances; [`Place::make`] makes what an agent
//!   begins with; the caller runs the agent there; [`Verifier::verify`] runs the tests in a box; where it is doubtful whether they could run,
//!   [`unusable`] tells by the task's own solution; [`Results`] keeps a line for each trial, so that a run that was cut short goes on;
//!   [`Score`] and [`Comparison`] say what came of it.
//! - Guarantees: an agent in a sandbox cannot read the tests; git is never run in a git directory that an agent can write; a link in a
//!   task leads nowhere outside it; no code of an agent decides whether a task counts.
//! - Caveats: no container is started. Where an image is needed, podman or docker makes it, and its files are the root of a box: there is
//!   one user, no `ENTRYPOINT` runs, and no process of an agent is left for the tests.

mod controls;
mod dockerfile;
mod engine;
mod error;
mod find;
mod git;
mod harbor;
mod harbor_fields;
mod image_root;
mod named_tests;
mod pass_at;
mod patched_tests;
mod place;
mod rate;
mod results;
mod reward;
mod score;
mod scratch;
mod scripts;
mod signs;
mod swe_bench;
mod task;
mod text;
mod trial;
mod verifier;

pub use controls::{Baseline, Checked, Place, check, fetches, try_baseline, unusable};
pub use engine::Engine;
pub use error::EvalError;
pub use find::find_tasks;
pub use pass_at::PassAt;
pub use rate::Rate;
pub use results::{Heading, Results};
pub use score::{Comparison, Score};
pub use scratch::Scratch;
pub use swe_bench::SweBenchParts;
pub use task::{Found, Reach, Task, Unusable};
pub use trial::{LimitKind, Trial};
pub use verifier::{Verdict, Verifier};
