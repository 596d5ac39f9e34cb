//! The requirements of branches as JSON: as protection and as rules.

use serde_json::{Value, json};

use super::{
    super::{
        branch_rules::{BranchRules, RequiredCheck},
        rulesets::{BypassMode, Mover, Rules, Ruleset},
        users::Role,
    },
    View, node_id, time,
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

/// The rules of a ruleset for a branch that it binds.
pub(in super::super) fn rules(view: View<'_>, ruleset: &Ruleset) -> Vec<Value> {
    let mut found = each_rule(&ruleset.rules);
    for rule in &mut found {
        rule["ruleset_source_type"] = json!("Repository");
        rule["ruleset_source"] = json!(view.repo.name);
        rule["ruleset_id"] = json!(ruleset.id);
    }
    found
}

/// A ruleset in a list.
pub(in super::super) fn ruleset(view: View<'_>, ruleset: &Ruleset) -> Value {
    json!({
        "id": ruleset.id,
        "name": ruleset.name,
        "target": "branch",
        "source_type": "Repository",
        "source": view.repo.name,
        "enforcement": ruleset.enforcement,
        "node_id": node_id("RepositoryRuleset", ruleset.id),
        "_links": {
            "self": {"href": view.api(&format!("/rulesets/{}", ruleset.id))},
            "html": {"href": view.html(&format!("/rules/{}", ruleset.id))},
        },
        "created_at": time(ruleset.created_at),
        "updated_at": time(ruleset.updated_at),
    })
}

/// A ruleset with its rules. Only admins see who may bypass it.
pub(in super::super) fn whole_ruleset(view: View<'_>, of: &Ruleset, mover: Mover) -> Value {
    let mut shown = ruleset(view, of);
    shown["conditions"] = json!({"ref_name": {"include": of.include, "exclude": of.exclude}});
    shown["rules"] = json!(each_rule(&of.rules));
    shown["current_user_can_bypass"] = json!(match of.bypass_of(mover) {
        None => "never",
        Some(BypassMode::Always) => "always",
        Some(BypassMode::PullRequest) => "pull_requests_only",
        Some(BypassMode::Exempt) => "exempt",
    });
    if mover.role >= Role::Admin {
        shown["bypass_actors"] = json!(of.bypass_actors);
    }
    shown
}

/// Rules, as they are sent and shown.
fn each_rule(rules: &Rules) -> Vec<Value> {
    let Rules { merging, creation, update, deletion, non_fast_forward, do_not_enforce_on_create } = rules;
    let BranchRules { required_status_checks, required_pull_request_reviews, .. } = merging;
    let mut found = Vec::new();
    let mut add = |kind: &str, parameters: Option<Value>| {
        let mut rule = json!({"type": kind});
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
            "do_not_enforce_on_create": do_not_enforce_on_create,
            "required_status_checks": checks.each().into_iter().map(one).collect::<Value>(),
        });
        add("required_status_checks", Some(parameters));
    }
    let resolution = merging.required_conversation_resolution;
    if required_pull_request_reviews.is_some() || resolution {
        let count = required_pull_request_reviews.as_ref().map_or(0, |wanted| wanted.required_approving_review_count);
        let parameters = json!({
            "required_approving_review_count": count,
            "dismiss_stale_reviews_on_push": false,
            "require_code_owner_review": false,
            "require_last_push_approval": false,
            "required_review_thread_resolution": resolution,
            "allowed_merge_methods": ["merge", "squash", "rebase"],
        });
        add("pull_request", Some(parameters));
    }
    let plain = [
        ("required_linear_history", merging.required_linear_history),
        ("required_signatures", merging.required_signatures),
        ("creation", *creation),
        ("update", *update),
        ("deletion", *deletion),
        ("non_fast_forward", *non_fast_forward),
    ];
    for (kind, _) in plain.into_iter().filter(|(_, is_there)| *is_there) {
        add(kind, None);
    }
    found
}

fn contexts(all: &[RequiredCheck]) -> Value {
    all.iter().map(|check| json!(check.context)).collect()
}

fn each(all: &[RequiredCheck]) -> Value {
    all.iter().map(|check| json!({"context": check.context, "app_id": check.app_id})).collect()
}
