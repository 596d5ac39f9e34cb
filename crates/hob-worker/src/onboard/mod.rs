//! Onboarding: what a repository lacks before Hob can work in it, and the one pull request that adds it.
//!
//! # Flow
//! [`survey()`] reads what exists and proposes the rest → [`onboard`] makes the labels, commits the files to a branch
//! of Hob's own, and opens the pull request.
//!
//! # Guarantees
//! - Reading writes nothing, and the default branch is not written to. Existing files are not changed, with one
//!   exception: if the schedule of Hob's workflow moves to its own file, the workflow's triggers and condition change.
//! - A second call leaves what the first one made, or brings it up to date; a branch that a person pushed to stays as it is.

mod open;
mod survey;
mod text;

pub use open::{Offered, Onboarded, onboard};
pub use survey::{NewFile, SCHEDULE_PATH, Survey, WORKFLOW_PATH, survey};
pub use text::{LeftOut, WITHOUT_WORKFLOW};
