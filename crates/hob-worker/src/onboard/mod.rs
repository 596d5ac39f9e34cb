//! Onboarding: what a repository lacks before Hob can work in it, and the one pull request that brings it.
//!
//! # Flow
//! [`survey()`] reads what is there and proposes the rest → [`onboard`] makes the labels, commits the files to a branch of
//! Hob's own, and opens the pull request.
//!
//! # Guarantees
//! - Reading writes nothing, and the default branch is not written to. No file that the repository has is changed but one: of a
//!   workflow of Hob's whose schedule moves to a file of its own, the triggers and the condition.
//! - A second call leaves what the first one made, or brings it up to date; a branch that a person pushed to stays as it is.

mod open;
mod survey;
mod text;

pub use open::{Offered, Onboarded, onboard};
pub use survey::{NewFile, SCHEDULE_PATH, Survey, WORKFLOW_PATH, survey};
pub use text::{LeftOut, WITHOUT_WORKFLOW};
