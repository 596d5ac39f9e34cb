//! The mirror: a bare repository with what the server has, without file contents if the server can leave them out.
//!
//! Only the base branch, Hob's own branches and work that could not go to them are fetched, no tags. Each fetch leaves
//! packs; many packs are merged into one, which keeps all objects, even those that no branch has any more, because
//! issues borrow them. It is made under another name and renamed, so that an interrupted one leaves nothing behind that
//! looks whole; a damaged mirror is made anew, once.

use std::{fs, io::ErrorKind, path::Path};

use hob_domain::{IssueNumber, RepoName, Sha};
use hob_process::{Exit, Program};
use rustix::fs::{FlockOperation, flock};
use tokio_util::sync::CancellationToken;

use crate::{
    BranchName, Remote, WorkspaceError,
    error::disk,
    forwarder::Right,
    git::{Git, done, said},
    git_dir::GitDir,
    layout::{blocking, make, mirror, remove, repo_folder, unlock, write},
    object_id::checked,
    part::Patterns,
    route::Route,
    transport::exchange,
};

/// Keeps other processes of Hob off a mirror until it is dropped.
#[derive(Debug)]
pub(super) struct MirrorLock(fs::File);

impl Drop for MirrorLock {
    fn drop(&mut self) {
        // Closing the file would not suffice: a child that is just starting may still have a copy of it.
        flock(&self.0, FlockOperation::Unlock).ok();
    }
}

impl MirrorLock {
    /// Takes the lock, or reports that it is taken: the caller decides whether to wait.
    pub(super) async fn take(root: &Path, repo: &RepoName) -> Result<Self, WorkspaceError> {
        let (folder, repo) = (repo_folder(root, repo), repo.clone());
        blocking("lock the mirror", move || {
            unlock(&folder)?;
            make(&folder)?;
            let path = folder.join("lock");
            let file = fs::File::options().create(true).append(true).open(&path).map_err(disk("open", &path))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Ok(Self(file)),
                Err(rustix::io::Errno::WOULDBLOCK) => Err(WorkspaceError::Busy { repo }),
                Err(errno) => Err(disk("lock", path)(errno.into())),
            }
        })
        .await
    }
}

/// Packs from which on a mirror is repacked: git searches each of them for every object.
const PACKS_MAX: usize = 50;

/// Brings the mirror up to date, and makes it if it is missing or damaged; returns the tip of `base`.
pub(super) async fn update(git: &Git, root: &Path, remote: &Remote, base: &BranchName) -> Result<Sha, WorkspaceError> {
    let place = mirror(root, remote.repo());
    if place.join("HEAD").exists() {
        match fetch(git, &place, remote, base).await {
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(error),
            Ok(tip) => {
                repack(git, &place).await?;
                return Ok(tip);
            }
        }
    }
    let folder = repo_folder(root, remote.repo());
    let fresh = folder.join("mirror.new");
    lay(&fresh).await?;
    let tip = fetch(git, &fresh, remote, base).await?;
    blocking("put the mirror in its place", move || {
        remove(&place)?;
        fs::rename(&fresh, &place).map_err(disk("rename", fresh))
    })
    .await?;
    Ok(tip)
}

/// Makes an empty bare repository that may leave objects out.
pub(super) async fn lay(fresh: &Path) -> Result<(), WorkspaceError> {
    let fresh = fresh.to_owned();
    blocking("make the mirror", move || {
        remove(&fresh)?;
        for folder in ["objects/info", "objects/pack", "refs/remotes/origin"] {
            make(&fresh.join(folder))?;
        }
        GitDir::Mirror(&fresh).renew()?;
        write(&fresh.join("HEAD"), "ref: refs/heads/none\n")
    })
    .await
}

/// A fetch into a repository that [`lay`] made; the refs of `origin` to fetch follow it.
pub(super) fn fetching(git: &Git, place: &Path, route: &Route) -> Result<Program, WorkspaceError> {
    let program = git.remote(GitDir::Mirror(place), route)?;
    let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
    Ok(program.args(["-c", &format!("remote.origin.url={}", route.url())]).args(fetch))
}

