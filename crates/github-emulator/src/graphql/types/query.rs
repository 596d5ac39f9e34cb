//! The root of a query.

use super::{
    super::{
        super::{envelope::GRAPHQL, meter::Payer, wire::time},
        object::{Args, At, Object, Out, Resolved, made, unresolved},
        problem::Problem,
    },
    account::user,
    find::find,
    repository::RepositoryNode,
    search::search,
};

pub(super) const DESCRIPTION: &str = r"
type Query {
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    rateLimit(dryRun: Boolean = false): RateLimit
    repository(followRenames: Boolean = true, name: String!, owner: String!): Repository
    repositoryOwner(login: String!): RepositoryOwner
    search(query: String!, type: SearchType!): SearchResultItemConnection!
    user(login: String!): User
    viewer: User!
}
type RateLimit { cost: Int! limit: Int! remaining: Int! resetAt: DateTime! used: Int! }
";

/// The most ids that `nodes` takes.
const NODES_MAX: usize = 100;

/// The root of a query.
pub(in super::super) struct Query;

impl<'s> Object<'s> for Query {
    fn kind(&self) -> &str {
        "Query"
    }

    fn field(&self, at: &At<'s>, name: &str, args: &Args) -> Resolved<'s> {
        let node = |id: &str| find(at, id).ok_or_else(|| Problem::no_node(id));
        let account = |kind: &str| {
            let login = args.needed("login");
            let message = format!("Could not resolve to {kind} with the login of '{login}'.");
            let found = at.state.accounts.get(login).map(|account| user(at, &account.login));
            found.ok_or_else(|| Problem::not_found(message))
        };
        Ok(match name {
            "node" => return node(args.needed("id")),
            "nodes" => {
                let ids = args.texts("ids").unwrap_or_default();
                if ids.len() > NODES_MAX {
                    let message =
                        format!("You may not provide more than {NODES_MAX} node ids; you provided {}.", ids.len());
                    return Err(Problem::new("ARGUMENT_LIMIT", message));
                }
                Out::List(ids.into_iter().map(|id| find(at, id).unwrap_or(Out::Null)).collect())
            }
            "rateLimit" => limit(at),
            "repository" => {
                let (owner, name) = (args.needed("owner"), args.needed("name"));
                let message = || format!("Could not resolve to a Repository with the name '{owner}/{name}'.");
                let repo = at.repository(owner, name).ok_or_else(|| Problem::not_found(message()))?;
                Out::object(RepositoryNode(repo))
            }
            "repositoryOwner" => account("a User or Organization").unwrap_or(Out::Null),
            "search" => return search(at, args),
            "user" => return account("a User"),
            "viewer" => at.call.caller.as_ref().map_or(Out::Null, |login| user(at, login)),
            _ => return unresolved("Query", name),
        })
    }
}

/// Each request costs one.
fn limit<'s>(at: &At<'s>) -> Out<'s> {
    let payer = at.call.caller.as_ref().map(|login| Payer::account(login, at.call.token, GRAPHQL).of_graphql());
    let reading = at.call.forge.meter.read(payer.as_ref(), at.call.now);
    made(
        "RateLimit",
        [
            ("cost", Out::leaf(1)),
            ("limit", Out::leaf(reading.limit)),
            ("remaining", Out::leaf(reading.remaining())),
            ("resetAt", Out::leaf(time(reading.reset))),
            ("used", Out::leaf(reading.used)),
        ],
    )
}
