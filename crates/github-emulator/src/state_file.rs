//! The file that stores the state, for a server with a data folder: a line for each change.
//!
//! # Flow
//! The first line has the format's version, each other line is a change with the next free id. A write to the forge is
//! answered after its line is in the file. A file that has grown well beyond its state is rewritten, as one change, and
//! replaces the old one by a rename. Loading repeats the changes in order.
//!
//! # Guarantees
//! A process that is killed at any moment loses no answered write: an incomplete line belongs to none, and the next
//! start drops it. Git's own data is on disk before the line. One process at a time has the folder: `lock` in it is
//! locked.
//!
//! # Caveats
//! A loss of power may lose answered writes: nothing is flushed to the device.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::state::{Delta, IssueState, State};

/// The version of the file's format. Version 1 was one JSON document.
const VERSION: u32 = 2;
/// The file is rewritten when it has grown by this much, and to twice the size that it had at the last rewrite.
const GROWTH_MIN: u64 = 4 << 20;

/// Why a stored state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file cannot be read or written.
    #[error("read the stored state")]
    Io(#[from] io::Error),
    /// The file does not have this version's format.
    #[error("parse line {line} of the stored state")]
    Json {
        /// The number of the line, from 1.
        line: usize,
        /// The problem with it.
        source: serde_json::Error,
    },
    /// The file is of another version.
    #[error("the stored state has version {0}, and this program reads {VERSION}: start with an empty folder")]
    Version(u32),
    /// Another process has the folder.
    #[error("another process uses this folder")]
    InUse,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
}

/// A line: a change, and the next free id after it.
#[derive(Debug, Serialize, Deserialize)]
struct Line<'s> {
    next_id: u64,
    delta: Delta<'s>,
}

/// The file the state is stored in. One caller at a time has it.
#[derive(Debug)]
pub(super) struct StateFile(Mutex<Option<Open>>);

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    /// The length of the file, whole lines only.
    length: u64,
    /// Its length when it was last rewritten.
    base: u64,
    /// Lines that could not be written yet.
    pending: Vec<u8>,
    lock: File,
}

impl Drop for Open {
    fn drop(&mut self) {
        // Closing the file would not suffice: a child that is just starting may still have a copy of it.
        self.lock.unlock().ok();
    }
}

impl StateFile {
    /// Takes `folder`, lets `prepare` finish what a killed process left in it, opens the file there, and loads the next
    /// id and the state; `None` if nothing has been stored yet.
    pub(super) fn open(
        folder: &Path,
        prepare: impl FnOnce() -> io::Result<()>,
    ) -> Result<(Self, Option<(u64, State)>), StateFileError> {
        fs::create_dir_all(folder)?;
        let lock = OpenOptions::new().create(true).append(true).open(folder.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateFileError::InUse),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        refuse_version_1(folder)?;
        prepare()?;
        let path = folder.join("state.jsonl");
        let (state, length) = match fs::read(&path) {
            Ok(bytes) => load(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, 0),
            Err(error) => return Err(error.into()),
        };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        file.set_len(length)?;
        let mut open = Open { path, file, length, base: length, pending: Vec::new(), lock };
        if length == 0 {
            open.pending = line(&Header { version: VERSION })?;
            open.flush()?;
        }
        Ok((Self(Mutex::new(Some(open))), state))
    }

    /// Stores the changes of the state since the last call.
    ///
    /// # Errors
    /// If it cannot be written now; the next call tries again.
    pub(super) fn save(&self, next_id: impl Fn() -> u64, state: &Mutex<State>) -> io::Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = held.as_mut().ok_or_else(|| io::Error::other("the forge has been stopped"))?;
        {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let delta = state.take_changes()?;
            if !delta.is_empty() {
                // Every id in the change is below this one: they were drawn before.
                open.pending.extend(line(&Line { next_id: next_id(), delta })?);
            }
        }
        open.flush()?;
        if open.length > open.base.saturating_mul(2) && open.length > open.base + GROWTH_MIN {
            let whole = whole(next_id(), &state.lock().unwrap_or_else(PoisonError::into_inner))?;
            open.replace(&whole)?;
        }
        Ok(())
    }

    /// Rewrites the file with this state.
    pub(super) fn replace(&self, next_id: u64, state: &State) -> io::Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = held.as_mut().ok_or_else(|| io::Error::other("the forge has been stopped"))?;
        open.pending.clear();
        open.replace(&whole(next_id, state)?)
    }

    /// Lets go of the file and its folder: nothing is stored from now on.
    pub(super) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Open {
    /// Writes the pending lines at the end of the whole lines, over the remains of an earlier try.
    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.pending, self.length)?;
        self.length += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn replace(&mut self, whole: &[u8]) -> io::Result<()> {
        let fresh = self.path.with_extension("jsonl.new");
        let file = File::create(&fresh)?;
        file.write_all_at(whole, 0)?;
        fs::rename(fresh, &self.path)?;
        (self.file, self.length) = (file, whole.len() as u64);
        self.base = self.length;
        Ok(())
    }
}