async fn fetch(git: &Git, place: &Path, remote: &Remote, base: &BranchName) -> Result<Sha, WorkspaceError> {
    let prefix = &git.settings().branch_prefix;
    let route = git.route(remote, Right::Fetch)?;
    let command = fetching(git, place, &route)?
        .args(["--prune", "origin"])
        .arg(format!("+{}:{}", base.full(), tracking(base.as_str())))
        .arg(format!("+refs/heads/{prefix}*:{}*", tracking(prefix)))
        .args(remote.kept().map(|kept| format!("+{kept}*:{KEPT}*")));
    match exchange("fetch", &route, place, command).await {
        Ok(_) => {}
        Err(WorkspaceError::Transport(error)) if error.reason.contains("couldn't find remote ref") => {
            let empty = heads(git, place, remote).await?.is_empty();
            let repo = remote.repo().clone();
            return Err(match empty {
                true => WorkspaceError::EmptyRepository { repo },
                false => WorkspaceError::NoSuchBranch { repo, branch: base.clone() },
            });
        }
        Err(error) => return Err(error),
    }
    tip(place, base)
        .await?
        .ok_or_else(|| WorkspaceError::NoSuchBranch { repo: remote.repo().clone(), branch: base.clone() })
}

/// Makes one pack of many. It never discards objects from the server that only the mirror has, whether a branch has
/// them or not.
async fn repack(git: &Git, place: &Path) -> Result<(), WorkspaceError> {
    let packs = place.join("objects/pack");
    let count = blocking("count the mirror's packs", move || {
        let entries = fs::read_dir(&packs).map_err(disk("read", packs))?;
        Ok(entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "pack")).count())
    });
    let count = count.await?;
    // After a failure, for want of time or space, it is retried after as many more packs. A fetch adds two at most.
    if count < PACKS_MAX || count % PACKS_MAX > 1 {
        return Ok(());
    }
    if let Err(error) =
        done("repack the mirror", git.local(GitDir::Mirror(place))?.args(["repack", "-a", "-d", "--quiet"])).await
    {
        // It is as usable as before.
        tracing::warn!(%error, "the mirror could not be repacked: {error}");
    }
    Ok(())
}

async fn heads(git: &Git, place: &Path, remote: &Remote) -> Result<String, WorkspaceError> {
    let route = git.route(remote, Right::Fetch)?;
    let command = git.remote(GitDir::Mirror(place), &route)?.args(["ls-remote", "--heads", &route.url()]);
    exchange("list the branches of", &route, place, command).await
}

/// The prefix of work in the mirror that could not go to its branch; the issue's number follows.
const KEPT: &str = "refs/remotes/kept/";

fn tracking(branch: &str) -> String {
    format!("refs/remotes/origin/{branch}")
}

/// The branch's tip at the last fetch.
pub(super) async fn tip(place: &Path, branch: &BranchName) -> Result<Option<Sha>, WorkspaceError> {
    commit_of(place, tracking(branch.as_str())).await
}

/// The work on an issue that could not go to its branch, as of the last fetch.
pub(super) async fn kept(place: &Path, issue: IssueNumber) -> Result<Option<Sha>, WorkspaceError> {
    commit_of(place, format!("{KEPT}{issue}")).await
}

/// The commit of a ref. The mirror's refs are files, in the format that [`lay`] chose: reading them costs no process.
async fn commit_of(place: &Path, name: String) -> Result<Option<Sha>, WorkspaceError> {
    let place = place.to_owned();
    blocking("read the mirror", move || {
        if let Some(loose) = read_where_there(&place.join(&name))? {
            return Ok(Some(Sha::from(loose.trim())));
        }
        let packed = read_where_there(&place.join("packed-refs"))?.unwrap_or_default();
        let line = packed.lines().filter_map(|line| line.split_once(' ')).find(|(_, packed)| *packed == name);
        Ok(line.map(|(sha, _)| Sha::from(sha)))
    })
    .await
}

/// Whether any branch whose name begins with `prefix` was there at the last fetch.
pub(super) async fn has_any(place: &Path, prefix: &str) -> Result<bool, WorkspaceError> {
    let (place, prefix) = (place.to_owned(), tracking(prefix));
    blocking("read the mirror", move || {
        let packed = read_where_there(&place.join("packed-refs"))?.unwrap_or_default();
        let is_packed =
            packed.lines().filter_map(|line| line.split_once(' ')).any(|(_, name)| name.starts_with(&prefix));
        let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
        Ok(is_packed || has_file(&place, folder, &prefix)?)
    })
    .await
}

/// Whether a file at or below `folder` of `place` has a path that begins with `prefix`.
fn has_file(place: &Path, folder: &str, prefix: &str) -> Result<bool, WorkspaceError> {
    let path = place.join(folder);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(false),
        Err(error) => return Err(disk("read", path)(error)),
    };
    for entry in entries.flatten() {
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && name.starts_with(prefix) || is_folder && has_file(place, &name, prefix)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_where_there(path: &Path) -> Result<Option<String>, WorkspaceError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        // A folder: branches whose names begin with this one's.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(disk("read", path)(error)),
    }
}

