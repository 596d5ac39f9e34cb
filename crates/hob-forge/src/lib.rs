//! The GitHub client. octocrab builds the requests and owns the connection; the sign-in, the throttle, the conditional
//! cache, rate headers, deadlines and retries are our own (octocrab's retry would send a write twice, and its sign-in
//! would omit the token from further pages).
//!
//! HTTP is the port: there is no forge trait, and the real client always runs. Every visible write takes a
//! [`HeldLease`], except for missing labels, the one pull request that belongs to no issue, and the objects of the live
//! check.

mod account;
mod app_key;
mod authentication;
mod before_claim;
mod branch_rules;
mod cache;
mod client;
mod clock;
mod comments;
mod connection;
mod counted_checks;
mod dashboard;
mod dependency_review;
mod edits;
mod error;
mod failed_jobs;
mod forbidden;
mod graphql;
mod head_checks;
mod issues;
mod labels;
mod lease;
mod ledger;
mod ledger_batch;
mod live;
mod live_permitted;
mod mutations;
mod once;
mod open_pulls;
mod pages;
mod permitted;
mod probes;
mod pulls;
mod purpose;
mod rates;
mod reaction;
mod refs;
mod rendered;
mod reply;
mod repository;
mod repository_ledger;
mod resources;
mod reviews;
mod scheduled_workflow;
mod staging;
mod statuses;
mod sub_issues;
mod threads;
mod throttle;
mod tips;
mod transport;
mod wait;
mod window;
mod wrong_server;

pub use account::Account;
pub use app_key::AppKey;
pub use authentication::{App, Authentication};
pub use before_claim::BeforeClaim;
pub use client::{Forge, LEDGER_PREFIX};
pub use comments::{Comment, Comments, Edited};
pub use connection::{Access, CallCounts, Connection};
pub use counted_checks::HeadCheck;
pub use dashboard::{Dashboard, DrawTurn};
pub use dependency_review::WeakPackage;
pub use edits::BodyEdit;
pub use error::ForgeError;
pub use failed_jobs::{FailedJob, JobFailure, WorkflowRun};
pub use head_checks::HeadChecks;
pub use issues::{Issue, Issues, OpenIssues};
pub use labels::Labels;
pub use lease::HeldLease;
pub use ledger::{Ledger, LedgerEntry, fresh_nonce};
pub use live::{LIVE_IDS, Live, LiveLine, LiveReport, Outcome, live_check};
pub use live_permitted::{TEST_PREFIX, live_calls};
pub use once::{Look, once};
pub use open_pulls::OpenPull;
pub use permitted::{PermittedCall, permitted_calls};
pub use pulls::{Pull, PullDraft, Pulls};
use purpose::TokenPermission;
pub use rates::Rate;
pub use reaction::Reaction;
pub use rendered::{Rendered, RenderedText};
pub use repository::{BaseBranch, Repository, RepositoryDetails};
pub use repository_ledger::{Changed, RepositoryChange, RepositoryLedger};
pub use reviews::{LineRemark, Review, ReviewVerdict, Reviews};
pub use scheduled_workflow::{ScheduledWorkflow, WorkflowFile};
pub use staging::{NewCommit, SignedCommit, Staging};
pub use statuses::Statuses;
pub use sub_issues::{OpenedIssue, SubIssues};
pub use tips::{RepositoryEntry, Tip, Tips};
