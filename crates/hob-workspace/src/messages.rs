//! Commit messages of many refs at once: one fetch of bare commits, without their histories and files.

use std::{collections::HashMap, path::Path};

use hob_domain::Sha;

use crate::{
    Remote, WorkspaceError,
    forwarder::Right,
    git::{Git, done},
    git_dir::GitDir,
    layout::{blocking, ledgers, remove},
    mirror::{fetching, lay},
    transport::exchange,
};

/// The messages of the commits that the refs below `prefix` point to, by commit.
pub(super) async fn messages(
    git: &Git,
    root: &Path,
    remote: &Remote,
    prefix: &str,
) -> Result<HashMap<Sha, String>, WorkspaceError> {
    let place = ledgers(root, remote.repo());
    lay(&place).await?;
    let route = git.route(remote, Right::Fetch)?;
    let command = fetching(git, &place, &route)?
        .args(["--depth=1", "--filter=tree:0", "origin"])
        .arg(format!("+{prefix}*:refs/fetched/*"));
    exchange("fetch the ledgers of", &route, &place, command).await?;
    let list = git.local(GitDir::Mirror(&place))?.args([
        "for-each-ref",
        "--format=%(objectname)%00%(contents)%00",
        "refs/fetched/",
    ]);
    let said = done("read the ledgers", list).await?;
    blocking("remove the ledgers", move || remove(&place)).await?;
    let mut parts = said.split('\0');
    let pairs = std::iter::from_fn(|| Some((Sha::from(parts.next()?.trim()), parts.next()?.to_owned())));
    Ok(pairs.collect())
}