/// The youngest commit that both have in their history; `None` if they have none in common.
pub(super) async fn merge_base(git: &Git, place: &Path, one: &Sha, two: &Sha) -> Result<Option<Sha>, WorkspaceError> {
    let program = git.local(GitDir::Mirror(place))?.args(["merge-base", checked(one)?, checked(two)?]);
    let finished = program.run(&CancellationToken::new()).await?;
    match finished.exit {
        Exit::Code(0) => Ok(finished.stdout.text().lines().next().map(Sha::from)),
        Exit::Code(1) => Ok(None),
        Exit::Code(_) | Exit::Signal(_) | Exit::Deadline | Exit::Cancelled => {
            Err(WorkspaceError::Git { doing: "find the common commit", detail: said(&finished) })
        }
    }
}

/// Fetches the file contents of `commits` that the mirror lacks, all of them in one request; with `patterns` only those that
/// these match.
pub(super) async fn complete(
    git: &Git,
    place: &Path,
    remote: &Remote,
    commits: &[&Sha],
    patterns: Option<&Patterns>,
) -> Result<(), WorkspaceError> {
    let mut list =
        git.local(GitDir::Mirror(place))?.args(["rev-list", "--objects", "--missing=print", "--no-object-names"]);
    if let Some(patterns) = patterns {
        // Git takes them from an object alone.
        let put = git.local(GitDir::Mirror(place))?.args(["hash-object", "-w", "--stdin"]).stdin(patterns.text());
        let blob = done("write down which files to fetch", put).await?;
        list = list.arg(format!("--filter=sparse:oid={}", blob.trim()));
    }
    for commit in commits {
        list = list.arg(format!("{}^{{tree}}", checked(commit)?));
    }
    let listed = done("list the files of the commit", list).await?;
    let missing: Vec<_> = listed.lines().filter_map(|line| line.strip_prefix('?')).collect();
    if missing.is_empty() {
        return Ok(());
    }
    // The options are those that git itself uses when it fetches missing objects.
    let route = git.route(remote, Right::Fetch)?;
    let command = git
        .remote(GitDir::Mirror(place), &route)?
        .args(["-c", "fetch.negotiationAlgorithm=noop", "-c", &format!("remote.origin.url={}", route.url())])
        .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"])
        .args(["--filter=blob:none", "--stdin", "origin"])
        .stdin(missing.join("\n") + "\n");
    exchange("fetch the files of", &route, place, command).await.map(drop)
}

/// Passes `result` on; if it shows that the mirror is damaged, the next fetch makes the mirror anew.
pub(super) async fn condemned<T>(place: &Path, result: Result<T, WorkspaceError>) -> Result<T, WorkspaceError> {
    if let Err(error) = &result
        && is_damage(error)
    {
        let head = place.join("HEAD");
        blocking("give the damaged mirror up", move || remove(&head)).await?;
    }
    result
}

/// Whether an error means that the mirror itself is damaged, rather than the way to the server.
fn is_damage(error: &WorkspaceError) -> bool {
    const SIGNS: [&str; 11] = [
        "not a git repository",
        "bad object",
        "corrupt",
        "missing object",
        "unable to read",
        "bad config",
        "does not match index",
        "to be a packfile",
        "differ in contents",
        "unknown repository extension",
        ".lock': file exists",
    ];
    let text = if let WorkspaceError::Transport(error) = error {
        &error.reason
    } else if let WorkspaceError::Git { detail, .. } = error {
        detail
    } else {
        return false;
    };
    let text = text.to_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_branch_below_the_prefix_is_found_loose_and_packed_and_another_is_not() {
        let refs = |name: &str| format!("refs/remotes/origin/{name}");
        for (loose, packed, prefix, there) in [
            (None, None, "hob/", false),
            (Some("main"), Some("main"), "hob/", false),
            (Some("hob/1-x"), None, "hob/", true),
            (None, Some("hob/1-x"), "hob/", true),
            (Some("hob"), Some("hobby/1"), "hob/", false),
            (Some("bots/hob-1-x"), None, "bots/hob-", true),
            (Some("bots/other"), Some("bots/other-2"), "bots/hob-", false),
            (Some("bots/hob/deep/1-x"), None, "bots/", true),
        ] {
            let place = tempfile::tempdir().unwrap();
            if let Some(name) = loose {
                let path = place.path().join(refs(name));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "0123\n").unwrap();
            }
            if let Some(name) = packed {
                let text = format!("# pack-refs with: peeled fully-peeled sorted\n0123 {}\n", refs(name));
                fs::write(place.path().join("packed-refs"), text).unwrap();
            }
            assert_eq!(has_any(place.path(), prefix).await.unwrap(), there, "{loose:?} {packed:?} {prefix}");
        }
    }
}
