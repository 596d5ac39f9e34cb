//! Global ids: the objects that they name, if the caller may see them.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    super::{
        super::state::{Issue, Repository},
        object::{At, Out},
    },
    account,
    check::{run_of, status_of},
    comment::CommentNode,
    commit::reference,
    issue::IssueNode,
    label, linked,
    pull::PullNode,
    reaction,
    repository::{RepositoryNode, commit_anywhere},
    review::{Of, ReviewCommentNode, ReviewNode},
    text,
    thread::ThreadNode,
    timeline,
};

/// The object of a global id; `None` if the caller sees none.
pub(in super::super) fn find<'s>(at: &At<'s>, id: &str) -> Option<Out<'s>> {
    let plain = String::from_utf8(BASE64_STANDARD.decode(id).ok()?).ok()?;
    let (kind, own) = plain.split_once(':')?;
    if kind == "Commit" {
        return commit_anywhere(at, own);
    }
    if kind == "Ref" {
        let (repo, name) = own.split_once(':')?;
        let repo = at.repositories().find(|known| known.id.to_string() == repo)?;
        return Some(reference(at, repo, name)).filter(|found| !matches!(found, Out::Null));
    }
    let id: u64 = own.parse().ok()?;
    if let "Bot" | "User" = kind {
        let mut accounts = at.state.accounts.all();
        return accounts.find(|account| account.id == id && account.kind.name() == kind).map(account::object);
    }
    at.repositories().find_map(|repo| in_repository(at, repo, kind, id))
}

fn in_repository<'s>(at: &At<'s>, repo: &'s Repository, kind: &str, id: u64) -> Option<Out<'s>> {
    match kind {
        "Repository" => (repo.id == id).then(|| Out::object(RepositoryNode(repo))),
        "Label" => repo.label_by_id(id).map(|one| label::object(at, repo, one)),
        "CheckRun" => repo.checks.get(&id).map(|run| run_of(at, repo, run)),
        "StatusContext" => repo.statuses.get(&id).map(|status| status_of(repo, status)),
        _ => repo.issues.values().find_map(|issue| in_issue(at, repo, issue, kind, id)),
    }
}

fn in_issue<'s>(at: &At<'s>, repo: &'s Repository, issue: &'s Issue, kind: &str, id: u64) -> Option<Out<'s>> {
    let of = Of::issue(repo, issue);
    match (kind, of) {
        // The REST API gives a pull request that it shows as an issue this id.
        ("Issue", Some(of)) => (issue.id == id).then(|| Out::object(PullNode(of))),
        ("Issue", None) => (issue.id == id).then(|| Out::object(IssueNode { repo, issue })),
        ("PullRequest", Some(of)) => (of.pull.id == id).then(|| Out::object(PullNode(of))),
        ("IssueComment", _) => {
            let comment = issue.comments.iter().find(|comment| comment.id == id)?;
            Some(Out::object(CommentNode { repo, issue, comment }))
        }
        ("PullRequestReview", Some(of)) => {
            let review = of.reviews(at).into_iter().find(|review| review.id == id)?;
            Some(Out::object(ReviewNode { of, review }))
        }
        ("PullRequestReviewComment", Some(of)) => {
            let comment = of.comments(at).into_iter().find(|comment| comment.id == id)?;
            Some(Out::object(ReviewCommentNode { of, comment }))
        }
        ("PullRequestReviewThread", Some(of)) => {
            let mut begin = of.comments(at).into_iter().filter(|comment| comment.reply_to.is_none());
            begin.find(|first| first.id == id).map(|first| Out::object(ThreadNode { of, first }))
        }
        ("LinkedBranch", _) => {
            issue.linked.iter().find(|linked| linked.id == id).map(|one| linked::object(at, repo, one))
        }
        ("Reaction", of) => {
            let comments = issue.comments.iter().flat_map(|comment| &comment.reactions);
            let reviews = of.map(|of| of.reviews(at)).unwrap_or_default();
            let remarks = of.map(|of| of.comments(at)).unwrap_or_default();
            let said = reviews.iter().flat_map(|review| &review.reactions);
            let said = said.chain(remarks.iter().flat_map(|comment| &comment.reactions));
            let found = issue.reactions.iter().chain(comments).chain(said).find(|reaction| reaction.id == id);
            found.map(|one| reaction::object(at, one))
        }
        ("UserContentEdit", of) => {
            let comments = issue.comments.iter().map(|comment| &comment.history);
            let reviews = of.map(|of| of.comments(at)).unwrap_or_default();
            let all =
                std::iter::once(&issue.history).chain(comments).chain(reviews.iter().map(|comment| &comment.history));
            let found = all.flat_map(|history| history.revisions()).find(|revision| revision.id == id);
            found.map(|revision| text::object(at, revision))
        }
        ("AddedToMergeQueueEvent" | "RemovedFromMergeQueueEvent", Some(of)) => {
            issue.events.iter().find(|event| event.id == id).and_then(|event| timeline::entry(of, event))
        }
        _ => None,
    }
}
