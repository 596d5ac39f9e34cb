//! All sessions of a state folder: one folder each.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use hob_config::StateSettings;
use hob_domain::{IssueNumber, LastLines, RepoName, RunId, investigation::Investigation};
use hob_text::KnownSecrets;

use crate::session::{
    Header, Session, SessionError, SessionRecord, Transcript,
    attachment::read_investigation,
    lock::{is_held, wait_for_release},
    reader::read,
    writer::{RECORD, TRANSCRIPT, now_ms, record, save},
};

/// The file in a session's folder that asks its run to stop.
const STOP: &str = "stop";
/// How often old sessions are pruned: that reads the age and size of all of them.
const PRUNES_EVERY: Duration = Duration::from_secs(3_600);

/// The sessions of a state folder. All of its methods block on files: async code calls them on a thread for blocking
/// work.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
    keep: StateSettings,
    /// The secrets that no session may contain.
    secrets: KnownSecrets,
    /// When old ones were last looked for.
    pruned: Arc<Mutex<Option<Instant>>>,
}

impl Sessions {
    /// The sessions in `folder`, which must be outside of what an agent can write; `keep` sets how long they are kept.
    pub fn new(folder: PathBuf, keep: StateSettings) -> Self {
        Self { folder, keep, secrets: KnownSecrets::default(), pruned: Arc::default() }
    }

    /// The same sessions, written without these secrets.
    #[must_use]
    pub fn without(self, secrets: KnownSecrets) -> Self {
        Self { secrets, ..self }
    }

    /// Makes the session `header.session`, or resumes it; a damaged tail is cut off. Removes old sessions, unless that
    /// was done within the last hour.
    ///
    /// # Errors
    /// [`SessionError`] if it belongs to something else, another process has it, or the disk fails.
    pub fn open(&self, header: &Header) -> Result<Session, SessionError> {
        let session = Session::open(&self.place(&header.session)?, header, &self.secrets)?;
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        if pruned.is_none_or(|last| last.elapsed() >= PRUNES_EVERY) {
            *pruned = Some(Instant::now());
            self.prune();
        }
        Ok(session)
    }

    /// The record of one session; `None` if it does not exist.
    pub fn record(&self, id: &RunId) -> Option<SessionRecord> {
        record(&self.place(id).ok()?)
    }

    /// The record of one session to resume: if its writer was dropped just now, waits for its last events.
    pub fn record_to_resume(&self, id: &RunId) -> Option<SessionRecord> {
        let folder = self.place(id).ok()?;
        wait_for_release(&folder.join(TRANSCRIPT));
        record(&folder)
    }

    /// Notes which checks failed on the work of a session's last run. A later run is about other work, and clears them.
    ///
    /// # Errors
    /// [`SessionError`] if there is no such session, or the disk fails.
    pub fn note_failed_checks(&self, id: &RunId, failed: Vec<LastLines>) -> Result<(), SessionError> {
        let folder = self.place(id)?;
        let mut record =
            self.record_to_resume(id).ok_or_else(|| SessionError::NotFound(format!("no session `{id}`")))?;
        if record.failed_checks == failed {
            return Ok(());
        }
        record.failed_checks = failed;
        save(&folder, &record, &self.secrets).map_err(|source| SessionError::File { path: RECORD.into(), source })
    }

    /// Asks the process that runs the session to stop in order.
    ///
    /// # Errors
    /// [`SessionError`] if the disk fails.
    pub fn ask_to_stop(&self, id: &RunId) -> Result<(), SessionError> {
        let path = self.place(id)?.join(STOP);
        fs::write(&path, "").map_err(|source| SessionError::File { path, source })
    }

    /// Whether the session was asked to stop.
    pub fn is_asked_to_stop(&self, id: &RunId) -> bool {
        self.place(id).is_ok_and(|folder| folder.join(STOP).exists())
    }

    /// Forgets it: the run has stopped, or another begins.
    pub fn forget_to_stop(&self, id: &RunId) {
        if let Ok(folder) = self.place(id) {
            // Usually there is none.
            fs::remove_file(folder.join(STOP)).ok();
        }
    }

