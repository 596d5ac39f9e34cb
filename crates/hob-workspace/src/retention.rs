//! Removes what is no longer needed: one issue's folders, folders that were not used for long, checkouts above the
//! limit, and bytes above a repository's limit. A folder is renamed into the trash at once. The trash is emptied beside
//! the work, since that takes seconds for a large repository on a slow disk. The trees of a checkout that is removed
//! become free, unless there is no room for them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use hob_domain::{IssueNumber, RepoName, Timestamp};
use hob_process::remove_tree_until;
use hob_sandbox::bytes_on_disk;
use tokio_util::sync::CancellationToken;

use crate::{
    Workspace, WorkspaceError,
    error::disk,
    layout::{IssueFolder, Kind, blocking, free, remove, repo_folder, throw_away, trash},
};

/// The checkouts to keep.
#[derive(Debug, Clone)]
pub struct Retention {
    /// Checkouts of issues that are not listed are removed if they were last prepared or committed to before this.
    pub before: Timestamp,
    /// Issues that are not finished.
    pub listed: Vec<IssueNumber>,
    /// Issues in progress: their checkouts stay in any case.
    pub in_progress: Vec<IssueNumber>,
    /// The number of other checkouts to keep; the least recently used ones are removed first. 0 means all of them.
    pub most: usize,
}

/// The limit on a repository's disk space.
#[derive(Debug, Clone)]
pub struct Room {
    /// Bytes.
    pub bytes: u64,
    /// Issues in progress: their checkouts stay.
    pub in_progress: Vec<IssueNumber>,
    /// The time.
    pub now: Timestamp,
}

/// The least time that a mirror stays.
const A_DAY: Duration = Duration::from_secs(86_400);

impl Workspace {
    /// Removes the folders of an issue; the mirror stays. Nothing there is fine.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be removed.
    pub async fn remove(&self, repo: &RepoName, issue: IssueNumber) -> Result<(), WorkspaceError> {
        let folder = IssueFolder::new(self.root(), repo, issue);
        blocking("remove the checkout", move || remove(&folder.0)).await
    }

    /// Moves the folders of a repository's issues that do not stay to the trash, and frees their trees; returns those
    /// issues. A checkout that this process uses stays.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be read or renamed.
    pub async fn prune(&self, repo: &RepoName, stay: Retention) -> Result<Vec<IssueNumber>, WorkspaceError> {
        let (issues, trash) = (repo_folder(self.root(), repo).join("issues"), trash(self.root(), repo));
        let all_in_use = self.in_use().clone();
        blocking("prune the checkouts", move || {
            // The lock keeps a checkout from being used while it is renamed.
            let in_use = all_in_use.lock();
            let mut removed = Vec::new();
            let idle = idle(&issues, &stay.in_progress, &in_use)?;
            for (place, Idle { used, issue, folder }) in idle.into_iter().enumerate() {
                let is_old = used < SystemTime::from(stay.before) && !stay.listed.contains(&issue);
                if is_old || (stay.most > 0 && place >= stay.most) {
                    all_in_use.free(&folder, Kind::Agent);
                    all_in_use.free(&folder, Kind::Proof);
                    throw_away(&folder.0, &trash)?;
                    removed.push(issue);
                }
            }
            removed.sort_unstable();
            Ok(removed)
        })
        .await
    }

