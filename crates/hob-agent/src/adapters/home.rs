//! A home of its own for one run: empty, outside the folder, gone afterwards.

use std::{
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// Who commits, for an agent that does: its commits do not count, but git refuses to make them without a name.
const GIT: &str = "[user]\n\tname = agent\n\temail = agent@localhost\n";

/// A home. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Home(TempDir);

impl Home {
    /// Makes one below `homes`, or where temporary files are.
    ///
    /// # Errors
    /// What the system said.
    pub(super) fn create(homes: Option<&Path>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("home-");
        let made = match homes {
            Some(homes) => {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(homes)?;
                builder.tempdir_in(homes)?
            }
            None => builder.tempdir()?,
        };
        let home = Self(made);
        std::fs::create_dir(home.temporary())?;
        home.write(Path::new(".gitconfig"), GIT)?;
        Ok(home)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the program's temporary files go.
    pub(super) fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Writes a file of it, which only the user can read.
    ///
    /// # Errors
    /// What the system said.
    pub(super) fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        use std::{io::Write, os::unix::fs::OpenOptionsExt};
        let path = self.path().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    }

    /// Removes it. What cannot be removed is left: the next start of the machine's clean-up finds it.
    pub(super) async fn remove(self) {
        let removed = tokio::task::spawn_blocking(move || self.0.close()).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%error, "the home of a run could not be removed: {error}");
        }
    }
}
