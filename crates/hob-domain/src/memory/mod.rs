//! A repository's memory: what Hob saw work in it, learned from work that was merged.
//!
//! # Flow
//! An attempt observes [`Lesson`]s, and the record keeps a few of them when the work is published. When its pull request
//! is merged, [`Memory::after`] takes them into the repository's record, and [`Memory::facts`] tells later agents.
//!
//! Maintainers' corrections take another way: the record keeps their [`Remark`]s until the merge, the repository's has
//! them as [`Corrections`], and one that was made on two pull requests becomes a pull request with one line for agents.
//!
//! # Guarantees
//! - A fact is of a closed set, and its command is one of the repository's own checks and set-up steps, or fits the grammar of
//!   [`TestCommand`]. No free text gets in: neither from an issue nor from a record that another program wrote, which must fit the
//!   same rules each time it is read.
//! - Remarks reach no agent from the record. They are in pull requests that people merge, and a remark must fit
//!   [`correction_line`] each time it is read.
//! - It has [`FACTS_MAX`] facts and [`MEMORY_BYTES`] bytes at most, in the record as well as in a brief.

mod agents_file;
mod corrections;
mod facts;
mod lesson;
mod line;
mod proposal;
mod remark;
mod same;
mod test_command;

pub use agents_file::{AGENTS_FILES, with_correction};
pub use corrections::{Correction, Corrections};
pub use facts::{FACTS_MAX, Fact, MEMORY_BYTES, Memory};
pub use lesson::{Lesson, LessonKind, Lessons};
pub use line::correction_line;
pub use proposal::{LineProposal, proposal_body, proposal_branch, proposal_title};
pub use remark::{Remark, Remarks};
pub use test_command::TestCommand;
