//! The files of an image as the root of one trial's boxes.
//!
//! The image's `WORKDIR` is moved out of them and shown in its place, so that it is the agent's folder as in any other trial.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use hob_process::{Environment, Folder};
use tokio_util::sync::CancellationToken;

use crate::{
    Engine, EvalError,
    engine::{Image, Wanted},
    place::OwnPlace,
    task::with_path,
};

/// Folders that programs of any image expect: of its temporary files, and of its user.
const EXPECTED: [&str; 2] = ["tmp", "root"];
/// What an engine would mount for the names of hosts, and what this machine's resolver reads.
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";
const RESOLVER: &str = "/etc/resolv.conf";
/// Variables of an image that say nothing of what is in it.
const NOT_ITS: [&str; 2] = ["HOME", "HOSTNAME"];

/// The files.
#[derive(Debug)]
pub(crate) struct ImageRoot {
    /// Where they are.
    pub(crate) root: PathBuf,
    /// Where the agent's folder is shown in them.
    pub(crate) workdir: PathBuf,
    environment: BTreeMap<String, String>,
}

impl ImageRoot {
    /// Has `engine` make the image that `task` wants, and puts its files in `place`.
    pub(crate) async fn make(
        engine: &Engine,
        task: &str,
        wanted: &Wanted,
        place: &OwnPlace,
        cancel: &CancellationToken,
    ) -> Result<Self, EvalError> {
        let Image { id, workdir, environment } = engine.image(task, wanted, place.path(), cancel).await?;
        let root = place.root();
        fs::create_dir(&root).map_err(EvalError::at("make", &root))?;
        engine.export(&id, &root, &place.path().join("root.tar"), cancel).await?;
        let workdir = wanted.workdir.clone().unwrap_or(workdir);
        take_out(&root, &workdir, &place.work())?;
        complete(&root).map_err(EvalError::at("write in", &root))?;
        Ok(Self { root, workdir, environment })
    }

    /// The variables of the image and those of its task.
    pub(crate) fn variables(&self, task: &BTreeMap<String, String>) -> Environment {
        let path = self.environment.get("PATH").map(String::as_str).unwrap_or_default();
        let own = self.environment.iter().filter(|(name, _)| !NOT_ITS.contains(&name.as_str()));
        let own = own.map(|(name, value)| (name.into(), value.into()));
        own.chain(task.iter().map(|(name, value)| (name.into(), with_path(value, path).into()))).collect()
    }
}

/// Moves the folder `workdir` of the files below `root` to `work`; one that is not there is made.
fn take_out(root: &Path, workdir: &Path, work: &Path) -> Result<(), EvalError> {
    let names: Vec<_> = workdir.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    if names.is_empty() {
        return Err(EvalError::Unfit("its image names no `WORKDIR`, and its task no `environment.workdir`".to_owned()));
    }
    let mut inside = root.to_owned();
    for name in names {
        inside.push(name);
        match inside.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Err(_) => fs::create_dir(&inside).map_err(EvalError::at("make", &inside))?,
            Ok(_) => {
                let place = Path::new("/").join(inside.strip_prefix(root).unwrap_or(&inside));
                let why = format!("its `WORKDIR` leads through `{}`, which is not a folder", place.display());
                return Err(EvalError::Unfit(why));
            }
        }
    }
    fs::rename(&inside, work).map_err(EvalError::at("move", &inside))?;
    fs::create_dir(&inside).map_err(EvalError::at("make", inside))
}

/// Adds what an engine adds when it starts a container.
fn complete(root: &Path) -> std::io::Result<()> {
    let root = Folder::open(root)?;
    for name in EXPECTED {
        root.makes(Path::new(name))?;
    }
    root.writes(Path::new("etc/hosts"), HOSTS.as_bytes())?;
    match fs::read(RESOLVER) {
        Ok(resolver) => root.writes(Path::new("etc/resolv.conf"), &resolver),
        // A machine without one has no network to offer.
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_folder_is_taken_out_of_the_files_and_no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let (root, work) = (place.path().join("root"), place.path().join("work"));
        fs::create_dir_all(root.join("srv/app")).unwrap();
        fs::write(root.join("srv/app/a"), "1").unwrap();
        symlink("/srv", root.join("linked")).unwrap();
        let said = take_out(&root, Path::new("/linked/app"), &work).unwrap_err().to_string();
        assert!(said.contains("`/linked`, which is not a folder"), "{said}");
        assert!(take_out(&root, Path::new("/"), &work).unwrap_err().to_string().contains("no `WORKDIR`"));
        take_out(&root, Path::new("/srv/app"), &work).unwrap();
        assert!(work.join("a").is_file() && fs::read_dir(root.join("srv/app")).unwrap().count() == 0);
        symlink("/etc", root.join("tmp")).unwrap();
        complete(&root).unwrap();
        assert!(root.join("tmp").symlink_metadata().unwrap().is_dir());
        assert_eq!(fs::read_to_string(root.join("etc/hosts")).unwrap(), HOSTS);
    }
}
