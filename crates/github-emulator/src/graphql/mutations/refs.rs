//! Refs: make one, delete one, move several at once; and commit files on a branch.

use base64::{Engine, prelude::BASE64_STANDARD};
use git2::Oid;
use serde_json::{Value, json};

use super::{
    super::{
        super::{
            api::{Addition, BranchCommit, Force, RefUpdate, Uncommitted, commit_on_branch, update_refs},
            users::Role,
            wire::node_id,
        },
        object::Args,
        problem::Problem,
    },
    doing::{Doing, Mutation, Shown, Target},
};

pub(super) const DESCRIPTION: &str = r"
scalar Base64String
scalar GitRefname
extend type Mutation {
    createCommitOnBranch(input: CreateCommitOnBranchInput!): CreateCommitOnBranchPayload
    createRef(input: CreateRefInput!): CreateRefPayload
    deleteRef(input: DeleteRefInput!): DeleteRefPayload
    updateRefs(input: UpdateRefsInput!): UpdateRefsPayload
}
input CommitMessage { body: String headline: String! }
input CommittableBranch { branchName: String id: ID repositoryNameWithOwner: String }
input CreateCommitOnBranchInput {
    branch: CommittableBranch!
    expectedHeadOid: GitObjectID!
    fileChanges: FileChanges
    message: CommitMessage!
}
type CreateCommitOnBranchPayload { commit: Commit ref: Ref }
input CreateRefInput { name: String! oid: GitObjectID! repositoryId: ID! }
type CreateRefPayload { ref: Ref }
input DeleteRefInput { refId: ID! }
type DeleteRefPayload
input FileAddition { contents: Base64String! path: String! }
input FileChanges { additions: [FileAddition!] deletions: [FileDeletion!] }
input FileDeletion { path: String! }
input RefUpdate { afterOid: GitObjectID! beforeOid: GitObjectID force: Boolean = false name: GitRefname! }
input UpdateRefsInput { refUpdates: [RefUpdate!]! repositoryId: ID! }
type UpdateRefsPayload
";

pub(super) const MUTATIONS: &[(&str, Mutation)] =
    &[("createCommitOnBranch", create_commit), ("createRef", create), ("deleteRef", delete), ("updateRefs", update)];

fn create(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let repo = doing.target("repositoryId", &["Repository"])?;
    let name = doing.input.needed("name");
    let made = json!({"ref": name, "sha": doing.input.needed("oid")});
    doing.rest("POST /repos/{owner}/{repo}/git/refs", &repo, &made)?;
    Ok(vec![("ref", shown(&repo, name))])
}

fn delete(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let (repo, name) = doing.reference(doing.input.needed("refId"))?;
    let below = name.strip_prefix("refs/").unwrap_or(&name);
    doing.rest_at("DELETE /repos/{owner}/{repo}/git/refs/{*ref}", &repo, &[("ref", below)], &Value::Null)?;
    Ok(Vec::new())
}

fn update(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let repo = doing.target("repositoryId", &["Repository"])?;
    let one = |update: Args| {
        let force = if update.flag("force") == Some(true) { Force::Yes } else { Force::No };
        let (before, after) = (update.text("beforeOid").map(oid).transpose()?, oid(update.needed("afterOid"))?);
        Ok(RefUpdate { name: update.needed("name").to_owned(), before, after, force })
    };
    let updates = list(doing.input, "refUpdates").map(one).collect::<Result<Vec<_>, Problem>>()?;
    update_refs(&doing.at(&repo), &updates)?;
    Ok(Vec::new())
}

fn create_commit(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let input = |name| doing.input.input(name).unwrap_or_default();
    let (repo, branch) = branch(doing, &input("branch"))?;
    let (changes, message) = (input("fileChanges"), input("message"));
    let addition = |file: Args| {
        let plain: String = file.needed("contents").chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let invalid = |_| Problem::new("UNPROCESSABLE", "contents is not valid Base64.");
        let contents = BASE64_STANDARD.decode(plain).map_err(invalid)?;
        Ok(Addition { path: file.needed("path").to_owned(), contents })
    };
    let (headline, body) = (message.needed("headline"), message.text("body").filter(|body| !body.is_empty()));
    let wanted = BranchCommit {
        message: body.map_or_else(|| headline.to_owned(), |body| format!("{headline}\n\n{body}")),
        expected: oid(doing.input.needed("expectedHeadOid"))?,
        additions: list(&changes, "additions").map(addition).collect::<Result<_, Problem>>()?,
        deletions: list(&changes, "deletions").map(|file| file.needed("path").to_owned()).collect(),
        branch,
    };
    let commit = commit_on_branch(&doing.at(&repo), &wanted).map_err(|why| match why {
        Uncommitted::Stale => {
            let expected = wanted.expected;
            // With two blanks, as GitHub has it.
            let message = format!("Expected branch to point to \"{expected}\" but it did not.  Pull and try again.");
            Problem::new("STALE_DATA", message)
        }
        Uncommitted::Refused(refusal) => refusal.into(),
    })?;
    let moved = shown(&repo, &format!("refs/heads/{}", wanted.branch));
    Ok(vec![("commit", Shown::Node(node_id("Commit", commit))), ("ref", moved)])
}

/// The repository and the short name of a branch that is named by both, or by its ref's global id.
fn branch(doing: &Doing<'_>, named: &Args) -> Result<(Target, String), Problem> {
    if let Some(id) = named.text("id") {
        let (repo, name) = doing.reference(id)?;
        let branch = name.strip_prefix("refs/heads/").ok_or_else(|| Problem::no_node(id))?;
        return Ok((repo, branch.to_owned()));
    }
    let (repo, branch) = (named.needed("repositoryNameWithOwner"), named.needed("branchName"));
    let (owner, name) = repo.split_once('/').unwrap_or_default();
    let call = doing.call.with_part("owner", owner).with_part("repo", name);
    let found = call.repository(&call.state(), Role::Read).map(|repo| node_id("Repository", repo.id));
    let missing = |_| Problem::not_found(format!("Could not resolve to a Repository with the name '{repo}'."));
    let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    Ok((doing.object(&found.map_err(missing)?, &["Repository"])?, branch.to_owned()))
}

/// The ref in a payload.
fn shown(repo: &Target, name: &str) -> Shown {
    Shown::Node(node_id("Ref", format!("{}:{name}", repo.id)))
}

/// The input objects in a list.
fn list<'a>(input: &'a Args, name: &str) -> impl Iterator<Item = Args> + use<'a> {
    let all = input.get(name).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|item| item.as_object().cloned().map(Args))
}

fn oid(text: &str) -> Result<Oid, Problem> {
    let whole = Some(text).filter(|text| text.len() == 40).and_then(|text| Oid::from_str(text).ok());
    whole.ok_or_else(|| Problem::new("UNPROCESSABLE", format!("Could not coerce value \"{text}\" to GitObjectID")))
}
