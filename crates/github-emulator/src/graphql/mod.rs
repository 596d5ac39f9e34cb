//! GraphQL, at `/api/graphql`: GitHub's public names, as far as Hob and `gh` use them.
//!
//! A type is one file of `types`, with its description in GraphQL's schema language and the resolver of its fields; a
//! mutation is an entry of a file of `mutations`, and runs the endpoints of the REST API. `async-graphql-parser` parses
//! documents; the rest is here, because a whole server crate is a tenth of all crates of the program.
//!
//! # Caveats
//! A name that is not in the schema is refused, in GitHub's words. `totalCount` and pages read whole lists.

mod endpoint;
mod execute;
mod introspect;
mod mutations;
mod object;
mod page;
mod problem;
mod schema;
mod trouble;
mod types;
mod validate;
mod values;

pub(super) use endpoint::ROUTES;

#[cfg(test)]
pub(super) mod tests;
