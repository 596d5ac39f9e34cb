//! One mutation as it runs: the objects of its ids, the endpoints of the REST API that it calls, and its payload.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::super::{
    super::{
        api,
        call::Call,
        media::Media,
        refusal::Refusal,
        state::{Issue, Repository, State},
        users::Role,
        wire::node_id,
    },
    object::{Args, At, Out, made},
    page::{cursor, edge},
    problem::Problem,
};
use crate::names::{Login, RepoName};

/// The implementation of a mutation.
pub(super) type Mutation = fn(&Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem>;

/// A field of a payload, looked up in the state after the mutation.
#[derive(Debug)]
pub(super) enum Shown {
    /// The object of this global id.
    Node(String),
    /// The same as an edge of the connection of this name.
    Edge(&'static str, String),
    /// The account that acted.
    Actor,
    /// A field of the object of this global id.
    Field(&'static str, String),
}

/// The answer of a mutation.
#[derive(Debug)]
pub(in super::super) struct Payload {
    pub(super) name: &'static str,
    pub(super) shown: Vec<(&'static str, Shown)>,
    pub(super) id: Option<String>,
    pub(super) actor: Option<Login>,
}

impl Payload {
    /// The payload as the state has it now.
    pub(in super::super) fn shown<'s>(&self, at: &At<'s>) -> Out<'s> {
        let mut capital = self.name.to_owned();
        capital[..1].make_ascii_uppercase();
        let own = self.shown.iter().map(|(name, shown)| (*name, self.field(at, shown)));
        made(format!("{capital}Payload"), own.chain([("clientMutationId", Out::leaf(self.id.as_deref()))]))
    }

    fn field<'s>(&self, at: &At<'s>, shown: &Shown) -> Out<'s> {
        match shown {
            Shown::Node(id) => Out::Node(id.clone()),
            Shown::Edge(connection, id) => edge(connection, cursor(0, number_of(id)), Out::Node(id.clone())),
            Shown::Actor => {
                let account = self.actor.as_ref().and_then(|login| at.state.accounts.get(login.as_str()));
                account.map_or(Out::Null, |account| Out::Node(node_id(account.kind.name(), account.id)))
            }
            Shown::Field(name, id) => match (at.find)(at, id) {
                Some(Out::Object(object)) => object.field(at, name, &Args::default()).unwrap_or(Out::Null),
                Some(_) | None => Out::Null,
            },
        }
    }
}

fn number_of(id: &str) -> u64 {
    parts(id).map_or(0, |(_, number)| number)
}

/// The kind and the number in a global id.
fn parts(id: &str) -> Option<(String, u64)> {
    let plain = String::from_utf8(BASE64_STANDARD.decode(id).ok()?).ok()?;
    let (kind, number) = plain.split_once(':')?;
    Some((kind.to_owned(), number.parse().ok()?))
}

/// The object of a global id, and its repository.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) kind: &'static str,
    pub(super) id: u64,
    /// The number of the issue or pull request that it is or belongs to; 0 for a repository.
    pub(super) number: u64,
    pub(super) repo: RepoName,
}

impl Target {
    /// Its global id.
    pub(super) fn node(&self) -> String {
        node_id(self.kind, self.id)
    }
}

/// A mutation with its input.
pub(super) struct Doing<'c> {
    pub(super) call: &'c Call,
    pub(super) input: &'c Args,
}

