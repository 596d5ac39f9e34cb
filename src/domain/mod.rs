//! Pure rules: what the states are, who may claim, what comes next, what people read. No async, no I/O, no clock:
//! `now` is passed in, so every rule is a row of a table test.
#![warn(clippy::wildcard_enum_match_arm)]

mod ids;
mod retry;
mod run;
mod slug;
mod spend;

pub use ids::{
    CommentId, EventId, Generation, InvalidRepoName, IssueNumber, Login, Nonce, PullNumber, RepoName, RunId, Sha,
    Timestamp, WorkerId,
};
pub use retry::FailureClass;
pub use run::{Outcome, Progress, RunReport, RunRequest};
pub use slug::branch_for;
pub use spend::Spend;
