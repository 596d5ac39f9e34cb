//! Commits and refs, read from git.

use git2::{Oid, Signature, Time};

use super::{
    super::{
        super::{
            state::{Account, Repository},
            wire::node_id,
        },
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        page::connection,
    },
    account::user,
    check::{rollup, suites_of},
    file::{entry, tree},
};

pub(super) const DESCRIPTION: &str = r"
interface GitObject { abbreviatedOid: String! id: ID! oid: GitObjectID! repository: Repository! }
type Commit implements GitObject & Node & UniformResourceLocatable {
    abbreviatedOid: String!
    author: GitActor
    authoredDate: DateTime!
    authors: GitActorConnection!
    checkSuites: CheckSuiteConnection
    committedDate: DateTime!
    committer: GitActor
    file(path: String!): TreeEntry
    id: ID!
    message: String!
    messageBody: String!
    messageHeadline: String!
    oid: GitObjectID!
    parents: CommitConnection!
    repository: Repository!
    resourcePath: URI!
    statusCheckRollup: StatusCheckRollup
    tree: Tree!
    url: URI!
}
type GitActor { avatarUrl(size: Int): URI! date: GitTimestamp email: String name: String user: User }
type Ref implements Node { branchProtectionRule: BranchProtectionRule id: ID! name: String! prefix: String! repository: Repository! target: GitObject }
type BranchProtectionRule { requiresStrictStatusChecks: Boolean! }
";

/// A commit, read whole.
struct CommitNode<'s> {
    repo: &'s Repository,
    oid: Oid,
    message: String,
    author: Person,
    committer: Person,
    parents: Vec<Oid>,
    tree: Oid,
}

/// The author or committer of a commit.
struct Person {
    name: String,
    email: String,
    when: Time,
}

impl Person {
    fn new(signature: &Signature<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { name: text(signature.name_bytes()), email: text(signature.email_bytes()), when: signature.when() }
    }

    /// A time with its own offset, as GitHub writes it.
    fn date(&self) -> Option<String> {
        let offset = chrono::FixedOffset::east_opt(self.when.offset_minutes() * 60)?;
        let at = chrono::DateTime::from_timestamp(self.when.seconds(), 0)?.with_timezone(&offset);
        Some(at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    }

    /// The same moment in UTC.
    fn utc(&self) -> Option<String> {
        let at = chrono::DateTime::from_timestamp(self.when.seconds(), 0)?;
        Some(at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    }

    /// The account of this address: `LOGIN@…`, with or without an id before it.
    fn account<'s>(&self, at: &At<'s>) -> Option<&'s Account> {
        let name = self.email.split('@').next().unwrap_or_default();
        at.state.accounts.get(name.rsplit('+').next().unwrap_or_default())
    }

    fn shown<'s>(&self, at: &At<'s>) -> Out<'s> {
        let account = self.account(at);
        let avatar = account.map_or(0, |account| account.id);
        made(
            "GitActor",
            [
                ("avatarUrl", Out::leaf(format!("{}/avatars/{avatar}", at.call.forge.server()))),
                ("date", Out::leaf(self.date())),
                ("email", Out::leaf(self.email.as_str())),
                ("name", Out::leaf(self.name.as_str())),
                ("user", account.map_or(Out::Null, |account| user(at, &account.login))),
            ],
        )
    }
}

/// The commit of this id.
///
/// # Errors
/// Git's error if there is none.
pub(super) fn commit<'s>(at: &At<'s>, repo: &'s Repository, oid: Oid) -> Resolved<'s> {
    let git = at.call.forge.git.open(repo.id)?;
    let found = git.find_commit(oid)?;
    Ok(Out::object(CommitNode {
        repo,
        oid,
        message: String::from_utf8_lossy(found.message_raw_bytes()).trim_end().to_owned(),
        author: Person::new(&found.author()),
        committer: Person::new(&found.committer()),
        parents: found.parent_ids().collect(),
        tree: found.tree_id(),
    }))
}

/// The commit of this id; `null` if there is none.
pub(super) fn commit_of<'s>(at: &At<'s>, repo: &'s Repository, sha: &str) -> Out<'s> {
    Oid::from_str(sha).ok().and_then(|oid| commit(at, repo, oid).ok()).unwrap_or(Out::Null)
}

/// The ref of this whole name; `null` if there is none.
pub(super) fn reference<'s>(at: &At<'s>, repo: &'s Repository, name: &str) -> Out<'s> {
    let git = at.call.forge.git.open(repo.id).ok();
    let target = git.and_then(|git| git.find_reference(name).ok()?.peel_to_commit().ok().map(|commit| commit.id()));
    let Some(target) = target else { return Out::Null };
    let (prefix, short) = name.match_indices('/').nth(1).map_or(("", name), |(at, _)| name.split_at(at + 1));
    made(
        "Ref",
        [
            // Protection is set on the forge's handle and has no rules of its own.
            ("branchProtectionRule", Out::Null),
            ("id", Out::leaf(node_id("Ref", format!("{}:{name}", repo.id)))),
            ("name", Out::leaf(short)),
            ("prefix", Out::leaf(prefix)),
            ("repository", Out::Node(node_id("Repository", repo.id))),
            ("target", commit(at, repo, target).unwrap_or(Out::Null)),
        ],
    )
}

impl<'s> Object<'s> for CommitNode<'s> {
    fn kind(&self) -> &str {
        "Commit"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let (repo, sha) = (self.repo, self.oid.to_string());
        let below = format!("/commit/{sha}");
        let (headline, body) = self.message.split_once('\n').unwrap_or((&self.message, ""));
        Ok(match name {
            "abbreviatedOid" => Out::leaf(&sha[..7]),
            "author" => self.author.shown(at),
            "authoredDate" => Out::leaf(self.author.utc()),
            "authors" => connection("GitActorConnection", args, [(0, self.author.shown(at))]),
            "checkSuites" => suites_of(at, args, repo, &sha),
            "committedDate" => Out::leaf(self.committer.utc()),
            "committer" => self.committer.shown(at),
            "file" => return entry(at, repo, self.tree, args.needed("path")),
            "id" => Out::leaf(node_id("Commit", &sha)),
            "message" => Out::leaf(self.message.as_str()),
            "messageBody" => Out::leaf(body.trim()),
            "messageHeadline" => Out::leaf(headline),
            "oid" => Out::leaf(sha),
            "parents" => {
                let parents = self.parents.iter().zip(0..);
                let nodes = parents.map(|(oid, index)| commit(at, repo, *oid).map(|node| (index, node)));
                connection("CommitConnection", args, nodes.collect::<Result<Vec<_>, _>>()?)
            }
            "repository" => Out::Node(node_id("Repository", repo.id)),
            "resourcePath" => Out::leaf(format!("/{}{below}", repo.name)),
            "tree" => tree(repo, self.tree),
            "statusCheckRollup" => rollup(at, repo, &sha),
            "url" => Out::leaf(at.page(repo, &below)),
            _ => return unresolved("Commit", name),
        })
    }
}
