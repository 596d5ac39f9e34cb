//! Pull requests, and pages of them.

use git2::Oid;

use super::{
    super::{
        super::{
            git::{changes, walk},
            measure::{measure, with_signatures},
            merge_state::{merge_state, needs_approval},
            state::{Issue, IssueState, Repository, Review, ReviewState},
            users::Role,
            wire::{Measured, node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        page::connection,
        problem::Problem,
    },
    account::{actor, object as account, user},
    check::rollup,
    commit::{commit, commit_of, reference},
    conversation,
    issue::{IssueNode, closing, ordered},
    review::{Of, ReviewNode},
    thread::threads,
    timeline::items,
};

pub(super) const DESCRIPTION: &str = r"
type PullRequest implements Assignable & Closable & Comment & Labelable & Lockable & Node & Reactable & UniformResourceLocatable & Updatable {
    activeLockReason: LockReason
    additions: Int!
    assignees: UserConnection!
    author: Actor
    authorAssociation: CommentAuthorAssociation!
    autoMergeRequest: AutoMergeRequest
    baseRef: Ref
    baseRefName: String!
    baseRefOid: GitObjectID!
    baseRepository: Repository
    body: String!
    changedFiles: Int!
    closed: Boolean!
    closedAt: DateTime
    closingIssuesReferences(orderBy: IssueOrder): IssueConnection
    comments(orderBy: IssueCommentOrder): IssueCommentConnection!
    commits: PullRequestCommitConnection!
    createdAt: DateTime!
    createdViaEmail: Boolean!
    databaseId: Int
    deletions: Int!
    editor: Actor
    files: PullRequestChangedFileConnection
    fullDatabaseId: BigInt
    headRef: Ref
    headRefName: String!
    headRefOid: GitObjectID!
    headRepository: Repository
    headRepositoryOwner: RepositoryOwner
    id: ID!
    includesCreatedEdit: Boolean!
    isCrossRepository: Boolean!
    isDraft: Boolean!
    labels(orderBy: LabelOrder): LabelConnection
    lastEditedAt: DateTime
    latestOpinionatedReviews(writersOnly: Boolean = false): PullRequestReviewConnection
    latestReviews: PullRequestReviewConnection
    locked: Boolean!
    maintainerCanModify: Boolean!
    mergeCommit: Commit
    mergeStateStatus: MergeStateStatus!
    mergeable: MergeableState!
    merged: Boolean!
    mergedAt: DateTime
    mergedBy: Actor
    milestone: Milestone
    number: Int!
    participants: UserConnection!
    projectCards: ProjectCardConnection!
    permalink: URI!
    potentialMergeCommit: Commit
    publishedAt: DateTime
    reactionGroups: [ReactionGroup!]
    reactions(content: ReactionContent): ReactionConnection!
    repository: Repository!
    resourcePath: URI!
    reviewDecision: PullRequestReviewDecision
    reviewRequests: ReviewRequestConnection
    reviewThreads: PullRequestReviewThreadConnection!
    reviews(author: String, states: [PullRequestReviewState!]): PullRequestReviewConnection
    state: PullRequestState!
    statusCheckRollup: StatusCheckRollup
    timelineItems(itemTypes: [PullRequestTimelineItemsItemType!]): PullRequestTimelineItemsConnection!
    title: String!
    totalCommentsCount: Int
    updatedAt: DateTime!
    url: URI!
    userContentEdits: UserContentEditConnection
    viewerCanClose: Boolean!
    viewerCanLabel: Boolean!
    viewerCanReact: Boolean!
    viewerCanReopen: Boolean!
    viewerCanUpdate: Boolean!
    viewerDidAuthor: Boolean!
}
type AutoMergeRequest {
    authorEmail: String
    commitBody: String
    commitHeadline: String
    enabledAt: DateTime
    enabledBy: Actor
    mergeMethod: PullRequestMergeMethod!
}
type PullRequestCommit { commit: Commit! pullRequest: PullRequest! }
type PullRequestChangedFile { additions: Int! changeType: PatchStatus! deletions: Int! path: String! }
type ReviewRequest { asCodeOwner: Boolean! pullRequest: PullRequest! requestedReviewer: RequestedReviewer }
union RequestedReviewer = Bot | Team | User
type Team { name: String! organization: Organization! slug: String! }
type Organization implements Node { id: ID! login: String! name: String }
enum PullRequestState { CLOSED MERGED OPEN }
enum MergeableState { CONFLICTING MERGEABLE UNKNOWN }
enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY DRAFT HAS_HOOKS UNKNOWN UNSTABLE }
enum PullRequestReviewDecision { APPROVED CHANGES_REQUESTED REVIEW_REQUIRED }
enum PullRequestMergeMethod { MERGE REBASE SQUASH }
enum PatchStatus { ADDED CHANGED COPIED DELETED MODIFIED RENAMED }
";

/// A pull request.
#[derive(Clone, Copy)]
pub(super) struct PullNode<'s>(pub(super) Of<'s>);

