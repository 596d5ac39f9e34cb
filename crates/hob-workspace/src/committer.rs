//! The commit, in its own process.
//!
//! The git library, a large program in C, inspects files that an agent left. So that happens not in the process with
//! the token, but in one that has no secret, reads only this folder, writes the issue's git directory, and is killed at
//! its deadline.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use hob_domain::{LeftOut, Sha, shown_path};
use hob_process::{Environment, Exit, Program};
use hob_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{
    UnfitWork, WorkspaceError,
    commit::{self, Entry, Limits},
    convert::{Converter, GitCommand},
    error::disk,
    git::Git,
    layout::{IssueFolder, blocking},
    survey::unreadable,
};

/// The only argument of Hob's program as the committer.
const COMMIT: &str = "--commit-folder";
/// This file's step in errors.
const DOING: &str = "commit the work";

/// The instructions for the committer.
#[derive(Serialize, Deserialize)]
struct Order {
    git: PathBuf,
    tree: PathBuf,
    /// The full name of the branch's ref.
    branch: String,
    limits: Limits,
    /// The git command for files that the library does not convert as git does.
    convert: GitCommand,
    /// A description of the wanted work.
    wanted: String,
    entry: Entry,
}

/// The committer's answer.
#[derive(Serialize, Deserialize)]
enum Answer {
    /// The commit, if anything changed, and the paths that it left out.
    Committed(Option<Sha>, Vec<LeftOut>),
    Unfit(UnfitWork),
    Failed(String),
}

/// Commits the files in an issue's folder, by a child that is confined by a plan.
pub(super) async fn commit(
    git: &Git,
    folder: &IssueFolder,
    sandbox: &Sandbox,
    branch: String,
    wanted: String,
    entry: Entry,
) -> Result<(Option<Sha>, Vec<LeftOut>), WorkspaceError> {
    let (settings, tree) = (git.settings(), folder.tree());
    let look = tree.clone();
    // A plan needs a real folder.
    if !blocking(DOING, move || Ok(fs::symlink_metadata(look).is_ok_and(|found| found.is_dir()))).await? {
        return Err(UnfitWork::NoFolder.into());
    }
    let limits = Limits { files: settings.max_files, file_bytes: settings.max_file };
    let order = Order { git: folder.git(), tree: tree.clone(), branch, limits, convert: git.command(), wanted, entry };
    let order = serde_json::to_vec(&order).map_err(|error| failed(error.to_string()))?;
    // The library reads the system's settings and fails if it may not.
    let plan =
        [sandbox.launcher(), &tree, &folder.mirror_objects(), Path::new("/etc/gitconfig"), Path::new(&settings.git)]
            .into_iter()
            // A name is looked up on the `PATH`, which every child reads.
            .filter(|path| path.is_absolute())
            .fold(sandbox.plan().writes(folder.git()), |plan, path| plan.reads(path));
    let child = Program::inside(&plan, sandbox.launcher(), &Environment::new()).arg(COMMIT).dir(folder.git());
    let limit = settings.local_time;
    let finished = child.stdin(order).deadline(limit).run(&CancellationToken::new()).await?;
    if finished.exit == Exit::Deadline {
        return Err(UnfitWork::TooSlow { seconds: limit.as_secs() }.into());
    }
    match serde_json::from_str(&finished.stdout.text()) {
        Ok(Answer::Committed(sha, left_out)) => Ok((sha, left_out)),
        Ok(Answer::Unfit(unfit)) => Err(unfit.into()),
        Ok(Answer::Failed(reason)) => Err(failed(reason)),
        Err(_cut_short) => {
            let said = finished.stderr.text();
            Err(failed(format!("it ended by {}: {}", finished.exit, said.lines().next().unwrap_or("no word"))))
        }
    }
}

fn failed(detail: String) -> WorkspaceError {
    WorkspaceError::Git { doing: DOING, detail }
}

/// Commits as standard input says if this process was started as the committer; otherwise does nothing.
pub fn was_committer(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    if !arguments.into_iter().skip(1).eq([COMMIT]) {
        return None;
    }
    let answer = match make_commit() {
        Ok((sha, left_out)) => Answer::Committed(sha, left_out),
        Err(WorkspaceError::Unfit(unfit)) => Answer::Unfit(unfit),
        Err(error) => Answer::Failed(error.to_string()),
    };
    let told = serde_json::to_vec(&answer).map_err(io::Error::from).and_then(|text| io::stdout().write_all(&text));
    Some(told.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn make_commit() -> Result<(Option<Sha>, Vec<LeftOut>), WorkspaceError> {
    let mut order = Vec::new();
    io::stdin().read_to_end(&mut order).map_err(disk("read", "standard input"))?;
    let order: Order = serde_json::from_slice(&order).map_err(|error| failed(error.to_string()))?;
    // A child that was ended in the middle left these; the issue has one holder.
    for lock in ["index.lock".to_owned(), format!("{}.lock", order.branch)] {
        unlock(&order.git.join(lock))?;
    }
    let repo = commit::open(&order.git, &order.tree)?;
    let converter = Converter { command: &order.convert, git: &order.git, tree: &order.tree };
    let made = commit::stage(&repo, &converter, order.limits, &order.wanted).and_then(|(changes, left_out)| {
        Ok((commit::record(&repo, &converter, &order.branch, &changes, &order.entry)?, left_out))
    });
    made.map_err(|error| match error {
        // It says in the library's or the system's words what the agent did, and can undo.
        WorkspaceError::Library { .. } | WorkspaceError::Disk { .. } => match unreadable(&repo, &order.tree) {
            Some(path) => UnfitWork::Unreadable { path: shown_path(path.as_os_str().as_bytes()) }.into(),
            None => error,
        },
        error => error,
    })
}

fn unlock(lock: &Path) -> Result<(), WorkspaceError> {
    match fs::remove_file(lock) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk("remove", lock)(error)),
        _ => Ok(()),
    }
}
