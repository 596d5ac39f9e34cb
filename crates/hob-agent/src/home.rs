//! A home for one run: empty, outside the folder, removed afterwards.

use std::{
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use hob_process::{copy_tree, drop_in_background, remove_tree};
use tokio::task::spawn_blocking;

/// The committer for an agent that commits: its commits do not count, but git refuses to make them without a name.
const GIT: &str = "[user]\n\tname = agent\n\temail = agent@localhost\n";

/// The folder of temporary files, in a home.
const TEMPORARY: &str = "tmp";

/// A home. Dropping it removes it, without holding the runtime.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    folder: Option<Folder>,
}

/// A folder that the program may have filled in any way, which no library removes safely.
#[derive(Debug)]
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = remove_tree(&self.0) {
            tracing::warn!(%error, "the home of a run could not be removed: {error}");
        }
    }
}

impl Home {
    /// Makes one below `homes`, or in the system's temporary folder, with a copy of the folder `template`.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) async fn create(homes: Option<PathBuf>, template: Option<&Path>) -> io::Result<Self> {
        let template = template.map(Path::to_owned);
        spawn_blocking(move || Self::create_now(homes.as_deref(), template.as_deref())).await?
    }

    fn create_now(homes: Option<&Path>, template: Option<&Path>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("home-");
        let made = match homes {
            Some(homes) => {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(homes)?;
                builder.tempdir_in(homes)?
            }
            None => builder.tempdir()?,
        };
        let path = made.keep();
        let home = Self { folder: Some(Folder(path.clone())), path };
        hob_process::Folder::open(&home.path)?.makes(Path::new(TEMPORARY))?;
        write(&home.path, Path::new(".gitconfig"), GIT)?;
        if let Some(template) = template {
            copy_tree(template, &home.path)?;
        }
        Ok(home)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program's `TMPDIR`.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path().join(TEMPORARY)
    }

    /// Writes files of it, by their paths in it, which only the user can read.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) async fn write(&self, files: Vec<(PathBuf, String)>) -> io::Result<()> {
        let home = self.path.clone();
        spawn_blocking(move || files.iter().try_for_each(|(path, text)| write(&home, path, text))).await?
    }

    /// Removes it. Anything that cannot be removed is left to the system's clean-up of temporary files.
    pub(crate) async fn remove(mut self) {
        let folder = self.folder.take();
        spawn_blocking(move || drop(folder)).await.ok();
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop_in_background(self.folder.take());
    }
}

/// Files or links that set-up steps left in the home may be in the way.
fn write(home: &Path, path: &Path, text: &str) -> io::Result<()> {
    hob_process::Folder::open(home)?.writes(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// Attack corpus K145: a link in the home that set-up steps left leads outside, and Hob writes the agent's settings
    /// there.
    #[tokio::test]
    async fn no_link_in_a_prepared_home_leads_hobs_own_files_outside() {
        let place = tempfile::tempdir().unwrap();
        let (outside, template) = (place.path().join("outside"), place.path().join("template"));
        for folder in [&outside, &template] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(outside.join("kept"), "kept").unwrap();
        symlink(&outside, template.join(".config")).unwrap();
        symlink(outside.join("kept"), template.join(".settings.json")).unwrap();
        let home = Home::create(Some(place.path().join("homes")), Some(&template)).await.unwrap();
        let files = [".config/a/settings.json", ".settings.json"].map(|path| (path.into(), "own".to_owned()));
        home.write(files.to_vec()).await.unwrap();
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept");
        for path in [".config/a/settings.json", ".settings.json"] {
            assert_eq!(fs::read_to_string(home.path().join(path)).unwrap(), "own", "{path}");
        }
        home.remove().await;
    }
}
