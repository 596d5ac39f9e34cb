//! Many ledgers at once: a hundred commits are one GraphQL query, instead of one REST request each.
//!
//! # Caveats
//! It only fills the cache that [`Ledger::entry`] and [`RepositoryLedger::entry`](crate::RepositoryLedger::entry) read;
//! they read commits that are missing there one by one.

use hob_domain::{Sha, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Forge, ForgeError, Ledger,
    TokenPermission::ContentsRead,
    objects::{Objects, object_name, objects},
    refs::{AuthorWire, CommitWire, ObjectWire, commit_path},
};

/// Commits in one query. A record is a few kilobytes, and the answer has to come within `forge.timeout`.
const BATCH: usize = 100;

pub(super) const COMMITS: Objects = Objects {
    field: "object",
    argument: "oid",
    argument_type: "GitObjectID!",
    facts: "fragment facts on Commit { oid message authoredDate tree { oid } parents(first: 1) { nodes { oid } } }",
};

/// GraphQL's answer about a commit.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeWire {
    oid: Sha,
    message: String,
    authored_date: Timestamp,
    tree: OidWire,
    parents: ParentsWire,
}

#[derive(Deserialize)]
struct OidWire {
    oid: Sha,
}

#[derive(Deserialize)]
struct ParentsWire {
    nodes: Vec<OidWire>,
}

impl From<OidWire> for ObjectWire {
    fn from(wire: OidWire) -> Self {
        Self { sha: wire.oid }
    }
}

impl From<NodeWire> for CommitWire {
    fn from(node: NodeWire) -> Self {
        Self {
            sha: node.oid,
            message: node.message,
            author: AuthorWire { date: node.authored_date },
            tree: node.tree.into(),
            parents: node.parents.nodes.into_iter().map(ObjectWire::from).collect(),
        }
    }
}

impl Ledger<'_> {
    /// Reads the unknown ones of these commits, if there are several.
    pub async fn read_ahead(self, commits: impl IntoIterator<Item = &Sha>) {
        let connection = self.forge.connection();
        let is_unknown = |commit: &&Sha| !connection.cache.has(&commit_path(self.forge, commit));
        let unknown: Vec<&Sha> = commits.into_iter().filter(is_unknown).collect();
        if unknown.len() < 2 {
            return;
        }
        for commits in unknown.chunks(BATCH) {
            let Err(error) = self.read_batch(commits).await else { continue };
            tracing::debug!(%error, "the ledgers are read one by one: {error}");
            return;
        }
    }

    async fn read_batch(self, commits: &[&Sha]) -> Result<(), ForgeError> {
        let oids = commits.iter().map(|commit| commit.as_str().into());
        let data = objects(self.forge, &COMMITS, oids, ContentsRead.to("read the ledgers")).await?.data;
        for (index, commit) in commits.iter().enumerate() {
            learn(self.forge, commit, &data["repository"][object_name(index)]);
        }
        Ok(())
    }
}

/// Fills the cache with the commit as GraphQL told it. An object that is not a commit, or not this one, is left to a single read.
pub(super) fn learn(forge: &Forge, commit: &Sha, told: &Value) {
    if let Ok(node) = NodeWire::deserialize(told)
        && node.oid == *commit
    {
        forge.connection().know(&commit_path(forge, commit), &CommitWire::from(node));
    }
}
