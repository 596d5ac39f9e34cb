//! The requirements of branches as JSON: as protection and as rules.

use serde_json::{Value, json};

use super::{
    super::{
        branch_rules::{BranchRules, RequiredCheck, Ruleset},
        users::Role,
    },
    View,
};

/// The protection of a branch as the branch itself shows it.
pub(in super::super) fn short_protection(view: View<'_>, branch: &str) -> Value {
    let rules = view.repo.rules.get(branch);
    let checks = rules.and_then(|rules| rules.required_status_checks.as_ref());
    let level = match (checks, rules.is_some_and(|rules| rules.enforce_admins)) {
        (None, _) => "off",
        (Some(_), true) => "everyone",
        (Some(_), false) => "non_admins",
    };
    let all = checks.map(|checks| checks.each()).unwrap_or_default();
    json!({
        "enabled": view.repo.is_protected(branch),
        "required_status_checks": {"enforcement_level": level, "contexts": contexts(&all), "checks": each(&all)},
    })
}

/// The protection of a branch by itself.
pub(in super::super) fn protection(view: View<'_>, branch: &str) -> Value {
    let own = view.api(&format!("/branches/{branch}/protection"));
    let none = BranchRules::default();
    let rules = view.repo.rules.get(branch).unwrap_or(&none);
    let mut shown = json!({
        "url": own,
        "enforce_admins": {"url": format!("{own}/enforce_admins"), "enabled": rules.enforce_admins},
        "required_signatures": signatures(view, branch),
        "required_linear_history": {"enabled": rules.required_linear_history},
        "required_conversation_resolution": {"enabled": rules.required_conversation_resolution},
    });
    for off in ["allow_force_pushes", "allow_deletions", "block_creations", "lock_branch", "allow_fork_syncing"] {
        shown[off] = json!({"enabled": false});
    }
    if let Some(checks) = &rules.required_status_checks {
        let (url, all) = (format!("{own}/required_status_checks"), checks.each());
        shown["required_status_checks"] = json!({
            "url": url,
            "strict": checks.strict,
            "contexts": contexts(&all),
            "contexts_url": format!("{url}/contexts"),
            "checks": each(&all),
        });
    }
    if let Some(reviews) = &rules.required_pull_request_reviews {
        shown["required_pull_request_reviews"] = json!({
            "url": format!("{own}/required_pull_request_reviews"),
            "dismiss_stale_reviews": false,
            "require_code_owner_reviews": false,
            "require_last_push_approval": false,
            "required_approving_review_count": reviews.required_approving_review_count,
        });
    }
    if view.repo.protects(&format!("refs/heads/{branch}")) {
        let may = view.accounts.all().filter(|account| view.repo.role(Some(account)) >= Role::Maintain);
        let url = format!("{own}/restrictions");
        shown["restrictions"] = json!({
            "url": url,
            "users_url": format!("{url}/users"),
            "teams_url": format!("{url}/teams"),
            "apps_url": format!("{url}/apps"),
            "users": may.map(|account| view.user(&account.login)).collect::<Value>(),
            "teams": [],
            "apps": [],
        });
    }
    shown
}

/// Whether the protection of a branch requires signatures.
pub(in super::super) fn signatures(view: View<'_>, branch: &str) -> Value {
    let url = view.api(&format!("/branches/{branch}/protection/required_signatures"));
    let enabled = view.repo.rules.get(branch).is_some_and(|rules| rules.required_signatures);
    json!({"url": url, "enabled": enabled})
}

/// The rules of a ruleset.
pub(in super::super) fn rules(view: View<'_>, ruleset: &Ruleset) -> Vec<Value> {
    let BranchRules { required_status_checks, required_pull_request_reviews, .. } = &ruleset.rules;
    let mut found = Vec::new();
    let mut add = |kind: &str, parameters: Option<Value>| {
        let mut rule = json!({
            "type": kind,
            "ruleset_source_type": "Repository",
            "ruleset_source": view.repo.name,
            "ruleset_id": ruleset.id,
        });
        if let Some(parameters) = parameters {
            rule["parameters"] = parameters;
        }
        found.push(rule);
    };
    if let Some(checks) = required_status_checks {
        let one = |check: RequiredCheck| match check.app_id {
            Some(id) => json!({"context": check.context, "integration_id": id}),
            None => json!({"context": check.context}),
        };
        let parameters = json!({
            "strict_required_status_checks_policy": checks.strict,
            "do_not_enforce_on_create": false,
            "required_status_checks": checks.each().into_iter().map(one).collect::<Value>(),
        });
        add("required_status_checks", Some(parameters));
    }
    let resolution = ruleset.rules.required_conversation_resolution;
    if required_pull_request_reviews.is_some() || resolution {
        let count = required_pull_request_reviews.as_ref().map_or(0, |wanted| wanted.required_approving_review_count);
        let parameters = json!({
            "required_approving_review_count": count,
            "dismiss_stale_reviews_on_push": false,
            "require_code_owner_review": false,
            "require_last_push_approval": false,
            "required_review_thread_resolution": resolution,
        });
        add("pull_request", Some(parameters));
    }
    if ruleset.rules.required_linear_history {
        add("required_linear_history", None);
    }
    if ruleset.rules.required_signatures {
        add("required_signatures", None);
    }
    found
}

fn contexts(all: &[RequiredCheck]) -> Value {
    all.iter().map(|check| json!(check.context)).collect()
}

fn each(all: &[RequiredCheck]) -> Value {
    all.iter().map(|check| json!({"context": check.context, "app_id": check.app_id})).collect()
}
