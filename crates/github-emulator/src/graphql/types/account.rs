//! Accounts: people and bots.

use super::super::{
    super::{
        state::{Account, Repository, Visibility},
        users::AccountKind,
        wire::{node_id, time},
    },
    object::{Args, At, Object, Out, Resolved, unresolved},
    page::connection,
};
use crate::names::Login;

pub(super) const DESCRIPTION: &str = r"
interface Actor { avatarUrl(size: Int): URI! login: String! resourcePath: URI! url: URI! }
interface RepositoryOwner {
    avatarUrl(size: Int): URI!
    id: ID!
    login: String!
    repositories(
        isFork: Boolean
        orderBy: RepositoryOrder
        ownerAffiliations: [RepositoryAffiliation] = [OWNER, COLLABORATOR]
        privacy: RepositoryPrivacy
    ): RepositoryConnection!
    repository(name: String!): Repository
    resourcePath: URI!
    url: URI!
}
input RepositoryOrder { direction: OrderDirection! field: RepositoryOrderField! }
enum RepositoryOrderField { CREATED_AT NAME PUSHED_AT STARGAZERS UPDATED_AT }
enum RepositoryPrivacy { PRIVATE PUBLIC }
enum RepositoryAffiliation { COLLABORATOR ORGANIZATION_MEMBER OWNER }
type User implements Actor & Node & RepositoryOwner & UniformResourceLocatable {
    avatarUrl(size: Int): URI!
    createdAt: DateTime!
    databaseId: Int
    email: String!
    id: ID!
    isViewer: Boolean!
    login: String!
    name: String
    repositories(
        isFork: Boolean
        orderBy: RepositoryOrder
        ownerAffiliations: [RepositoryAffiliation] = [OWNER, COLLABORATOR]
        privacy: RepositoryPrivacy
    ): RepositoryConnection!
    repository(name: String!): Repository
    resourcePath: URI!
    updatedAt: DateTime!
    url: URI!
}
type Bot implements Actor & Node & UniformResourceLocatable {
    avatarUrl(size: Int): URI!
    createdAt: DateTime!
    databaseId: Int
    id: ID!
    login: String!
    resourcePath: URI!
    updatedAt: DateTime!
    url: URI!
}
";

/// An account; as a person's if the schema has no place for a bot's.
#[derive(Clone, Copy)]
pub(super) struct AccountNode<'s> {
    account: &'s Account,
    kind: AccountKind,
}

/// The account that acted; `null` if it is gone.
pub(super) fn actor<'s>(at: &At<'s>, login: &Login) -> Out<'s> {
    at.state.accounts.get(login.as_str()).map_or(Out::Null, |account| object(account))
}

/// An account in its own type.
pub(super) fn object(account: &Account) -> Out<'_> {
    Out::object(AccountNode { account, kind: account.kind })
}

/// An account as a `User`, if the schema has it so.
pub(super) fn user<'s>(at: &At<'s>, login: &Login) -> Out<'s> {
    let account = at.state.accounts.get(login.as_str());
    account.map_or(Out::Null, |account| Out::object(AccountNode { account, kind: AccountKind::User }))
}

/// A page of people, as the connection of this name.
pub(super) fn people<'s>(
    kind: &'static str,
    at: &At<'s>,
    args: &Args,
    logins: impl IntoIterator<Item = &'s Login>,
) -> Out<'s> {
    let accounts = logins.into_iter().filter_map(|login| at.state.accounts.get(login.as_str()));
    let people = accounts.map(|account| (account.id, Out::object(AccountNode { account, kind: AccountKind::User })));
    connection(kind, args, people)
}

/// The repositories of an account, as the arguments filter and order them.
fn repositories<'s>(at: &At<'s>, account: &Account, args: &Args) -> Vec<&'s Repository> {
    let wanted = args.texts("ownerAffiliations").unwrap_or_default();
    let owns = |repo: &Repository| account.login.is(&repo.name.owner().into());
    let works = |repo: &Repository| repo.collaborators.contains_key(&account.login.as_str().to_ascii_lowercase());
    let mut found: Vec<&Repository> = at
        .repositories()
        .filter(|repo| (wanted.contains(&"OWNER") && owns(repo)) || (wanted.contains(&"COLLABORATOR") && works(repo)))
        .filter(|repo| {
            let private = repo.visibility == Visibility::Private;
            args.text("privacy").is_none_or(|privacy| (privacy == "PRIVATE") == private)
        })
        // There are no forks.
        .filter(|_| args.flag("isFork") != Some(true))
        .collect();
    let order = args.input("orderBy").unwrap_or_default();
    match order.text("field") {
        Some("CREATED_AT") => found.sort_by_key(|repo| repo.id),
        Some("PUSHED_AT" | "UPDATED_AT") => found.sort_by_key(|repo| (repo.pushed_at, repo.id)),
        // There are no stars: by name, as without an order.
        Some(_) | None => found.sort_by_key(|repo| repo.name.name().to_lowercase()),
    }
    if order.text("direction") == Some("DESC") {
        found.reverse();
    }
    found
}

impl<'s> Object<'s> for AccountNode<'s> {
    fn kind(&self) -> &str {
        self.kind.name()
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let (account, server) = (self.account, at.call.forge.server());
        // A bot's own name has a suffix that GraphQL leaves out, unless the schema has it as a user.
        let login = match self.kind {
            AccountKind::Bot => account.login.slug(),
            AccountKind::User => account.login.as_str(),
        };
        let path = match account.kind {
            AccountKind::Bot => format!("/apps/{}", account.login.slug()),
            AccountKind::User => format!("/{login}"),
        };
        Ok(match name {
            "avatarUrl" => Out::leaf(format!("{server}/avatars/{}", account.id)),
            "createdAt" | "updatedAt" => Out::leaf(time(account.created_at)),
            "databaseId" => Out::leaf(account.id),
            "email" => Out::leaf(""),
            "id" => Out::leaf(node_id(account.kind.name(), account.id)),
            "isViewer" => Out::leaf(at.is_viewer(&account.login)),
            "login" | "name" => Out::leaf(login),
            "resourcePath" => Out::leaf(path),
            "url" => Out::leaf(format!("{server}{path}")),
            "repositories" => {
                let nodes = repositories(at, account, args).into_iter();
                let nodes = nodes.map(|repo| (repo.id, Out::Node(node_id("Repository", repo.id))));
                connection("RepositoryConnection", args, nodes)
            }
            "repository" => match at.repository(account.login.as_str(), args.needed("name")) {
                Some(repo) => Out::Node(node_id("Repository", repo.id)),
                None => Out::Null,
            },
            _ => return unresolved(self.kind.name(), name),
        })
    }
}
