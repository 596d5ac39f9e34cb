//! Pull requests and reviews over the wire.

use serde_json::{Map, Value, json};

use super::{
    super::{
        merge_state::{Fit, merge_state},
        state::{Issue, Pull, Review, ReviewComment, ReviewState},
        users::Role,
    },
    View, node_id, time,
};

/// The facts about a pull request that only git knows.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct Measured {
    pub(in super::super) additions: usize,
    pub(in super::super) deletions: usize,
    pub(in super::super) files: usize,
    pub(in super::super) commits: usize,
    /// `None` if it is merged or closed.
    pub(in super::super) mergeable: Option<bool>,
    /// Whether the head lacks commits of the base.
    pub(in super::super) behind: bool,
    /// Whether all commits of the head have verified signatures.
    pub(in super::super) verified: bool,
    /// The commit of the test merge, if it merges.
    pub(in super::super) test_merge: Option<git2::Oid>,
}

impl Measured {
    /// The relation of head and base.
    pub(in super::super) fn fit(&self) -> Fit {
        Fit { mergeable: self.mergeable, behind: self.behind, verified: self.verified }
    }

    /// The fields of a single pull request that only git can fill, and whether it can be merged.
    pub(in super::super) fn fields(self, view: View<'_>, issue: &Issue) -> Value {
        let state = merge_state(view.repo, view.accounts, issue, self.fit()).name();
        json!({
            "mergeable": self.mergeable,
            "mergeable_state": state,
            "rebaseable": self.mergeable,
            "additions": self.additions,
            "deletions": self.deletions,
            "changed_files": self.files,
            "commits": self.commits,
        })
    }
}

fn auto_merge(view: View<'_>, issue: &Issue) -> Value {
    let Some(auto) = view.repo.auto_merges.get(&issue.number) else { return Value::Null };
    let title = auto.title.clone().unwrap_or_else(|| format!("{} (#{})", issue.title, issue.number));
    json!({
        "enabled_by": view.user(&auto.by),
        "merge_method": auto.method,
        "commit_title": title,
        "commit_message": auto.body.as_deref().unwrap_or_default(),
    })
}

/// A pull request in a list; `null` for an issue that is not one.
pub(in super::super) fn pull(view: View<'_>, issue: &Issue) -> Value {
    let Some(pull) = &issue.pull else { return Value::Null };
    let mut shown = super::issue(view, issue);
    if let Value::Object(fields) = &mut shown {
        for not_here in [
            "pull_request",
            "reactions",
            "issue_dependencies_summary",
            "sub_issues_summary",
            "comments",
            "state_reason",
            "closed_by",
            "performed_via_github_app",
            "timeline_url",
            "events_url",
            "labels_url",
            "repository_url",
        ] {
            fields.remove(not_here);
        }
        fields.insert("id".to_owned(), json!(pull.id));
        fields.insert("node_id".to_owned(), json!(node_id("PullRequest", pull.id)));
        pull_addresses(view, issue, pull, fields);
        let reviewers: Value = pull.reviewers.iter().map(|login| view.user(login)).collect();
        let merged = pull.merged.as_ref();
        let more = json!({
            "head": side(view, &pull.head_ref, &pull.head_sha),
            "base": side(view, &pull.base_ref, &pull.base_sha),
            "merged_at": merged.map(|merged| time(merged.at)),
            "merge_commit_sha": merged.map(|merged| &merged.sha),
            "draft": pull.draft,
            "auto_merge": auto_merge(view, issue),
            "requested_reviewers": reviewers,
            "requested_teams": [],
        });
        extend(fields, more);
    }
    shown
}

/// A single pull request, with the facts from git.
pub(in super::super) fn whole_pull(view: View<'_>, issue: &Issue, measured: Measured) -> Value {
    let mut shown = pull(view, issue);
    if let (Some(pull), Value::Object(fields)) = (&issue.pull, &mut shown) {
        let merged = pull.merged.as_ref();
        let more = json!({
            "merged": merged.is_some(),
            "merged_by": merged.map(|merged| view.user(&merged.by)),
            "comments": issue.comments.len(),
            "review_comments": pull.review_comments.len(),
            "maintainer_can_modify": pull.maintainer_can_modify,
        });
        extend(fields, more);
        extend(fields, measured.fields(view, issue));
        if let Some(merge) = measured.test_merge {
            fields.insert("merge_commit_sha".to_owned(), json!(merge.to_string()));
        }
    }
    shown
}