impl<'s> PullNode<'s> {
    /// The tips of its base and its head.
    fn sides(&self) -> Result<(Oid, Oid), git2::Error> {
        Ok((Oid::from_str(&self.0.pull.base_sha)?, Oid::from_str(&self.0.pull.head_sha)?))
    }

    fn measured(&self, at: &At<'s>) -> Result<Measured, Problem> {
        let git = at.call.forge.git.open(self.0.repo.id)?;
        let (base, head) = self.sides()?;
        let measured = measure(&git, self.0.issue.number, base, head, self.0.issue.state)?;
        Ok(with_signatures(measured, &git, base, head, &at.state.accounts)?)
    }

    fn auto_merge(&self, at: &At<'s>) -> Out<'s> {
        let Some(auto) = self.0.repo.auto_merges.get(&self.0.issue.number) else { return Out::Null };
        let by = at.state.accounts.get(auto.by.as_str());
        let fields = [
            ("authorEmail", Out::Null),
            ("commitBody", Out::leaf(auto.body.as_deref())),
            ("commitHeadline", Out::leaf(auto.title.as_deref())),
            ("enabledAt", Out::leaf(time(auto.at))),
            ("enabledBy", by.map_or(Out::Null, |by| Out::Node(node_id(by.kind.name(), by.id)))),
            ("mergeMethod", Out::leaf(auto.method.name().to_uppercase())),
        ];
        made("AutoMergeRequest", fields)
    }

    fn commits(&self, at: &At<'s>, args: &Args) -> Resolved<'s> {
        let git = at.call.forge.git.open(self.0.repo.id)?;
        let (base, head) = self.sides()?;
        let of = |(index, oid): (usize, Oid)| {
            let shown = commit(at, self.0.repo, oid)?;
            let fields = [("commit", shown), ("pullRequest", self.0.node())];
            Ok::<_, Problem>((index as u64, made("PullRequestCommit", fields)))
        };
        let all = walk(&git, Some(base), head)?.into_iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?;
        Ok(connection("PullRequestCommitConnection", args, all))
    }

    fn files(&self, at: &At<'s>, args: &Args) -> Resolved<'s> {
        let git = at.call.forge.git.open(self.0.repo.id)?;
        let (base, head) = self.sides()?;
        let all = changes(&git, base, head)?;
        let shown = all.iter().zip(0..).map(|(file, index)| {
            let kind = if file.status == "removed" { "deleted" } else { file.status };
            let fields = [
                ("additions", Out::leaf(file.additions)),
                ("changeType", Out::leaf(kind.to_uppercase())),
                ("deletions", Out::leaf(file.deletions)),
                ("path", Out::leaf(file.path.as_str())),
            ];
            (index, made("PullRequestChangedFile", fields))
        });
        Ok(connection("PullRequestChangedFileConnection", args, shown))
    }

    /// The newest review of each account, among those that `counts`.
    fn latest(&self, at: &At<'s>, counts: impl Fn(&Review) -> bool) -> Vec<&'s Review> {
        let mut latest: Vec<&Review> = Vec::new();
        for review in self.0.reviews(at).into_iter().filter(|review| counts(review)) {
            latest.retain(|known| known.author != review.author);
            latest.push(review);
        }
        latest
    }

    fn reviews(&self, args: &Args, all: Vec<&'s Review>) -> Out<'s> {
        let node = |review| Out::object(ReviewNode { of: self.0, review });
        connection("PullRequestReviewConnection", args, all.into_iter().map(|review| (review.id, node(review))))
    }

    fn decision(&self, at: &At<'s>) -> Option<&'static str> {
        let writes = |review: &Review| self.0.repo.role(at.state.accounts.get(review.author.as_str())) >= Role::Write;
        let says = |state| self.latest(at, |review| opinion(review) && writes(review)).iter().any(|r| r.state == state);
        if says(ReviewState::ChangesRequested) {
            return Some("CHANGES_REQUESTED");
        }
        if needs_approval(self.0.repo, &at.state.accounts, self.0.pull) {
            return Some("REVIEW_REQUIRED");
        }
        says(ReviewState::Approved).then_some("APPROVED")
    }

    /// A field that only a pull request has; `None` for another field.
    fn own(&self, at: &At<'s>, name: &str, args: &Args) -> Option<Resolved<'s>> {
        let (Of { repo, issue, pull }, merged) = (self.0, self.0.pull.merged.as_ref());
        Some(Ok(match name {
            "autoMergeRequest" => self.auto_merge(at),
            "potentialMergeCommit" => Out::Null,
            "baseRef" => reference(at, repo, &format!("refs/heads/{}", pull.base_ref)),
            "baseRefName" => Out::leaf(pull.base_ref.as_str()),
            "baseRefOid" => Out::leaf(pull.base_sha.as_str()),
            "baseRepository" | "headRepository" => Out::Node(node_id("Repository", repo.id)),
            "closingIssuesReferences" => {
                let mut found = closing(repo, issue.body.as_deref().unwrap_or_default());
                found.retain(|_| pull.base_ref == repo.default_branch);
                ordered(args, &mut found);
                let nodes = found.into_iter().map(|issue| (issue.id, Out::object(IssueNode { repo, issue })));
                connection("IssueConnection", args, nodes)
            }
            "headRef" => reference(at, repo, &format!("refs/heads/{}", pull.head_ref)),
            "headRefName" => Out::leaf(pull.head_ref.as_str()),
            "headRefOid" => Out::leaf(pull.head_sha.as_str()),
            "headRepositoryOwner" => user(at, &repo.name.owner().into()),
            "isCrossRepository" => Out::leaf(false),
            "isDraft" => Out::leaf(pull.draft),
            "maintainerCanModify" => Out::leaf(pull.maintainer_can_modify),
            "mergeCommit" => merged.map_or(Out::Null, |merged| commit_of(at, repo, &merged.sha)),
            "merged" => Out::leaf(merged.is_some()),
            "mergedAt" => Out::leaf(merged.map(|merged| time(merged.at))),
            "mergedBy" => merged.map_or(Out::Null, |merged| actor(at, &merged.by)),
            "permalink" => Out::leaf(at.page(repo, &format!("/pull/{}", issue.number))),
            "reviewDecision" => Out::leaf(self.decision(at)),
            "reviewRequests" => {
                let people = pull.reviewers.iter().filter_map(|login| at.state.accounts.get(login.as_str()));
                let request = |one| {
                    let fields = [
                        ("asCodeOwner", Out::leaf(false)),
                        ("pullRequest", self.0.node()),
                        ("requestedReviewer", account(one)),
                    ];
                    made("ReviewRequest", fields)
                };
                connection("ReviewRequestConnection", args, people.map(|one| (one.id, request(one))))
            }
            "reviewThreads" => threads(at, args, self.0),
            "state" => {
                let closed = if merged.is_some() { "MERGED" } else { "CLOSED" };
                Out::leaf(if issue.state == IssueState::Open { "OPEN" } else { closed })
            }
            "statusCheckRollup" => rollup(at, repo, &pull.head_sha),
            "totalCommentsCount" => Out::leaf(issue.comments.len() + self.0.comments(at).len()),
            _ => return None,
        }))
    }

    fn some_reviews(&self, at: &At<'s>, args: &Args) -> Out<'s> {
        let (author, states) = (args.text("author"), args.texts("states"));
        let mut all = self.0.reviews(at);
        all.retain(|review| author.is_none_or(|login| review.author.is(&login.into())));
        all.retain(|review| states.as_ref().is_none_or(|states| states.contains(&review.state.name())));
        self.reviews(args, all)
    }
}

/// Whether a review approves or asks for changes.
fn opinion(review: &Review) -> bool {
    match review.state {
        ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => true,
        ReviewState::Commented | ReviewState::Pending => false,
    }
}

impl<'s> Object<'s> for PullNode<'s> {
    fn kind(&self) -> &str {
        "PullRequest"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let Of { repo, issue, pull } = self.0;
        Ok(match name {
            "additions" => Out::leaf(self.measured(at)?.additions),
            "changedFiles" => Out::leaf(self.measured(at)?.files),
            "commits" => return self.commits(at, args),
            "deletions" => Out::leaf(self.measured(at)?.deletions),
            "files" => return self.files(at, args),
            "latestOpinionatedReviews" => self.reviews(args, self.latest(at, opinion)),
            // A reviewer who was asked again is left out until the next review.
            "latestReviews" => {
                let asked = |review: &Review| pull.reviewers.iter().any(|login| login.is(&review.author));
                self.reviews(args, self.latest(at, |review| review.state != ReviewState::Pending && !asked(review)))
            }
            "mergeStateStatus" => {
                let state = merge_state(repo, &at.state.accounts, issue, self.measured(at)?.fit());
                Out::leaf(state.name().to_uppercase())
            }
            "mergeable" => Out::leaf(match self.measured(at)?.mergeable {
                None => "UNKNOWN",
                Some(false) => "CONFLICTING",
                Some(true) => "MERGEABLE",
            }),
            "reviews" => self.some_reviews(at, args),
            "timelineItems" => return items(args, self.0),
            _ => {
                let own = self.own(at, name, args);
                let shared = own.or_else(|| conversation::field(at, repo, issue, name, args));
                return shared.unwrap_or_else(|| unresolved("PullRequest", name));
            }
        })
    }
}

/// A page of the pull requests of a repository, as the arguments filter and order them.
pub(super) fn pulls<'s>(args: &Args, repo: &'s Repository) -> Out<'s> {
    let (states, labels) = (args.texts("states"), args.texts("labels"));
    let state_of = |of: &Of<'_>| match (of.issue.state, &of.pull.merged) {
        (IssueState::Open, _) => "OPEN",
        (IssueState::Closed, Some(_)) => "MERGED",
        (IssueState::Closed, None) => "CLOSED",
    };
    let ids: Option<Vec<u64>> =
        labels.map(|names| names.iter().filter_map(|name| repo.label(name)).map(|label| label.id).collect());
    let mut found: Vec<&Issue> = repo.issues.values().filter(|issue| issue.pull.is_some()).collect();
    ordered(args, &mut found);
    let found = found.into_iter().filter_map(|issue| Of::issue(repo, issue));
    let wanted = found
        .filter(|of| states.as_ref().is_none_or(|states| states.contains(&state_of(of))))
        .filter(|of| ids.as_ref().is_none_or(|ids| ids.iter().any(|id| of.issue.labels.contains(id))))
        .filter(|of| args.text("headRefName").is_none_or(|name| of.pull.head_ref == name))
        .filter(|of| args.text("baseRefName").is_none_or(|name| of.pull.base_ref == name));
    connection("PullRequestConnection", args, wanted.map(|of| (of.pull.id, Out::object(PullNode(of)))))
}
