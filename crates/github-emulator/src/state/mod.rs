//! The state of the forge: accounts, repositories, issues, pull requests. Plain data with the few rules that keep it
//! consistent; git's own data is in `git`, and `wire` shows it as JSON.

mod account;
mod check;
mod delta;
mod event;
mod grant;
mod history;
mod issue;
mod issue_state;
mod pull;
mod reaction;
mod records;
mod reference;
mod rename;
mod repositories;
mod repository;

pub(super) use account::{Account, Accounts};
pub(super) use check::{CheckApp, CheckRun, CheckSuite, Job, Step, WorkflowRun, together};
pub(super) use delta::Delta;
pub(super) use event::{Event, EventKind};
pub(super) use grant::{Access, Grant, Permission, Permissions};
pub(super) use history::{Edited, History, Original, Revision};
pub(super) use issue::{Closing, Comment, Issue, LinkedBranch, Lock};
pub(super) use issue_state::{IssueState, StateReason};
pub(super) use pull::{Merged, Pull, Review, ReviewComment, ReviewState};
pub(super) use reaction::Reaction;
pub(super) use reference::{closes, mentions};
pub(super) use repositories::State;
pub(super) use repository::{AutoMerge, CommitStatus, Label, Repository, Visibility};
