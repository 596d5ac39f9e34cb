//! The repository and its labels over the wire.

use serde_json::{Value, json};

use super::{
    super::{
        state::{IssueState, Label, Visibility},
        users::Role,
    },
    View, node_id, time,
};

/// The addresses of a repository below its own, with their field names.
const ADDRESSES: [(&str, &str); 37] = [
    ("archive_url", "/{archive_format}{/ref}"),
    ("assignees_url", "/assignees{/user}"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("branches_url", "/branches{/branch}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("comments_url", "/comments{/number}"),
    ("commits_url", "/commits{/sha}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("contents_url", "/contents/{+path}"),
    ("contributors_url", "/contributors"),
    ("deployments_url", "/deployments"),
    ("downloads_url", "/downloads"),
    ("events_url", "/events"),
    ("forks_url", "/forks"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("hooks_url", "/hooks"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("issue_events_url", "/issues/events{/number}"),
    ("issues_url", "/issues{/number}"),
    ("keys_url", "/keys{/key_id}"),
    ("labels_url", "/labels{/name}"),
    ("languages_url", "/languages"),
    ("merges_url", "/merges"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("pulls_url", "/pulls{/number}"),
    ("releases_url", "/releases{/id}"),
    ("stargazers_url", "/stargazers"),
    ("statuses_url", "/statuses/{sha}"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("tags_url", "/tags"),
    ("teams_url", "/teams"),
    ("trees_url", "/git/trees{/sha}"),
    ("url", ""),
];

/// Settings that are kept and shown, without other effects.
pub(in super::super) const FEATURES: [&str; 3] = ["has_downloads", "has_projects", "has_wiki"];

/// The repository by itself, which alone has these counts.
pub(in super::super) fn full_repository(view: View<'_>, role: Role) -> Value {
    let mut shown = repository(view, role);
    if let Value::Object(fields) = &mut shown {
        fields.insert("network_count".to_owned(), json!(0));
        fields.insert("subscribers_count".to_owned(), json!(0));
    }
    shown
}

/// The repository within another answer, without the settings of how it merges.
pub(in super::super) fn minimal_repository(view: View<'_>, role: Role) -> Value {
    let mut shown = repository(view, role);
    if let Value::Object(fields) = &mut shown {
        fields.retain(|name, _| !name.starts_with("allow_") && name != "delete_branch_on_merge");
    }
    shown
}

/// The repository in a list, with the permissions of `role` in it.
pub(in super::super) fn repository(view: View<'_>, role: Role) -> Value {
    let repo = view.repo;
    let open = repo.issues.values().filter(|issue| issue.state == IssueState::Open).count();
    let private = repo.visibility == Visibility::Private;
    let mut shown = json!({
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name.name(),
        "full_name": repo.name,
        "owner": view.user(&repo.name.owner().into()),
        "private": private,
        "visibility": if private { "private" } else { "public" },
        "html_url": view.html(""),
        "description": repo.description,
        "fork": false,
        "clone_url": view.html(".git"),
        "git_url": view.html(".git"),
        "ssh_url": view.html(".git"),
        "svn_url": view.html(""),
        "mirror_url": null,
        "homepage": repo.homepage,
        "archived": repo.archived,
        "has_issues": repo.has_issues,
        "allow_merge_commit": repo.merging.allow_merge_commit,
        "allow_squash_merge": repo.merging.allow_squash_merge,
        "allow_rebase_merge": repo.merging.allow_rebase_merge,
        "delete_branch_on_merge": repo.merging.delete_branch_on_merge,
        "allow_auto_merge": repo.merging.allow_auto_merge,
        "language": null,
        "license": null,
        "default_branch": repo.default_branch,
        "created_at": time(repo.created_at),
        "updated_at": time(repo.pushed_at),
        "pushed_at": time(repo.pushed_at),
        "open_issues": open,
        "open_issues_count": open,
        "topics": [],
        "permissions": {
            "admin": role >= Role::Admin,
            "maintain": role >= Role::Maintain,
            "push": role >= Role::Write,
            "triage": role >= Role::Triage,
            "pull": role >= Role::Read,
        },
    });
    let Value::Object(fields) = &mut shown else { return shown };
    for (name, below) in ADDRESSES {
        fields.insert(name.to_owned(), json!(view.api(below)));
    }
    for zero in ["forks", "forks_count", "size", "stargazers_count", "watchers", "watchers_count"] {
        fields.insert(zero.to_owned(), json!(0));
    }
    for no in ["has_pages", "has_discussions", "disabled"] {
        fields.insert(no.to_owned(), json!(false));
    }
    for feature in FEATURES {
        fields.insert(feature.to_owned(), json!(repo.features.get(feature).is_some_and(|on| *on)));
    }
    shown
}

/// A label.
pub(in super::super) fn label(view: View<'_>, label: &Label) -> Value {
    let path: String = url::form_urlencoded::byte_serialize(label.name.as_bytes()).collect();
    json!({
        "id": label.id,
        "node_id": node_id("Label", label.id),
        "url": view.api(&format!("/labels/{}", path.replace('+', "%20"))),
        "name": label.name,
        "description": label.description,
        "color": label.color,
        "default": false,
    })
}

/// The labels of these ids.
pub(in super::super) fn labels(view: View<'_>, ids: &[u64]) -> Value {
    ids.iter().filter_map(|id| view.repo.label_by_id(*id)).map(|known| label(view, known)).collect()
}
