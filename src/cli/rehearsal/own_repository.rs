//! A person's own repository, in a form that the embedded forge accepts: it reads the common kind, and others are
//! copied into one, by the git that reads them.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use hob_config::child_environment;
use hob_process::Program;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Writes the history of the ref `$3` of the repository `$1` into a new one, `$2`. Commits at the edge of a shallow
/// clone have no parents there, and object names may differ.
const COPY: &str = r#"git init -q --bare -b main "$2" && {
    git -c safe.directory='*' -c protocol.allow=never -C "$1" fast-export --signed-tags=strip --reencode=yes --refspec="$3:refs/heads/main" "$3" || echo abort
} | git -C "$2" fast-import --quiet"#;

/// A repository that can be imported; a copy is there as long as this is.
pub(super) struct OwnRepository {
    folder: PathBuf,
    _copy: Option<TempDir>,
}

impl OwnRepository {
    /// The repository that `folder` is in.
    ///
    /// # Errors
    /// If it is in none, it has no commit, or git cannot read it.
    pub(super) async fn find(folder: &Path) -> anyhow::Result<Self> {
        let top = match git(folder, &["rev-parse", "--show-toplevel"]).await {
            Ok(top) => PathBuf::from(top),
            // A bare one has no files.
            Err(_) => match git(folder, &["rev-parse", "--absolute-git-dir"]).await {
                Ok(bare) => PathBuf::from(bare),
                Err(said) => bail!("`{}` is not a git repository: {said}", folder.display()),
            },
        };
        if git(&top, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await.is_err() {
            bail!("`{}` is a git repository with no commit yet: commit what Hob is to work on", folder.display());
        }
        if is_plain(&top).await? {
            return Ok(Self { folder: top, _copy: None });
        }
        let scratch = tempfile::Builder::new().prefix("hob-rehearsal-").tempdir()?;
        let copy = scratch.path().join("copy.git");
        // A detached HEAD is copied as `HEAD`.
        let head = git(&top, &["symbolic-ref", "-q", "HEAD"]).await.unwrap_or_else(|_| "HEAD".to_owned());
        let program =
            Program::of_hob("sh", &child_environment()).args(["-c", COPY, "sh"]).arg(&top).arg(&copy).arg(head);
        let ended = program.deadline(std::time::Duration::from_secs(600)).run(&CancellationToken::new()).await?;
        if !ended.exit.is_success() || git(&copy, &["rev-parse", "--verify", "--quiet", "main"]).await.is_err() {
            bail!("`{}` cannot be copied by git: {}", folder.display(), ended.stderr.text().trim());
        }
        Ok(Self { folder: copy, _copy: Some(scratch) })
    }

    /// The folder to import.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Whether the forge can read it directly: SHA-1, refs in files, its whole history, and owned by this user.
async fn is_plain(folder: &Path) -> anyhow::Result<bool> {
    let format = git(folder, &["rev-parse", "--show-object-format", "--is-shallow-repository"]).await;
    // A git that does not know another format of refs has none.
    let refs = git(folder, &["rev-parse", "--show-ref-format"]).await;
    let git_folder = git(folder, &["rev-parse", "--absolute-git-dir"]).await?;
    let owner = |path: &Path| path.metadata().map(|found| found.uid()).context("read whose the repository is");
    let own = rustix::process::geteuid().as_raw();
    Ok(format.is_ok_and(|format| format == "sha1\nfalse")
        && !refs.is_ok_and(|format| format == "reftable")
        && owner(folder)? == own
        && owner(Path::new(&git_folder))? == own)
}

/// Repositories of others are read, too, and missing objects are never fetched from addresses that such a one names.
const OF_OTHERS: [&str; 4] = ["-c", "safe.directory=*", "-c", "protocol.allow=never"];

/// Git's output; or, on one line, its error.
async fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let program = Program::of_hob("git", &child_environment()).args(OF_OTHERS).arg("-C").arg(folder);
    let ended = program.args(arguments).run(&CancellationToken::new()).await?;
    if ended.exit.is_success() {
        return Ok(ended.stdout.text().trim_end().to_owned());
    }
    bail!("{}", ended.stderr.text().trim().replace('\n', "; "))
}
