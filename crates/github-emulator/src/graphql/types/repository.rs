//! Repositories.

use git2::Oid;

use super::{
    super::{
        super::{
            state::{Repository, Visibility},
            users::Role,
            wire::{node_id, time},
        },
        object::{Args, At, Object, Out, Resolved, unresolved},
        problem::Problem,
    },
    account::{people, user},
    commit::{commit, reference},
    file::{blob, tree},
    issue::{IssueNode, issues},
    label::{labels, object as label},
    pull::{PullNode, pulls},
    review::Of,
};

pub(super) const DESCRIPTION: &str = r"
type Repository implements Node & UniformResourceLocatable {
    archivedAt: DateTime
    assignableUsers(query: String): UserConnection!
    autoMergeAllowed: Boolean!
    contactLinks: [RepositoryContactLink!]
    createdAt: DateTime!
    databaseId: Int
    defaultBranchRef: Ref
    deleteBranchOnMerge: Boolean!
    description: String
    forkCount: Int!
    hasDiscussionsEnabled: Boolean!
    hasIssuesEnabled: Boolean!
    hasProjectsEnabled: Boolean!
    hasVulnerabilityAlertsEnabled: Boolean!
    hasWikiEnabled: Boolean!
    homepageUrl: URI
    id: ID!
    isArchived: Boolean!
    isBlankIssuesEnabled: Boolean!
    isDisabled: Boolean!
    isEmpty: Boolean!
    isFork: Boolean!
    isInOrganization: Boolean!
    isMirror: Boolean!
    isPrivate: Boolean!
    isTemplate: Boolean!
    issue(number: Int!): Issue
    issueOrPullRequest(number: Int!): IssueOrPullRequest
    issueTemplates: [IssueTemplate!]
    issues(filterBy: IssueFilters, labels: [String!], orderBy: IssueOrder, states: [IssueState!]): IssueConnection!
    label(name: String!): Label
    labels(orderBy: LabelOrder = {field: CREATED_AT, direction: ASC}, query: String): LabelConnection
    mentionableUsers(query: String): UserConnection!
    mergeCommitAllowed: Boolean!
    name: String!
    nameWithOwner: String!
    object(expression: String, oid: GitObjectID): GitObject
    owner: RepositoryOwner!
    parent: Repository
    pullRequest(number: Int!): PullRequest
    pullRequestTemplates: [PullRequestTemplate!]
    pullRequests(
        baseRefName: String
        headRefName: String
        labels: [String!]
        orderBy: IssueOrder
        states: [PullRequestState!]
    ): PullRequestConnection!
    pushedAt: DateTime
    rebaseMergeAllowed: Boolean!
    ref(qualifiedName: String!): Ref
    resourcePath: URI!
    squashMergeAllowed: Boolean!
    sshUrl: GitSSHRemote!
    stargazerCount: Int!
    updatedAt: DateTime!
    url: URI!
    viewerCanAdminister: Boolean!
    viewerDefaultMergeMethod: PullRequestMergeMethod!
    viewerPermission: RepositoryPermission
    visibility: RepositoryVisibility!
}
union IssueOrPullRequest = Issue | PullRequest
enum RepositoryPermission { ADMIN MAINTAIN READ TRIAGE WRITE }
enum RepositoryVisibility { INTERNAL PRIVATE PUBLIC }
";

/// A repository.
#[derive(Clone, Copy)]
pub(super) struct RepositoryNode<'s>(pub(super) &'s Repository);

impl<'s> RepositoryNode<'s> {
    /// The issue or pull request of a number.
    fn numbered(self, number: i64) -> Option<Out<'s>> {
        let issue = self.0.issues.get(&u64::try_from(number).ok()?)?;
        Some(match Of::issue(self.0, issue) {
            Some(of) => Out::object(PullNode(of)),
            None => Out::object(IssueNode { repo: self.0, issue }),
        })
    }

    /// The issue or pull request of a number, if it is of this kind.
    fn only(self, args: &Args, kind: &str, named: &str) -> Resolved<'s> {
        let number = args.int("number").unwrap_or_default();
        let found = self.numbered(number).filter(|out| match out {
            Out::Object(object) => kind.is_empty() || object.kind() == kind,
            Out::Null | Out::Leaf(_) | Out::Node(_) | Out::List(_) | Out::Refused(_) => false,
        });
        let message = || format!("Could not resolve to {named} with the number of {number}.");
        found.ok_or_else(|| Problem::not_found(message()))
    }

    fn git_object(self, at: &At<'s>, args: &Args) -> Resolved<'s> {
        let git = at.call.forge.git.open(self.0.id)?;
        let named = args.text("oid").or(args.text("expression")).unwrap_or("HEAD");
        let found = git.revparse_single(named).ok();
        match found.map(|object| (object.kind(), object.id())) {
            None => Ok(Out::Null),
            Some((Some(git2::ObjectType::Commit), oid)) => commit(at, self.0, oid),
            Some((Some(git2::ObjectType::Tree), oid)) => Ok(tree(self.0, oid)),
            Some((Some(git2::ObjectType::Blob), oid)) => blob(at, self.0, oid),
            // The schema has no tags, and a made-up `null` would be wrong.
            Some((kind, _)) => {
                let kind = kind.map_or("object", |kind| kind.str());
                Err(Problem::new("NOT_IMPLEMENTED", format!("the embedded forge's GraphQL has no {kind}")))
            }
        }
    }

    fn accounts(self, at: &At<'s>, args: &Args, need: Role) -> Out<'s> {
        let query = args.text("query").unwrap_or_default().to_lowercase();
        let all = at.state.accounts.all().filter(|account| self.0.role(Some(account)) >= need);
        let found = all.filter(|account| account.login.as_str().to_lowercase().contains(&query));
        people("UserConnection", at, args, found.map(|account| &account.login))
    }

    /// Fields with the same value for every repository here.
    fn constant(name: &str) -> Option<Out<'s>> {
        Some(match name {
            "archivedAt" | "parent" => Out::Null,
            "hasDiscussionsEnabled"
            | "hasProjectsEnabled"
            | "hasVulnerabilityAlertsEnabled"
            | "hasWikiEnabled"
            | "isDisabled"
            | "isFork"
            | "isInOrganization"
            | "isMirror"
            | "isTemplate" => Out::leaf(false),
            "contactLinks" | "issueTemplates" | "pullRequestTemplates" => Out::List(Vec::new()),
            "forkCount" | "stargazerCount" => Out::leaf(0),
            "isBlankIssuesEnabled" => Out::leaf(true),
            "viewerDefaultMergeMethod" => Out::leaf("MERGE"),
            _ => return None,
        })
    }
}

