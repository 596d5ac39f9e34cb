//! A mirror that already exists: worlds with the same first commit share one that was fetched once a process.

use std::{fs, io, path::Path};

use hob_config::child_environment;
use hob_workspace::{Leftover, Remote, Workspace};
use tokio::sync::OnceCell;

use super::{World, repo};

/// The mirror that others are copies of.
static FETCHED: OnceCell<tempfile::TempDir> = OnceCell::const_new();

/// The path of the mirror below a state folder.
const PLACE: &str = "acme/site/mirror.git";

impl World {
    /// Puts a mirror into a worker's state folder that has none. For worlds whose repositories begin alike, and before
    /// the forge fails.
    pub(crate) async fn plant_mirror(&self, name: &str) {
        let fetched = FETCHED.get_or_init(|| self.fetched()).await;
        let place = self.state_dir(name).join(PLACE);
        if !place.exists() {
            copy(&fetched.path().join(PLACE), &place).unwrap();
        }
    }

    async fn fetched(&self) -> tempfile::TempDir {
        let folder = tempfile::Builder::new().prefix("hob-mirror-").tempdir().unwrap();
        let remote = Remote::server(repo(), &self.forge.server_url(), Some("token-of-watch".to_owned().into()));
        let (remote, settings) = (remote.unwrap(), self.settings.workspace.clone());
        let workspace = Workspace::open(folder.path().to_owned(), settings, child_environment().into()).await.unwrap();
        let base = workspace.fetch(&remote, &"main".parse().unwrap()).await.unwrap();
        let branch = "hob/none".parse().unwrap();
        workspace.prepare(&remote, hob_domain::IssueNumber(1), &branch, &base, Leftover::Remove).await.unwrap();
        folder
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = (entry?, to.to_owned());
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
