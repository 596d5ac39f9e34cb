//! What would make the forge refuse a push, checked before any work: its rules, and branches that are in the way.
//!
//! # Caveats
//! The forge does not say whom a rule lets pass, so its prohibitions are notes. Only admins can read branch protection
//! without a ruleset, which shows only when a push is refused.

use hob_config::Signing;
use hob_domain::{IssueNumber, PushPlan, Signs, branch_for, branch_in_the_way};

use crate::{WorkError, Worker};

/// The obstacle to Hob's branches, and its remedy; `None` if there is none.
pub(super) async fn in_the_way(worker: &Worker) -> Result<Option<String>, WorkError> {
    let prefix = &worker.settings.workspace.branch_prefix;
    let found = worker.forge.repository().in_the_way_of(prefix).await?;
    Ok(found.map(|folder| branch_in_the_way(folder, prefix)))
}

/// The rules for the branches that Hob would push.
pub(super) struct RulesFound {
    /// Such a branch.
    pub(super) branch: String,
    /// The rules that would refuse a push, each with the setting that helps.
    pub(super) objections: Vec<String>,
}

/// Reads the rules that would refuse a push.
pub(super) async fn refusing_rules(worker: &Worker) -> Result<RulesFound, WorkError> {
    let plan = push_plan(worker).await;
    let rules = worker.forge.repository().rules_of(&plan.branch).await?;
    let mut objections: Vec<String> = Vec::new();
    for says in rules.iter().filter_map(|rule| rule.objection(&plan)) {
        // The rulesets of a repository and of its organization may ask for the same.
        if !objections.contains(&says) {
            objections.push(says);
        }
    }
    Ok(RulesFound { branch: plan.branch, objections })
}

/// The push that Hob would make for an issue.
async fn push_plan(worker: &Worker) -> PushPlan {
    let workspace = &worker.settings.workspace;
    let email = worker.commit_identity().await.email;
    let (signs, committer) = match worker.settings.publish.signing {
        Signing::None => (Signs::No, Some(email.clone())),
        Signing::Ssh(_) => (Signs::Yes, Some(email.clone())),
        // The forge makes the commits again, and is their committer.
        Signing::Api => (Signs::Yes, None),
    };
    PushPlan {
        branch: branch_for(&workspace.branch_prefix, IssueNumber(1), "x"),
        author: email,
        committer,
        signs,
        max_file: workspace.max_file,
    }
}