impl Doing<'_> {
    /// The object of the id in this field, which must be of one of these kinds.
    ///
    /// # Errors
    /// `NOT_FOUND` if the caller sees no object of these kinds.
    pub(super) fn target(&self, field: &str, kinds: &[&'static str]) -> Result<Target, Problem> {
        self.object(self.input.needed(field), kinds)
    }

    /// The object of this id, which must be of one of these kinds.
    ///
    /// # Errors
    /// `NOT_FOUND` if the caller sees no object of these kinds.
    pub(super) fn object(&self, id: &str, kinds: &[&'static str]) -> Result<Target, Problem> {
        let found = parts(id).and_then(|(kind, number)| locate(self.call, &self.call.state(), &kind, number));
        let found = found.filter(|target| kinds.contains(&target.kind));
        found.ok_or_else(|| Problem::no_node(id))
    }

    /// The repository of a ref by its global id, and the ref's whole name.
    ///
    /// # Errors
    /// `NOT_FOUND` if the caller sees no such repository.
    pub(super) fn reference(&self, id: &str) -> Result<(Target, String), Problem> {
        let plain = BASE64_STANDARD.decode(id).ok().and_then(|plain| String::from_utf8(plain).ok());
        let named = plain.as_deref().and_then(|plain| plain.strip_prefix("Ref:")?.split_once(':'));
        let (repo, name) = named.ok_or_else(|| Problem::no_node(id))?;
        let repo = self.object(&node_id("Repository", repo), &["Repository"]).map_err(|_| Problem::no_node(id))?;
        Ok((repo, name.to_owned()))
    }

    /// The logins of the accounts whose ids are in this field; `None` if the field is absent.
    pub(super) fn logins(&self, field: &str) -> Result<Option<Vec<String>>, Problem> {
        let state = self.call.state();
        let login = |id: &str| {
            let account = parts(id).filter(|(kind, _)| matches!(kind.as_str(), "Bot" | "User"));
            let account = account.and_then(|(_, id)| state.accounts.all().find(|account| account.id == id));
            account.map(|account| account.login.to_string()).ok_or_else(|| Problem::no_node(id))
        };
        self.input.texts(field).map(|ids| ids.into_iter().map(login).collect()).transpose()
    }

    /// The names of the labels whose ids are in this field; `None` if the field is absent.
    pub(super) fn labels(&self, field: &str, repo: &RepoName) -> Result<Option<Vec<String>>, Problem> {
        let state = self.call.state();
        let known = state.repositories.get(repo.owner(), repo.name());
        let name = |id: &str| {
            let label = parts(id).filter(|(kind, _)| kind == "Label").zip(known);
            let label = label.and_then(|((_, id), repo)| repo.label_by_id(id));
            label.map(|label| label.name.clone()).ok_or_else(|| Problem::no_node(id))
        };
        self.input.texts(field).map(|ids| ids.into_iter().map(name).collect()).transpose()
    }

    /// Calls an endpoint of the REST API, named as `GET /repos/{owner}/{repo}`, below the target's repository.
    ///
    /// # Errors
    /// The endpoint's refusal.
    pub(super) fn rest(&self, endpoint: &str, target: &Target, body: &Value) -> Result<Value, Problem> {
        self.rest_at(endpoint, target, &[], body)
    }

    /// The same with more parts of the path.
    pub(super) fn rest_at(
        &self,
        endpoint: &str,
        target: &Target,
        parts: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, Problem> {
        let route = api::routes().find(|route| route.name() == endpoint);
        let route = route.ok_or_else(|| Refusal::internal(format!("there is no endpoint {endpoint}")))?;
        let mut call = self.at(target);
        call.path.insert("number".to_owned(), target.number.to_string());
        call.path.extend(parts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        call.body = body.to_string().into();
        Ok(route.serve(&call)?.shown())
    }

    /// The call as one to the target's repository.
    pub(super) fn at(&self, target: &Target) -> Call {
        let mut call = self.call.with_part("owner", target.repo.owner()).with_part("repo", target.repo.name());
        (call.query, call.raw_query) = (std::collections::BTreeMap::new(), String::new());
        call.media = Media::Json;
        call
    }

    /// Changes the issue or pull request of the target, if the caller's role suffices, or if `own` says that it is the
    /// caller's to change.
    ///
    /// # Errors
    /// `FORBIDDEN` if neither holds.
    pub(super) fn change<T>(
        &self,
        target: &Target,
        need: Role,
        own: impl FnOnce(&Issue, &Login) -> bool,
        change: impl FnOnce(&mut Issue, &Login) -> T,
    ) -> Result<T, Problem> {
        let call = self.at(target).with_part("number", target.number.to_string());
        let actor = call.actor()?;
        let mut state = call.state();
        let is_own = own(call.issue(call.repository(&state, Role::Read)?)?, actor);
        let need = if is_own { Role::Read } else { need };
        Ok(change(call.issue_mut(call.repository_mut(&mut state, need)?)?, actor))
    }
}

fn locate(call: &Call, state: &State, kind: &str, id: u64) -> Option<Target> {
    let seen = state.repositories.all().filter(|repo| call.role(state, repo) >= Role::Read);
    seen.filter_map(|repo| in_repository(repo, kind, id)).next()
}

fn in_repository(repo: &Repository, kind: &str, id: u64) -> Option<Target> {
    let target = |kind, number| Target { kind, id, number, repo: repo.name.clone() };
    match kind {
        "Repository" => (repo.id == id).then(|| target("Repository", 0)),
        "Label" => repo.label_by_id(id).map(|_| target("Label", 0)),
        _ => repo.issues.values().find_map(|issue| {
            let (pull, number) = (issue.pull.as_ref(), issue.number);
            let comments = || pull.into_iter().flat_map(|pull| &pull.review_comments);
            match kind {
                // The REST API gives a pull request that it shows as an issue the id of an issue.
                "Issue" if issue.id == id => match pull {
                    Some(pull) => Some(Target { id: pull.id, ..target("PullRequest", number) }),
                    None => Some(target("Issue", number)),
                },
                "PullRequest" => pull.filter(|pull| pull.id == id).map(|_| target("PullRequest", number)),
                "LinkedBranch" => {
                    issue.linked.iter().any(|linked| linked.id == id).then(|| target("LinkedBranch", number))
                }
                "IssueComment" => {
                    issue.comments.iter().any(|comment| comment.id == id).then(|| target("IssueComment", number))
                }
                "PullRequestReview" => {
                    let mut reviews = pull.into_iter().flat_map(|pull| &pull.reviews);
                    reviews.any(|review| review.id == id).then(|| target("PullRequestReview", number))
                }
                "PullRequestReviewComment" => {
                    comments().any(|comment| comment.id == id).then(|| target("PullRequestReviewComment", number))
                }
                "PullRequestReviewThread" => comments()
                    .any(|comment| comment.id == id && comment.reply_to.is_none())
                    .then(|| target("PullRequestReviewThread", number)),
                _ => None,
            }
        }),
    }
}
