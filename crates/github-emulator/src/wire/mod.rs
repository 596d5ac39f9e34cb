//! The state as JSON: GitHub's own field names, every field that its OpenAPI description requires. Each resource is a
//! function from a [`View`] and the resource to JSON.

mod account;
mod check;
mod event;
mod git;
mod issue;
mod job;
mod protection;
mod pull;
mod repository;
mod scalar;
mod view;

pub(super) use account::{private_account, public_account, simple_account};
pub(super) use check::{annotation, check_run, check_suite, pulls_at, simple_status, status};
pub(super) use event::event;
pub(super) use git::{
    account_of, commit, content, file, file_change, git_commit, person, pushed_commit, reference, simple_commit,
    wrapped_base64,
};
pub(super) use issue::{CONTENTS, comment, issue, reaction};
pub(super) use job::{job, workflow, workflow_run};
pub(super) use protection::{protection, rules, ruleset, short_protection, signatures, whole_ruleset};
pub(super) use pull::{Measured, legacy_review_comment, pull, review, review_comment, whole_pull};
pub(super) use repository::{FEATURES, full_repository, label, labels, minimal_repository, repository};
pub(super) use scalar::{node_id, time};
pub(super) use view::View;
