//! Whether open pull requests and the checks on their heads are as they were: one query for a hundred of them, instead of two or three
//! calls of the REST API for each.
//!
//! # Caveats
//! Checks are counted by their states. If one fails while another one of the same head passes, between two looks, the numbers are the
//! same, and the names are not asked for before something else changes.

use std::collections::BTreeMap;

use hob_domain::{PullNumber, Sha, Timestamp};
use serde::Deserialize;
use serde_json::json;

use crate::{Connection, ForgeError, TokenPermission::PullRequestsRead};

/// Pull requests in one query: `nodes` takes no more.
const BATCH: usize = 100;

pub(super) const QUERY: &str = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest { number updatedAt headRefOid \
    statusCheckRollup { state contexts(first: 1) { checkRunCountsByState { state count } \
        statusContextCountsByState { state count } } } } } }";

/// An open pull request from afar: the same as before unless it or a check on its head changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullOutline {
    /// Its number.
    pub number: PullNumber,
    pub(super) updated_at: Timestamp,
    pub(super) head: Sha,
    /// `None` if there is no check.
    pub(super) checks: Option<CheckCounts>,
}

/// The checks on a commit, by their states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckCounts {
    state: String,
    runs: BTreeMap<String, u64>,
    statuses: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutlineWire {
    number: PullNumber,
    updated_at: Timestamp,
    head_ref_oid: Sha,
    status_check_rollup: Option<RollupWire>,
}

#[derive(Deserialize)]
struct RollupWire {
    state: String,
    contexts: CountsWire,
}

/// What a roll-up's list says of all of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CountsWire {
    check_run_counts_by_state: Option<Vec<CountWire>>,
    status_context_counts_by_state: Option<Vec<CountWire>>,
}

#[derive(Deserialize)]
struct CountWire {
    state: String,
    count: u64,
}

impl CountsWire {
    /// The counts beside this combined state. `None` if the server does not count.
    pub(super) fn beside(self, state: String) -> Option<CheckCounts> {
        let counted = |counts: Vec<CountWire>| counts.into_iter().map(|one| (one.state, one.count)).collect();
        let runs = self.check_run_counts_by_state.map(counted)?;
        Some(CheckCounts { state, runs, statuses: self.status_context_counts_by_state.map(counted)? })
    }
}

impl OutlineWire {
    fn into_outline(self) -> Option<PullOutline> {
        let checks = match self.status_check_rollup {
            Some(rollup) => Some(rollup.contexts.beside(rollup.state)?),
            None => None,
        };
        Some(PullOutline { number: self.number, updated_at: self.updated_at, head: self.head_ref_oid, checks })
    }
}

/// What the pull requests of these ids in GraphQL are like now, in their order. `None` of one that is gone, or that the token sees only in
/// part.
///
/// # Errors
/// [`ForgeError`] of a query.
pub async fn pull_outlines(connection: &Connection, ids: &[&str]) -> Result<Vec<Option<PullOutline>>, ForgeError> {
    let mut found = Vec::new();
    for batch in ids.chunks(BATCH) {
        let purpose = PullRequestsRead.to("see which pull requests have news");
        let answered = connection.query(QUERY, json!({ "ids": batch }), purpose).await?;
        let whole = (0..batch.len()).map(|index| answered.is_whole_at(index).then(|| &answered.data["nodes"][index]));
        found.extend(whole.map(|node| OutlineWire::deserialize(node?).ok()?.into_outline()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn outline(rollup: Value) -> Option<PullOutline> {
        let wire =
            json!({ "number": 7, "updatedAt": "2026-01-02T03:04:05Z", "headRefOid": "h", "statusCheckRollup": rollup });
        OutlineWire::deserialize(wire).unwrap().into_outline()
    }

    #[test]
    fn a_check_that_ends_changes_the_outline_though_the_combined_state_stays() {
        let rollup = |runs: Value| json!({ "state": "FAILURE", "contexts": { "checkRunCountsByState": runs, "statusContextCountsByState": [] } });
        let runs = |state: &str| json!([{ "state": "FAILURE", "count": 1 }, { "state": state, "count": 1 }]);
        let pending = outline(rollup(runs("IN_PROGRESS"))).unwrap();
        assert_eq!(Some(&pending), outline(rollup(runs("IN_PROGRESS"))).as_ref());
        assert_ne!(Some(&pending), outline(rollup(runs("SUCCESS"))).as_ref());
        assert_ne!(Some(&pending), outline(Value::Null).as_ref());
        assert_eq!(outline(rollup(Value::Null)), None, "a server that does not count");
    }
}
