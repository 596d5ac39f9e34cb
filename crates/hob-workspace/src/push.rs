//! The leased push, and the look-up that settles a push with an unknown outcome.

use std::path::Path;

use hob_domain::Sha;
use tokio_util::sync::CancellationToken;

use crate::{
    Along, BranchName, Checkout, Remote, Workspace, WorkspaceError,
    forwarder::{RefUpdate, Right},
    git_dir::GitDir,
    layout::make,
    object_id::checked,
    transport::{exchange, failure},
};

impl Workspace {
    /// Moves `branch` on the server to `head`, if and only if it is at `expected` (`None`: it must not exist).
    ///
    /// A branch that is at `head` already counts as pushed. After a transport error the outcome is unknown:
    /// [`Workspace::remote_tip`] settles it.
    ///
    /// The server makes the move of `along` with it or neither. Returns whether it made that: not if the branch was at `head`, nor in a
    /// folder.
    ///
    /// [`WorkspaceError::LeaseLost`] if someone else moved the branch, [`WorkspaceError::PushRefused`] if the server's
    /// rules refuse it, [`WorkspaceError::UnrelatedHistory`] if `head` does not descend from the base,
    /// [`WorkspaceError::Transport`] otherwise.
    pub async fn push(
        &self,
        checkout: &Checkout,
        remote: &Remote,
        head: &Sha,
        expected: Option<&Sha>,
        along: Option<Along>,
    ) -> Result<bool, WorkspaceError> {
        checked(head)?;
        checkout.goes_out_from_base(head).await?;
        let (git_dir, branch) = (checkout.git_dir(), checkout.branch());
        let update = RefUpdate { name: branch.full(), old: expected.cloned(), new: head.clone() };
        let took_along = push_both(self, &git_dir, remote, branch, update, along).await?;
        checkout.note_pushed(Some(head)).await?;
        Ok(took_along)
    }

    /// Reads the current tip of `branch` on the server; `None` if it does not exist.
    ///
    /// # Errors
    /// [`WorkspaceError::Transport`] if the server does not answer.
    pub async fn remote_tip(&self, remote: &Remote, branch: &BranchName) -> Result<Option<Sha>, WorkspaceError> {
        let full = branch.full();
        make(self.root())?;
        let route = self.git().route(remote, Right::Fetch)?;
        let command = self.git().remote(GitDir::None(self.root()), &route)?.args(["ls-remote", &route.url(), &full]);
        let listed = exchange("read a branch of", &route, self.root(), command).await?;
        let tip = listed.lines().filter_map(|line| line.split_once('\t')).find(|(_, name)| *name == full);
        Ok(tip.map(|(sha, _)| Sha::from(sha)))
    }
}

/// Moves `branch` to `head`, a commit of the issue-like git directory `git_dir`, as [`Workspace::push`] does.
pub(super) async fn push_from(
    workspace: &Workspace,
    git_dir: &Path,
    remote: &Remote,
    branch: &BranchName,
    sha: &Sha,
    expected: Option<&Sha>,
) -> Result<(), WorkspaceError> {
    let update = RefUpdate { name: branch.full(), old: expected.cloned(), new: sha.clone() };
    push_ref(workspace, git_dir, remote, branch, update).await
}

/// Moves a ref, the branch's own or one in its place, as [`Workspace::push`] does.
pub(super) async fn push_ref(
    workspace: &Workspace,
    git_dir: &Path,
    remote: &Remote,
    branch: &BranchName,
    update: RefUpdate,
) -> Result<(), WorkspaceError> {
    push_both(workspace, git_dir, remote, branch, update, None).await.map(drop)
}