/// The whole file of this state.
pub(super) fn whole(next_id: u64, state: &State) -> io::Result<Vec<u8>> {
    let mut bytes = line(&Header { version: VERSION })?;
    bytes.extend(line(&Line { next_id, delta: state.as_changes()? })?);
    Ok(bytes)
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The state that the lines lead to, with its next id; and the length of the whole lines.
fn load(bytes: &[u8]) -> Result<(Option<(u64, State)>, u64), StateFileError> {
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = bytes.get(..length).unwrap_or_default().split_inclusive(|byte| *byte == b'\n').enumerate();
    let Some((_, header)) = lines.next() else { return Ok((None, 0)) };
    let broken = |line: usize| move |source| StateFileError::Json { line: line + 1, source };
    let header: Header = serde_json::from_slice(header).map_err(broken(0))?;
    if header.version != VERSION {
        return Err(StateFileError::Version(header.version));
    }
    let mut loaded = None;
    for (number, text) in lines {
        let line: Line<'_> = serde_json::from_slice(text).map_err(broken(number))?;
        let (next_id, state): &mut (u64, State) = loaded.get_or_insert_default();
        *next_id = line.next_id;
        state.replay(line.delta).map_err(broken(number))?;
    }
    Ok((loaded, length as u64))
}

/// The next id and the state that such a file holds.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(u64, State)>, StateFileError> {
    load(bytes).map(|(state, _)| state)
}

/// Refuses the file of the previous format, rather than starting over beside it.
fn refuse_version_1(folder: &Path) -> Result<(), StateFileError> {
    if folder.join("state.json").exists() { Err(StateFileError::Version(1)) } else { Ok(()) }
}

/// Sets the commits of open pull requests to the tips of their branches: a push may have moved a branch just before the
/// process ended, without a stored state after it.
pub(super) fn realign(state: &mut State, tip: impl Fn(u64, &str) -> Option<String>) {
    for id in state.repositories.ids().collect::<Vec<_>>() {
        let Some(repo) = state.repositories.by_id_mut(id) else { continue };
        repo.issues.edit(
            |issue| issue.state == IssueState::Open && issue.pull.is_some(),
            |issue| {
                if let Some(pull) = issue.pull.as_mut() {
                    pull.head_sha = tip(id, &pull.head_ref).unwrap_or_else(|| pull.head_sha.clone());
                    pull.base_sha = tip(id, &pull.base_ref).unwrap_or_else(|| pull.base_sha.clone());
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        names::{Login, Timestamp},
        state::Account,
        users::{AccountKind, Role},
    };

    fn add(state: &Mutex<State>, login: &str) {
        let login = Login(login.to_owned());
        let account = Account {
            id: 1,
            login,
            role: Role::Read,
            kind: AccountKind::User,
            created_at: Timestamp::MIN_UTC,
            signing_keys: Vec::new(),
        };
        state.lock().unwrap().accounts.put(account);
    }

    fn logins(folder: &Path) -> Vec<String> {
        let (_, loaded) = StateFile::open(folder, || Ok(())).unwrap();
        loaded.unwrap().1.accounts.all().map(|account| account.login.to_string()).collect()
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let state = Mutex::new(State::default());
        let (file, loaded) = StateFile::open(folder.path(), || Ok(())).unwrap();
        assert!(loaded.is_none());
        add(&state, "ann");
        file.save(|| 7, &state).unwrap();
        drop(file);
        let path = folder.path().join("state.jsonl");
        let whole = fs::read(&path).unwrap();
        for cut in 0..40 {
            fs::write(&path, [&whole[..], &whole[whole.len() - 60..][..cut]].concat()).unwrap();
            let (file, loaded) = StateFile::open(folder.path(), || Ok(())).unwrap();
            let (next_id, loaded) = loaded.unwrap();
            assert_eq!(next_id, 7);
            let loaded = Mutex::new(loaded);
            add(&loaded, "bob");
            file.save(|| 8, &loaded).unwrap();
            drop(file);
            assert_eq!(logins(folder.path()), ["ann", "bob"], "{cut}");
        }
    }

    #[test]
    fn a_file_written_anew_holds_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let state = Mutex::new(State::default());
        let (file, _) = StateFile::open(folder.path(), || Ok(())).unwrap();
        add(&state, "ann");
        file.replace(5, &state.lock().unwrap()).unwrap();
        add(&state, "bob");
        file.save(|| 6, &state).unwrap();
        drop(file);
        assert_eq!(logins(folder.path()), ["ann", "bob"]);
    }

    #[test]
    fn a_folder_has_one_process_and_one_version() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = StateFile::open(folder.path(), || Ok(())).unwrap();
        assert!(matches!(StateFile::open(folder.path(), || Ok(())), Err(StateFileError::InUse)));
        // As a child has it between its fork and its exec.
        let copy = file.0.lock().unwrap().as_ref().unwrap().lock.try_clone().unwrap();
        file.close();
        assert!(StateFile::open(folder.path(), || Ok(())).is_ok());
        drop(copy);
        fs::write(folder.path().join("state.json"), "{}").unwrap();
        assert!(matches!(StateFile::open(folder.path(), || Ok(())), Err(StateFileError::Version(1))));
    }
}
