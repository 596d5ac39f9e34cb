//! A GitHub-compatible server in one process, checked against GitHub's OpenAPI description.
//!
//! REST is below `/api/v3` and GraphQL at `/api/graphql`, as on GitHub Enterprise Server; git speaks smart HTTP at
//! `/OWNER/REPO.git` with a token as the password. State is in memory behind one lock and, if there is a folder for it,
//! also in a file of changes; git data is in bare repositories on disk.
//!
//! # Guarantees
//! A write to refs through the API and a push to the same repository are atomic with respect to each other: of twenty
//! requests that create one ref, one is answered 201. Ids grow over the whole forge.
//!
//! # Caveats
//! A user's token has all rights of its account: scopes are not checked. An insufficient role is answered 403, where
//! GitHub now and then says 404. A pull request comes from a branch of its own repository. Dependencies and sub-issues
//! stay within one repository. The timeline has no `committed` entries.
//!
//! # Not here
//! REST search, forks, organizations and teams, milestones, projects, releases, commit comments, runners of workflows
//! (a test says what a job did), a merge queue, and the endpoints that manage webhooks and Apps. A missing
//! endpoint is answered 404 with its name; a parameter or field that an endpoint does not support is refused with its
//! name, see `obeyed`.

mod advisory;
mod api;
mod apps;
mod attachments;
mod branch_guard;
mod branch_rules;
mod call;
mod clock;
mod connection;
mod control;
mod control_jobs;
mod control_pulls;
mod dates;
mod envelope;
mod fault_layer;
mod faults;
mod fields;
mod forge;
mod git;
mod git_http;
mod graphql;
mod job;
mod job_log;
mod job_making;
mod large_files;
mod markdown;
mod measure;
mod media;
mod merge_method;
mod merge_queue;
mod merge_state;
mod meter;
mod mood_view;
mod moods;
mod names;
mod obeyed;
mod options;
mod page;
mod pages;
mod permission;
mod points;
mod ref_moves;
mod refusal;
mod route;
mod rulesets;
mod search;
mod seed;
mod server;
mod snapshots;
mod sow;
mod standing;
mod state;
mod state_file;
mod temper;
mod touched;
mod users;
mod verification;
mod waiting_runs;
mod webhook_events;
mod webhooks;
mod wire;

pub use advisory::KnownAdvisory;
pub use api::endpoints;
pub use apps::{App, AppKey, InvalidKey};
pub use branch_rules::{BranchRules, RequiredCheck, RequiredChecks, RequiredReviews};
pub use connection::{Hangup, HangupListener, HangupStream};
pub use faults::{Fault, InvalidFault, What, When};
pub use forge::LoggedRequest;
pub use job::{Annotation, AnnotationLevel, Job, JobChange, JobConclusion, JobIds, JobStatus, JobStep};
pub use merge_queue::RemovalReason;
pub use moods::{InvalidMoods, Mood, Moods};
pub use names::{InvalidRepoName, Login, RepoName, Timestamp};
pub use options::Options;
pub use seed::{Seed, SeedError};
pub use server::{Running, SeedFile, StartError, serve};
pub use snapshots::SnapshotError;
pub use state_file::StateFileError;
pub use users::{AccountKind, InvalidUser, Role, TokenKind, User};
pub use webhooks::{Delivery, Webhook};

#[cfg(test)]
mod rest_tests;

#[cfg(test)]
mod tests {
    #[test]
    fn the_readme_quotes_the_example() {
        let readme = include_str!("../README.md");
        let quoted = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert!(include_str!("../examples/test_double.rs").contains(quoted), "{quoted}");
    }
}
