//! Removing what is no longer needed: one issue's folders, or all that nobody used for long.

use std::{fs, path::Path, time::SystemTime};

use hob_domain::{IssueNumber, RepoName, Timestamp};

use crate::{
    Workspace, WorkspaceError,
    error::disk,
    layout::{IssueFolder, blocking, remove, repo_folder},
};

impl Workspace {
    /// Removes the folders of an issue; the mirror stays. Nothing there is fine.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be removed.
    pub async fn remove(&self, repo: &RepoName, issue: IssueNumber) -> Result<(), WorkspaceError> {
        let folder = IssueFolder::new(self.root(), repo, issue);
        blocking("remove the checkout", move || remove(&folder.0)).await
    }

    /// Removes the folders of a repository's issues that were last prepared or committed to before `before`, but
    /// those in `keep`; the issues removed.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when something cannot be read or removed.
    pub async fn prune(
        &self,
        repo: &RepoName,
        before: Timestamp,
        keep: &[IssueNumber],
    ) -> Result<Vec<IssueNumber>, WorkspaceError> {
        let (issues, keep) = (repo_folder(self.root(), repo).join("issues"), keep.to_vec());
        blocking("prune the checkouts", move || {
            let mut removed = Vec::new();
            for issue in issues_in(&issues)?.into_iter().filter(|issue| !keep.contains(issue)) {
                let folder = IssueFolder(issues.join(issue.to_string()));
                if last_used(&folder)? < SystemTime::from(before) {
                    remove(&folder.0)?;
                    removed.push(issue);
                }
            }
            Ok(removed)
        })
        .await
    }
}

fn issues_in(folder: &Path) -> Result<Vec<IssueNumber>, WorkspaceError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let names = fs::read_dir(folder).map_err(disk("read", folder))?.flatten().map(|entry| entry.file_name());
    let mut issues: Vec<IssueNumber> = names.filter_map(|name| name.to_str()?.parse().ok().map(IssueNumber)).collect();
    issues.sort_unstable();
    Ok(issues)
}

/// Hob's index is written whenever the checkout is prepared or committed; without one the folder is half made.
fn last_used(folder: &IssueFolder) -> Result<SystemTime, WorkspaceError> {
    let index = folder.index();
    let place = if index.exists() { index } else { folder.0.clone() };
    fs::metadata(&place).and_then(|found| found.modified()).map_err(disk("look at", place))
}
