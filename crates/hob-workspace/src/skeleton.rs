//! Git directories made by hand: a handful of small files, no program and no template.
//!
//! Two are made for each issue. The agent cannot write Hob's own. The agent's is a throwaway: it shows branch, history
//! and changes to `git log`, `git status` and `git diff`, it is made anew for every run, and nothing of Hob's ever
//! opens it. Both borrow objects (`objects/info/alternates`), which git only reads: a command in a borrowing repository
//! writes new objects into that repository. The agent cannot see file contents that the mirror lacks; those of its own
//! commit are always there.

use std::{fs, path::Path};

use hob_domain::Sha;

use crate::{
    BranchName, WorkspaceError,
    error::disk,
    git_dir::GitDir,
    layout::{IssueFolder, Kind, make, remove, write},
    part::{PART_SETTINGS, Patterns},
};

/// Settings of the agent's git directory; the identity lets it commit for itself.
const AGENT_CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
    [user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n";

fn point(git: &Path, branch: &BranchName, sha: &Sha) -> Result<(), WorkspaceError> {
    let reference = git.join(branch.full());
    if let Some(folder) = reference.parent() {
        make(folder)?;
    }
    write(&reference, format!("{sha}\n"))?;
    write(&git.join("HEAD"), format!("ref: {}\n", branch.full()))
}

/// Makes Hob's git directory for an issue, if it is not there, and puts the branch on `sha`.
pub(super) fn own(folder: &IssueFolder, branch: &BranchName, sha: &Sha) -> Result<(), WorkspaceError> {
    let git = folder.git();
    // A worker that died left its locks behind; the issue's lease guarantees that no other worker is active here.
    for lock in ["index.lock", "HEAD.lock", "config.lock"] {
        remove(&git.join(lock))?;
    }
    remove(&git.join("refs"))?;
    make(&git.join("refs/heads"))?;
    GitDir::Issue(&git).renew()?;
    point(&git, branch, sha)
}

/// Makes the throwaway git directory in a tree, with a copy of the index of Hob's for it.
pub(super) fn snapshot(
    folder: &IssueFolder,
    kind: Kind,
    branch: &BranchName,
    sha: &Sha,
    patterns: Option<&Patterns>,
) -> Result<(), WorkspaceError> {
    let git = folder.place(kind).join(".git");
    let index = match kind {
        Kind::Agent => folder.index(),
        Kind::Proof => folder.record(kind),
    };
    remove(&git)?;
    let alternates = format!("{}\n{}\n", folder.git().join("objects").display(), folder.mirror_objects().display());
    for folder in ["objects/info", "refs/heads", "info"] {
        make(&git.join(folder))?;
    }
    let mut config = AGENT_CONFIG.to_owned();
    if let Some(patterns) = patterns {
        patterns.write(&git)?;
        config.push_str("[core]\n");
        PART_SETTINGS.iter().for_each(|(key, value)| config.push_str(&format!("\t{key} = {value}\n")));
    }
    write(&git.join("config"), config)?;
    write(&git.join("objects/info/alternates"), alternates)?;
    point(&git, branch, sha)?;
    fs::copy(&index, git.join("index")).map(drop).map_err(disk("copy", index))
}