    /// The records of all sessions, the most recently changed first.
    pub fn list(&self) -> Vec<SessionRecord> {
        let mut records: Vec<_> = self.folders().iter().filter_map(|folder| record(folder)).collect();
        records.sort_by(|a, b| (b.updated_ms, &b.id).cmp(&(a.updated_ms, &a.id)));
        records
    }

    /// The one session that `text` means: an id, the beginning of one, or an issue's number, which means its last
    /// session.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] if there is none, or more than one.
    pub fn find(&self, text: &str, repo: Option<&RepoName>) -> Result<SessionRecord, SessionError> {
        let mut records = self.list();
        // A whole id is unambiguous, also of an investigation of files, which has no repository.
        if let Some(at) = records.iter().position(|record| record.id.as_str() == text) {
            return Ok(records.swap_remove(at));
        }
        records.retain(|record| repo.is_none_or(|repo| record.repo == *repo));
        if let Ok(issue) = text.parse::<IssueNumber>() {
            records.retain(|record| record.issue == issue);
            let repos: std::collections::BTreeSet<_> = records.iter().map(|record| &record.repo).collect();
            if repos.len() > 1 {
                let names: Vec<_> = repos.into_iter().map(ToString::to_string).collect();
                return Err(SessionError::NotFound(format!(
                    "issue {issue} has sessions in {}\nhint: choose one with `--repo`",
                    names.join(" and ")
                )));
            }
            let none = || SessionError::NotFound(format!("issue {issue} has no session on this machine"));
            return records.into_iter().next().ok_or_else(none);
        }
        records.retain(|record| record.id.as_str().starts_with(text));
        match records.len() {
            1 => Ok(records.swap_remove(0)),
            0 => Err(SessionError::NotFound(format!(
                "no session `{text}` on this machine\nhint: `hob session list` lists them"
            ))),
            many => {
                Err(SessionError::NotFound(format!("{many} sessions begin with `{text}`\nhint: write more of the id")))
            }
        }
    }

    /// The events of a session.
    ///
    /// # Errors
    /// [`SessionError`] if there is none that can be read.
    pub fn read(&self, id: &RunId) -> Result<Transcript, SessionError> {
        read(&self.transcript(id)?)
    }

    /// The current record of a session's investigation; `None` if the session is not an investigation's.
    ///
    /// # Errors
    /// [`SessionError::Damaged`] if it cannot be read.
    pub fn investigation(&self, id: &RunId) -> Result<Option<Investigation>, SessionError> {
        Ok(read_investigation(&self.place(id)?)?)
    }

    /// The path of a session's transcript.
    ///
    /// # Errors
    /// [`SessionError::Name`] if the id cannot name a folder.
    pub fn transcript(&self, id: &RunId) -> Result<PathBuf, SessionError> {
        Ok(self.place(id)?.join(TRANSCRIPT))
    }

    /// Removes sessions that are too old, then the oldest until the rest is small enough. One that is being written
    /// stays. Failed removals are left to the next time.
    fn prune(&self) {
        let mut kept = Vec::new();
        let mut total = 0;
        let oldest = SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms()).saturating_sub(self.keep.keep);
        for folder in self.folders() {
            let transcript = folder.join(TRANSCRIPT);
            let Ok(found) = fs::metadata(&transcript) else { continue };
            let changed = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if changed < oldest && !is_held(&transcript) {
                remove(&folder);
                continue;
            }
            let bytes = bytes_in(&folder);
            total += bytes;
            kept.push((changed, bytes, folder, transcript));
        }
        kept.sort();
        for (_, bytes, folder, transcript) in kept {
            if total <= self.keep.sessions {
                return;
            }
            if !is_held(&transcript) {
                remove(&folder);
                total -= bytes;
            }
        }
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    fn place(&self, id: &RunId) -> Result<PathBuf, SessionError> {
        let id = id.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > 200 || id.starts_with('.') || !id.chars().all(plain) {
            return Err(SessionError::Name(id.to_owned()));
        }
        Ok(self.folder.join(id))
    }
}

/// Bytes of a session's files.
fn bytes_in(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!(folder = %folder.display(), %error, "an old session could not be removed: {error}");
    }
}