    /// Moves folders that are not in use to the trash, until a repository has no more than `room.bytes` on disk:
    /// free trees, checkouts, the least recently used first, and if that is not enough and no issue is in progress, prepared
    /// set-ups, and a mirror that is too large by itself. The next fetch makes that anew; it happens at most once a
    /// day.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] if something cannot be read or renamed.
    pub async fn shrink(&self, repo: &RepoName, room: Room) -> Result<(), WorkspaceError> {
        let (all, trash) = (repo_folder(self.root(), repo), trash(self.root(), repo));
        let (in_use, long_ago) = (self.in_use().clone(), SystemTime::from(room.now) - A_DAY);
        blocking("make room on the disk", move || {
            let (mirror, issues, prepared) = (all.join("mirror.git"), all.join("issues"), all.join("prepared"));
            let free = free(&all);
            // If the whole file system's use fits, nothing needs to be measured.
            if used_bytes(&all) <= room.bytes {
                return Ok(());
            }
            let size = |folder: &Path| bytes_on_disk(folder);
            let of_issue = |issue: IssueNumber| (issue, size(&issues.join(issue.to_string())));
            let sizes: HashMap<_, _> = issues_in(&issues)?.into_iter().map(of_issue).collect();
            let (history, steps, spare) = (size(&mirror), size(&prepared), size(&free));
            let mut total = history + steps + spare + size(&all.join("ledgers.git")) + sizes.values().sum::<u64>();
            // The lock keeps a checkout from being used while it is renamed.
            let in_use = in_use.lock();
            let mut oldest = idle(&issues, &room.in_progress, &in_use)?;
            if total > room.bytes && free.exists() {
                throw_away(&free, &trash)?;
                total = total.saturating_sub(spare);
            }
            while total > room.bytes
                && let Some(Idle { issue, folder, .. }) = oldest.pop()
            {
                throw_away(&folder.0, &trash)?;
                total = total.saturating_sub(sizes.get(&issue).copied().unwrap_or_default());
            }
            let is_quiet = issues_in(&issues)?.is_empty();
            if total > room.bytes && is_quiet && prepared.exists() {
                throw_away(&prepared, &trash)?;
                total = total.saturating_sub(steps);
            }
            if total > room.bytes && is_quiet && made(&mirror)?.is_some_and(|made| made < long_ago) {
                throw_away(&mirror, &trash)?;
            }
            Ok(())
        })
        .await
    }

    /// Empties a repository's trash, until `stop`; the rest is removed the next time.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be removed.
    pub async fn empty_trash(&self, repo: &RepoName, stop: &CancellationToken) -> Result<(), WorkspaceError> {
        let (trash, stop) = (trash(self.root(), repo), stop.clone());
        blocking("empty the trash", move || {
            remove_tree_until(&trash, &|| stop.is_cancelled()).map_err(disk("remove", &trash))
        })
        .await
    }
}

/// A checkout that is not in use.
struct Idle {
    used: SystemTime,
    issue: IssueNumber,
    folder: IssueFolder,
}

/// The checkouts that are not in use, the most recently used first.
fn idle(
    issues: &Path,
    in_progress: &[IssueNumber],
    in_use: &BTreeMap<PathBuf, usize>,
) -> Result<Vec<Idle>, WorkspaceError> {
    let mut idle = Vec::new();
    for issue in issues_in(issues)? {
        let folder = IssueFolder(issues.join(issue.to_string()));
        if !in_progress.contains(&issue) && !in_use.contains_key(&folder.0) {
            idle.push(Idle { used: last_used(&folder)?, issue, folder });
        }
    }
    idle.sort_unstable_by_key(|idle| Reverse((idle.used, idle.issue)));
    Ok(idle)
}

fn issues_in(folder: &Path) -> Result<Vec<IssueNumber>, WorkspaceError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let names = fs::read_dir(folder).map_err(disk("read", folder))?.flatten().map(|entry| entry.file_name());
    Ok(names.filter_map(|name| name.to_str()?.parse().ok().map(IssueNumber)).collect())
}

/// Bytes in use on the file system of `folder`; the maximum if it does not say.
fn used_bytes(folder: &Path) -> u64 {
    let used = |found: rustix::fs::StatVfs| found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize);
    rustix::fs::statvfs(folder).map_or(u64::MAX, used)
}

/// When a mirror was made, if there is one: its `HEAD` is written once.
fn made(mirror: &Path) -> Result<Option<SystemTime>, WorkspaceError> {
    let head = mirror.join("HEAD");
    match fs::metadata(&head).and_then(|found| found.modified()) {
        Ok(made) => Ok(Some(made)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(disk("look at", head)(error)),
    }
}

/// Hob's index is written whenever the checkout is prepared or committed; a folder without one is incomplete.
fn last_used(folder: &IssueFolder) -> Result<SystemTime, WorkspaceError> {
    let index = folder.index();
    let place = if index.exists() { index } else { folder.0.clone() };
    fs::metadata(&place).and_then(|found| found.modified()).map_err(disk("look at", place))
}