/// A review of the pull request `number`.
pub(in super::super) fn review(view: View<'_>, number: u64, review: &Review) -> Value {
    let page = view.html(&format!("/pull/{number}#pullrequestreview-{}", review.id));
    let at = view.api(&format!("/pulls/{number}"));
    let mut shown = json!({
        "id": review.id,
        "node_id": node_id("PullRequestReview", review.id),
        "user": view.user(&review.author),
        "author_association": view.association(&review.author),
        "body": review.body,
        "state": review.state.name(),
        "commit_id": review.commit,
        "submitted_at": time(review.at),
        "html_url": page,
        "pull_request_url": at,
        "_links": {"html": {"href": page}, "pull_request": {"href": at}},
    });
    if let (ReviewState::Pending, Value::Object(fields)) = (review.state, &mut shown) {
        fields.remove("submitted_at");
    }
    shown
}

/// A comment on the diff of the pull request `number`.
pub(in super::super) fn review_comment(view: View<'_>, number: u64, comment: &ReviewComment) -> Value {
    let own = view.api(&format!("/pulls/comments/{}", comment.id));
    let page = view.html(&format!("/pull/{number}#discussion_r{}", comment.id));
    let at = view.api(&format!("/pulls/{number}"));
    let mut shown = json!({
        "id": comment.id,
        "node_id": node_id("PullRequestReviewComment", comment.id),
        "url": own,
        "pull_request_review_id": comment.review,
        "diff_hunk": comment.hunk,
        "path": comment.path,
        "commit_id": comment.commit,
        "original_commit_id": comment.commit,
        "user": view.user(&comment.author),
        "author_association": view.association(&comment.author),
        "body": comment.body,
        "created_at": time(comment.created_at),
        "updated_at": time(comment.updated_at),
        "html_url": page,
        "pull_request_url": at,
        "side": comment.side,
        "subject_type": if comment.line.is_some() { "line" } else { "file" },
        "_links": {"self": {"href": own}, "html": {"href": page}, "pull_request": {"href": at}},
    });
    if let Value::Object(fields) = &mut shown {
        if let Some(line) = comment.line {
            fields.insert("line".to_owned(), json!(line));
            fields.insert("original_line".to_owned(), json!(line));
        }
        let (line, side) = comment.start.as_ref().map(|(line, side)| (line, side)).unzip();
        extend(fields, json!({"start_line": line, "original_start_line": line, "start_side": side}));
        if let Some(position) = comment.position {
            let pull = view.repo.issues.get(&number).and_then(|issue| issue.pull.as_ref());
            // A comment on an older head has no place in the diff of the new one.
            let current = pull.is_some_and(|pull| pull.head_sha == comment.commit).then_some(position);
            extend(fields, json!({"position": current, "original_position": position}));
        }
        if let Some(to) = comment.reply_to {
            fields.insert("in_reply_to_id".to_owned(), json!(to));
        }
    }
    shown
}

/// The same in the list of a review, with its position in the diff instead of its lines.
pub(in super::super) fn legacy_review_comment(view: View<'_>, number: u64, comment: &ReviewComment) -> Value {
    let mut shown = review_comment(view, number, comment);
    let place = json!({"position": comment.position, "original_position": comment.position});
    if let Value::Object(fields) = &mut shown {
        extend(fields, place);
    }
    shown
}

fn side(view: View<'_>, branch: &str, sha: &str) -> Value {
    let owner = view.repo.name.owner();
    json!({
        "label": format!("{owner}:{branch}"),
        "ref": branch,
        "sha": sha,
        "user": view.user(&owner.into()),
        "repo": super::repository(view, Role::Read),
    })
}

fn pull_addresses(view: View<'_>, issue: &Issue, pull: &Pull, fields: &mut Map<String, Value>) {
    let number = issue.number;
    let page = view.html(&format!("/pull/{number}"));
    let own = view.api(&format!("/pulls/{number}"));
    let (as_issue, statuses) =
        (view.api(&format!("/issues/{number}")), view.api(&format!("/statuses/{}", pull.head_sha)));
    let addresses = [
        ("url", "self", own.clone()),
        ("html_url", "html", page.clone()),
        ("issue_url", "issue", as_issue.clone()),
        ("comments_url", "comments", format!("{as_issue}/comments")),
        ("review_comments_url", "review_comments", format!("{own}/comments")),
        ("review_comment_url", "review_comment", view.api("/pulls/comments{/number}")),
        ("commits_url", "commits", format!("{own}/commits")),
        ("statuses_url", "statuses", statuses),
    ];
    let mut links = Map::new();
    for (field, link, address) in addresses {
        links.insert(link.to_owned(), json!({"href": address}));
        fields.insert(field.to_owned(), json!(address));
    }
    fields.insert("_links".to_owned(), Value::Object(links));
    fields.insert("diff_url".to_owned(), json!(format!("{page}.diff")));
    fields.insert("patch_url".to_owned(), json!(format!("{page}.patch")));
}

fn extend(fields: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        fields.extend(more);
    }
}