impl<'s> Object<'s> for RepositoryNode<'s> {
    fn kind(&self) -> &str {
        "Repository"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let repo = self.0;
        let private = repo.visibility == Visibility::Private;
        let default = format!("refs/heads/{}", repo.default_branch);
        Ok(match name {
            "assignableUsers" => self.accounts(at, args, Role::Triage),
            "autoMergeAllowed" => Out::leaf(repo.merging.allow_auto_merge),
            "createdAt" => Out::leaf(time(repo.created_at)),
            "deleteBranchOnMerge" => Out::leaf(repo.merging.delete_branch_on_merge),
            "hasIssuesEnabled" => Out::leaf(repo.has_issues),
            "homepageUrl" => Out::leaf(repo.homepage.as_deref()),
            "isArchived" => Out::leaf(repo.archived),
            "mergeCommitAllowed" => Out::leaf(repo.merging.allow_merge_commit),
            "rebaseMergeAllowed" => Out::leaf(repo.merging.allow_rebase_merge),
            "squashMergeAllowed" => Out::leaf(repo.merging.allow_squash_merge),
            "databaseId" => Out::leaf(repo.id),
            "defaultBranchRef" => reference(at, repo, &default),
            "description" => Out::leaf(repo.description.as_deref()),
            "id" => Out::leaf(node_id("Repository", repo.id)),
            "isEmpty" => Out::leaf(matches!(reference(at, repo, &default), Out::Null)),
            "isPrivate" => Out::leaf(private),
            "issue" => return self.only(args, "Issue", "an Issue"),
            "issueOrPullRequest" => return self.only(args, "", "an issue or pull request"),
            "issues" => issues(at, args, repo),
            "label" => repo.label(args.needed("name")).map_or(Out::Null, |one| label(at, repo, one)),
            "labels" => labels(at, args, repo, repo.labels.iter().collect()),
            "mentionableUsers" => self.accounts(at, args, Role::Read),
            "name" => Out::leaf(repo.name.name()),
            "nameWithOwner" => Out::leaf(repo.name.to_string()),
            "object" => return self.git_object(at, args),
            "owner" => user(at, &repo.name.owner().into()),
            "pullRequest" => return self.only(args, "PullRequest", "a PullRequest"),
            "pullRequests" => pulls(args, repo),
            "pushedAt" | "updatedAt" => Out::leaf(time(repo.pushed_at)),
            "ref" => {
                let name = args.needed("qualifiedName");
                let whole = if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") };
                reference(at, repo, &whole)
            }
            "resourcePath" => Out::leaf(format!("/{}", repo.name)),
            // There is no SSH: it is the address that the REST API gives, too.
            "sshUrl" => Out::leaf(at.page(repo, ".git")),
            "url" => Out::leaf(at.page(repo, "")),
            "viewerCanAdminister" => Out::leaf(at.role(repo) >= Role::Admin),
            "viewerPermission" => {
                let role = at.role(repo);
                Out::leaf((role > Role::None).then(|| role.name().to_uppercase()))
            }
            "visibility" => Out::leaf(if private { "PRIVATE" } else { "PUBLIC" }),
            _ => return Self::constant(name).map_or_else(|| unresolved("Repository", name), Ok),
        })
    }
}

/// A commit by its id, in whichever repository that the caller may see has it.
pub(super) fn commit_anywhere<'s>(at: &At<'s>, sha: &str) -> Option<Out<'s>> {
    let oid = Oid::from_str(sha).ok()?;
    at.repositories().find_map(|repo| commit(at, repo, oid).ok())
}
