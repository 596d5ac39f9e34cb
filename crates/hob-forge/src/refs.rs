//! What the ledgers of the issues and the repository's own share: the commit of a transition, and the move of a ref, the
//! protocol's compare-and-set.

use hob_domain::Sha;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Forge, ForgeError, TokenPermission::ContentsWrite};

#[derive(Serialize, Deserialize)]
pub(super) struct RefWire {
    #[serde(rename = "ref")]
    pub(super) name: String,
    pub(super) object: ObjectWire,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ObjectWire {
    pub(super) sha: Sha,
}

/// Writes a commit of a ledger whose parent is `from`.
pub(super) async fn write_commit(
    forge: &Forge,
    from: Option<&Sha>,
    tree: &Sha,
    message: &str,
    what: &str,
) -> Result<Sha, ForgeError> {
    let parents: Vec<_> = from.into_iter().collect();
    let commit = json!({ "message": message, "tree": tree, "parents": parents });
    let made: ObjectWire =
        forge.write(Method::POST, &forge.path("/git/commits"), &commit, ContentsWrite.to(what)).await?;
    Ok(made.sha)
}

/// Makes the ref `name` below the ledger's prefix, or moves it forwards from the commit `from`, which is `to`'s parent.
pub(super) async fn move_ref(
    forge: &Forge,
    name: &str,
    from: Option<&Sha>,
    to: &Sha,
    what: &str,
) -> Result<(), ForgeError> {
    let name = format!("{}{name}", forge.ref_space());
    let (method, path, body) = match from {
        None => (Method::POST, forge.path("/git/refs"), json!({ "ref": format!("refs/{name}"), "sha": to })),
        Some(_) => (Method::PATCH, forge.path(&format!("/git/refs/{name}")), json!({ "sha": to, "force": false })),
    };
    forge.write::<serde_json::Value>(method, &path, &body, ContentsWrite.to(what)).await.map(drop)
}

/// Whether a ref's move was refused because the ref is not where it was read.
pub(super) fn is_conflict(error: &ForgeError) -> bool {
    error.is_refusal(422, "already exists") || error.is_refusal(422, "not a fast forward")
}