/// Moves a ref, and with it what goes along; returns whether that moved.
async fn push_both(
    workspace: &Workspace,
    git_dir: &Path,
    remote: &Remote,
    branch: &BranchName,
    update: RefUpdate,
    along: Option<Along>,
) -> Result<bool, WorkspaceError> {
    let atomic = along.as_ref().filter(|_| remote.server_url().is_some()).map(|_| "--atomic");
    let RefUpdate { name: full, old, new } = update.clone();
    let head = checked(&new)?;
    // If the branch exists already, the server's commits are known; asking would take a process and a connection.
    let negotiates = format!("push.negotiate={}", old.is_none());
    let expected = old.as_ref().map(checked).transpose()?.unwrap_or_default();
    if workspace.secrets().redaction().holds(&full) {
        let reason = "the branch's name holds a secret of Hob".to_owned();
        return Err(WorkspaceError::PushRefused { branch: branch.clone(), reason });
    }
    let route = workspace.git().route(remote, Right::Push(update, along))?;
    let program = workspace
        .git()
        .remote(GitDir::Issue(git_dir), &route)?
        .args(["-c", &negotiates, "push", "--porcelain", "--no-verify", "--no-follow-tags"])
        .args(atomic)
        .arg(format!("--force-with-lease={full}:{expected}"))
        .args([&route.url(), &format!("{head}:{full}")]);
    let finished = program.run(&CancellationToken::new()).await?;
    match reading(&finished.stdout.text(), &full) {
        // It stays so: waiting for the other writer, as after a lost lease, does not help.
        Some(Reading::Stale) if is_in_the_way(&finished.stderr.text()) => {
            let reason = route.scrubbed(&crate::git::said(&finished));
            Err(WorkspaceError::PushRefused { branch: branch.clone(), reason })
        }
        Some(Reading::Done) if finished.exit.is_success() => Ok(route.took_along()),
        Some(Reading::Stale) => Err(WorkspaceError::LeaseLost { branch: branch.clone() }),
        Some(Reading::Refused(reason)) => {
            let said = route.scrubbed(&crate::git::said(&finished));
            let reason = format!("{} ({said})", route.scrubbed(&reason));
            Err(WorkspaceError::PushRefused { branch: branch.clone(), reason })
        }
        Some(Reading::Done) | None => Err(failure("push to", &route, git_dir, &finished).into()),
    }
}

/// The report of git's porcelain about one ref.
#[derive(Debug, PartialEq, Eq)]
enum Reading {
    Done,
    Stale,
    Refused(String),
}

/// Reads a line `FLAG <tab> FROM:TO <tab> SUMMARY`, as `git push --porcelain` documents it.
fn reading(output: &str, full: &str) -> Option<Reading> {
    output.lines().find_map(|line| {
        let mut fields = line.split('\t');
        let (flag, names, summary) = (fields.next()?, fields.next()?, fields.next()?);
        let (_, to) = names.split_once(':')?;
        if to != full {
            return None;
        }
        match flag {
            " " | "+" | "*" | "=" => Some(Reading::Done),
            "!" if is_in_the_way(summary) => Some(Reading::Refused(summary.to_owned())),
            "!" if summary.contains("(stale info)") || summary.contains("(fetch first)") => Some(Reading::Stale),
            // The server's own compare-and-set: someone pushed between its advertisement and our update.
            "!" if summary.contains("failed to update ref")
                || summary.contains("cannot lock ref")
                || summary.contains("failed to lock")
                || summary.contains("incorrect old value") =>
            {
                Some(Reading::Stale)
            }
            // Neither side decided anything: the objects or the answer did not arrive whole.
            "!" if summary.contains("remote failure") || summary.contains("unpacker error") => None,
            "!" => Some(Reading::Refused(summary.to_owned())),
            _other => None,
        }
    })
}

/// Whether the server says that the name of another branch leaves no room for this one, as git itself and as GitHub do.
fn is_in_the_way(said: &str) -> bool {
    said.contains("exists; cannot create") || said.contains("refname conflict")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_porcelain_tells_a_lost_lease_from_a_refusal() {
        for (line, read) in [
            ("*\tabc:refs/heads/b\t[new branch]", Some(Reading::Done)),
            ("=\tabc:refs/heads/b\t[up to date]", Some(Reading::Done)),
            ("!\tabc:refs/heads/b\t[rejected] (stale info)", Some(Reading::Stale)),
            ("!\tabc:refs/heads/b\t[remote rejected] (cannot lock ref 'refs/heads/b')", Some(Reading::Stale)),
            (
                "!\tabc:refs/heads/b\t[remote rejected] (hook declined)",
                Some(Reading::Refused("[remote rejected] (hook declined)".into())),
            ),
            (
                "!\tabc:refs/heads/b\t[remote rejected] (cannot lock ref 'refs/heads/b': 'refs/heads/b/c' exists; cannot create \
                 'refs/heads/b')",
                Some(Reading::Refused(
                    "[remote rejected] (cannot lock ref 'refs/heads/b': 'refs/heads/b/c' exists; cannot create 'refs/heads/b')"
                        .into(),
                )),
            ),
            ("!\tabc:refs/heads/b\t[remote failure] (remote failed to report status)", None),
            ("!\tabc:refs/heads/b\t[remote rejected] (unpacker error)", None),
            ("*\tabc:refs/heads/other\t[new branch]", None),
            ("To https://h/a/b.git", None),
        ] {
            assert_eq!(reading(&format!("To x\n{line}\nDone\n"), "refs/heads/b"), read, "{line}");
        }
    }
}
