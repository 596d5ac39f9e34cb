//! The forge at one moment, kept under a name in its folder and restored later; and the forge as it was started.
//!
//! # Guarantees
//! Nothing is written while a snapshot is taken or restored: the answers before it are in it, and those after it are
//! not. A process that is killed while it restores one does so again at its next start.
//!
//! # Caveats
//! Ids keep growing, the clock goes on, and the log of requests stays. A fetch under way may fail.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use super::{
    forge::Forge,
    route::Route,
    seed::SeedError,
    sow::begin,
    state::State,
    state_file::{self, StateFileError},
    webhook_events,
};

/// Why a snapshot could not be taken or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// There is none of this name.
    #[error("no snapshot `{0}`")]
    Absent(String),
    /// The name is not valid for a snapshot.
    #[error("`{0}` names no snapshot: letters, digits, `-` and `_`")]
    Name(String),
    /// Its files cannot be read or written.
    #[error("copy the forge's files")]
    Io(#[from] io::Error),
    /// Its state cannot be read.
    #[error("load the snapshot's state")]
    State(#[from] StateFileError),
    /// The forge could not be seeded again.
    #[error("seed the forge again")]
    Seed(#[from] SeedError),
}

const STATE: &str = "state.jsonl";
const REPOSITORIES: &str = "repositories";
/// The file that says which snapshot is being restored.
const UNFINISHED: &str = "restoring";

/// Takes a snapshot; one of the same name is replaced.
pub(super) fn take(forge: &Forge, name: &str) -> Result<(), SnapshotError> {
    let (root, target) = (forge.git.folder(), folder(forge.git.folder(), name)?);
    let _still = forge.activity.blocking_write();
    let fresh = target.with_extension("new");
    remove(&fresh)?;
    fs::create_dir_all(&fresh)?;
    let whole = state_file::whole(forge.ids.load(Ordering::Relaxed), &forge.state())?;
    fs::write(fresh.join(STATE), whole)?;
    copy(&root.join(REPOSITORIES), &fresh.join(REPOSITORIES))?;
    remove(&target)?;
    Ok(fs::rename(fresh, target)?)
}

/// Restores a snapshot of the forge.
pub(super) fn restore(forge: &Forge, name: &str) -> Result<(), SnapshotError> {
    let (root, source) = (forge.git.folder(), folder(forge.git.folder(), name)?);
    if !source.exists() {
        return Err(SnapshotError::Absent(name.to_owned()));
    }
    let _still = forge.activity.blocking_write();
    let state = state_file::parse(&fs::read(source.join(STATE))?)?.map(|(_, state)| state).unwrap_or_default();
    fs::write(root.join(UNFINISHED), name)?;
    bring_back(root, &source)?;
    replace_state(forge, state)
}

/// Resets the forge to its start: its accounts and its seed.
pub(super) fn reset(forge: &Arc<Forge>, routes: &[&Route]) -> Result<(), SnapshotError> {
    {
        let _still = forge.activity.blocking_write();
        replace_state(forge, State::default())?;
        forge.git.sweep(&std::collections::BTreeSet::new())?;
    }
    forge.temper.calmly(|| begin(forge, routes))?;
    webhook_events::skip_existing(forge);
    Ok(())
}

/// Finishes what a killed process left undone: before the state is loaded.
pub(super) fn finish(root: &Path) -> io::Result<()> {
    match fs::read_to_string(root.join(UNFINISHED)) {
        Ok(name) => bring_back(root, &root.join("snapshots").join(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn replace_state(forge: &Forge, state: State) -> Result<(), SnapshotError> {
    *forge.state() = state;
    forge.store_whole()?;
    forge.meter.forget();
    forge.temper.forget();
    forge.points.forget();
    webhook_events::skip_existing(forge);
    Ok(())
}

fn bring_back(root: &Path, source: &Path) -> io::Result<()> {
    remove(&root.join(REPOSITORIES))?;
    copy(&source.join(REPOSITORIES), &root.join(REPOSITORIES))?;
    fs::copy(source.join(STATE), root.join("state.jsonl.new"))?;
    fs::rename(root.join("state.jsonl.new"), root.join(STATE))?;
    fs::remove_file(root.join(UNFINISHED))
}

/// The folder of a snapshot of this name.
fn folder(root: &Path, name: &str) -> Result<PathBuf, SnapshotError> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if plain { Ok(root.join("snapshots").join(name)) } else { Err(SnapshotError::Name(name.to_owned())) }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Copies a folder. Git's objects never change once they are written: they are linked.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else if source.components().any(|part| part.as_os_str() == "objects") {
            fs::hard_link(&source, &target).or_else(|_| fs::copy(&source, &target).map(|_| ()))?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
