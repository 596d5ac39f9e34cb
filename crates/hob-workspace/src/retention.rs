//! Removing what is no longer needed: one issue's folders, all that nobody used for long, and more checkouts than are
//! kept. A folder is put into the trash at once, by a rename; what is in there is removed beside the work, since that
//! takes seconds for a large repository on a slow disk.

use std::{fs, path::Path, time::SystemTime};

use hob_domain::{IssueNumber, RepoName, Timestamp};
use hob_process::remove_tree_until;
use tokio_util::sync::CancellationToken;

use crate::{
    Workspace, WorkspaceError,
    error::disk,
    layout::{IssueFolder, blocking, make, remove, repo_folder, trash},
};

/// Which checkouts stay.
#[derive(Debug, Clone)]
pub struct Retention {
    /// Those of issues that are not listed go when they were last prepared or committed to before this.
    pub before: Timestamp,
    /// Issues that are not at their end.
    pub listed: Vec<IssueNumber>,
    /// Issues that somebody works on: their checkouts stay, whatever there is.
    pub in_progress: Vec<IssueNumber>,
    /// How many others stay; the ones that were not used for the longest time go first. 0: all of them.
    pub most: usize,
}

impl Workspace {
    /// Removes the folders of an issue; the mirror stays. Nothing there is fine.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be removed.
    pub async fn remove(&self, repo: &RepoName, issue: IssueNumber) -> Result<(), WorkspaceError> {
        let folder = IssueFolder::new(self.root(), repo, issue);
        blocking("remove the checkout", move || remove(&folder.0)).await
    }

    /// Puts the folders of a repository's issues that do not stay into the trash; the issues. A checkout that is used in
    /// this process stays.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be read or renamed.
    pub async fn prune(&self, repo: &RepoName, stay: Retention) -> Result<Vec<IssueNumber>, WorkspaceError> {
        let (issues, trash) = (repo_folder(self.root(), repo).join("issues"), trash(self.root(), repo));
        let in_use = self.in_use().clone();
        blocking("prune the checkouts", move || {
            // Nobody begins to use one while it is renamed.
            let in_use = in_use.lock();
            let is_idle =
                |folder: &IssueFolder, issue| !stay.in_progress.contains(&issue) && !in_use.contains(&folder.0);
            let mut idle = Vec::new();
            for issue in issues_in(&issues)? {
                let folder = IssueFolder(issues.join(issue.to_string()));
                if is_idle(&folder, issue) {
                    idle.push((last_used(&folder)?, issue, folder));
                }
            }
            idle.sort_unstable_by_key(|(used, issue, _)| std::cmp::Reverse((*used, *issue)));
            let mut removed = Vec::new();
            for (place, (used, issue, folder)) in idle.into_iter().enumerate() {
                let is_old = used < SystemTime::from(stay.before) && !stay.listed.contains(&issue);
                if is_old || (stay.most > 0 && place >= stay.most) {
                    throw_away(&folder.0, &trash)?;
                    removed.push(issue);
                }
            }
            removed.sort_unstable();
            Ok(removed)
        })
        .await
    }

    /// Removes what is in a repository's trash, until `stop`; what is left then is removed the next time.
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

/// Puts a folder into the trash, under the first name that is free there.
fn throw_away(folder: &Path, trash: &Path) -> Result<(), WorkspaceError> {
    make(trash)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (0..).map(|n: u32| trash.join(format!("{name}-{n}"))).find(|place| !place.exists());
    fs::rename(folder, free.unwrap_or_else(|| trash.join(name))).map_err(disk("rename", folder))
}

fn issues_in(folder: &Path) -> Result<Vec<IssueNumber>, WorkspaceError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let names = fs::read_dir(folder).map_err(disk("read", folder))?.flatten().map(|entry| entry.file_name());
    Ok(names.filter_map(|name| name.to_str()?.parse().ok().map(IssueNumber)).collect())
}

/// Hob's index is written whenever the checkout is prepared or committed; without one the folder is half made.
fn last_used(folder: &IssueFolder) -> Result<SystemTime, WorkspaceError> {
    let index = folder.index();
    let place = if index.exists() { index } else { folder.0.clone() };
    fs::metadata(&place).and_then(|found| found.modified()).map_err(disk("look at", place))
}
