//! The fixture that the tests of moods and of kinds of tokens share.

use crate::{Moods, Options, User, graphql::tests::fixture::Fixture};

/// The query for the checks of pull request 1.
pub(super) const ROLLUP: &str = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) {
    statusCheckRollup { state contexts(first: 9) { nodes { ... on CheckRun { name } ... on StatusContext { context } } } }
} } }";

/// An account, as on the command line.
pub(super) fn user(text: &str) -> User {
    text.parse().unwrap()
}

/// A forge with these moods, those that are drawn always hitting.
pub(super) async fn moody(moods: &str) -> Fixture {
    let moods = moods.parse::<Moods>().unwrap().with_percent(100);
    Fixture::start_with(Options { moods, ..Options::default() }).await
}
