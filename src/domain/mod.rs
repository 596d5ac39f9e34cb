//! Pure rules: what the states are, who may claim, what comes next, what people read. No async, no I/O, no clock:
//! `now` is passed in, so every rule is a row of a table test.
#![warn(clippy::wildcard_enum_match_arm)]

mod change;
mod evidence;
mod ids;
mod policy;
mod retry;
mod run;
mod secrets;
mod slug;
mod spend;

pub use change::{ChangeKind, Diff, FileChange, FileMode, shown_path};
pub use evidence::{CheckExit, CheckResult, Evidence, Verdict};
pub use ids::{
    CommentId, EventId, Generation, InvalidRepoName, IssueNumber, Login, Nonce, PullNumber, RepoName, RunId, Sha,
    Timestamp, WorkerId,
};
pub use policy::{DiffPolicy, HobFiles, InvalidGlob, Violation};
pub use retry::FailureClass;
pub use run::{Outcome, Progress, RunReport, RunRequest};
pub use secrets::{SecretKind, secret_in};
pub use slug::branch_for;
pub use spend::Spend;
