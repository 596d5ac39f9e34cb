//! Writes one session: its transcript and its `session.json`.
//!
//! - Flow: adding an event queues it; a thread for blocking work writes the queue in order. [`Session::flush`] waits
//!   until all of it is written.
//! - Guarantees: adding an event never waits for the disk, and the queue is bounded. Events are written even if the
//!   session is dropped right afterwards: during a shut-down of the runtime, the dropping thread writes them.
//! - Caveats: known secrets are left out, so a resumed session does not have them. A killed process loses the events of
//!   its last moments.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use hob_text::KnownSecrets;
use serde::Serialize;
use tokio::{
    runtime::Handle,
    task::{JoinHandle, spawn_blocking},
};

use crate::session::{
    Header, Line, SessionError, SessionEvent, SessionRecord, SessionState, Transcript,
    lock::{is_held, lock},
    reader::read,
};

/// The transcript's name in a session's folder.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
/// The record's name beside it.
pub(super) const RECORD: &str = "session.json";
/// Bytes of a transcript that is resumed; a larger one stays as it is.
const SIZE_MAX: u64 = 64 << 20;
/// The most events that wait for the disk; a session whose disk is slower than that ends.
const QUEUE_MAX: usize = 10_000;

/// A session that can be written to from several places, or a placeholder if no session is kept.
#[derive(Debug, Clone, Default)]
pub struct Session(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    transcript: PathBuf,
    queue: Mutex<Queue>,
    /// Locked before the queue, never after it.
    writer: Mutex<Writer>,
}

#[derive(Debug, Default)]
struct Queue {
    lines: Vec<Line>,
    /// Whether a job is about to write them.
    in_hand: bool,
    /// The jobs that may still be at work, and hold the transcript's lock until they have ended.
    jobs: Vec<JoinHandle<()>>,
    /// Whether it was full once: a transcript with a gap would be wrong, a short one is not.
    overflowed: bool,
}

#[derive(Debug)]
struct Writer {
    /// `None` once it could not be written to: the session ends there, and the work continues.
    file: Option<File>,
    folder: PathBuf,
    record: SessionRecord,
    secrets: KnownSecrets,
}

impl Session {
    /// Makes the session in `folder`, or resumes the one that is there. A damaged tail is cut off, with a note.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when another process writes it, [`SessionError::Another`] when it is about something
    /// else, [`SessionError::TooLarge`], or an error of the disk.
    pub(super) fn open(folder: &Path, header: &Header, secrets: &KnownSecrets) -> Result<Self, SessionError> {
        let path = folder.join(TRANSCRIPT);
        let failed = |source| SessionError::File { path: path.clone(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path).map_err(failed)?;
        if !lock(&file).map_err(failed)? {
            return Err(SessionError::InUse(header.session.clone()));
        }
        let size = file.metadata().map_err(failed)?.len();
        if size > SIZE_MAX {
            return Err(SessionError::TooLarge { session: header.session.clone(), bytes: size });
        }
        let record = SessionRecord::new(header, now_ms());
        let (folder, secrets) = (folder.to_owned(), secrets.clone());
        let mut writer = Writer { file: Some(file), folder, record, secrets };
        if size == 0 {
            writer.append(header).and_then(|()| writer.save()).map_err(failed)?;
            return Ok(Self::new(writer));
        }
        let transcript = read(&path)?;
        if transcript.header != *header {
            return Err(SessionError::Another(header.session.clone()));
        }
        writer.record = SessionRecord::from_transcript(&transcript);
        if transcript.damaged > 0 {
            let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(transcript.whole));
            cut.map_err(failed)?;
            let text = format!("{} damaged bytes at the end were cut off", transcript.damaged);
            writer.add(&Line { at_ms: now_ms(), event: SessionEvent::Noted { text } });
        }
        Ok(Self::new(writer))
    }

    fn new(writer: Writer) -> Self {
        let transcript = writer.folder.join(TRANSCRIPT);
        Self(Some(Arc::new(Shared { transcript, queue: Mutex::default(), writer: Mutex::new(writer) })))
    }

    /// Adds an event. If it cannot be written, the session ends there, with a warning, and the run continues: the work
    /// is worth more than its record.
    pub fn add(&self, event: SessionEvent) {
        let Some(shared) = &self.0 else { return };
        let line = Line { at_ms: now_ms(), event };
        if !shared.queue().push(line) {
            return;
        }
        let work = WriteOnDrop(Arc::clone(shared));
        if let Ok(runtime) = Handle::try_current() {
            let job = runtime.spawn_blocking(|| drop(work));
            shared.queue().jobs.push(job);
        }
    }

    /// Waits until everything that was added is written.
    pub async fn flush(&self) {
        let jobs = self.0.as_ref().map(|shared| std::mem::take(&mut shared.queue().jobs));
        for job in jobs.into_iter().flatten() {
            // It cannot fail: a job that is not run is dropped, and that writes too.
            job.await.ok();
        }
    }

    /// Its folder, and the secrets that nothing in it may contain; `None` if no session is kept.
    pub(super) fn place(&self) -> Option<(PathBuf, KnownSecrets)> {
        let writer = self.0.as_ref()?.writer.lock().unwrap_or_else(PoisonError::into_inner);
        Some((writer.folder.clone(), writer.secrets.clone()))
    }

    /// The events so far; `None` if no session is kept, or it cannot be read.
    pub async fn transcript(&self) -> Option<Transcript> {
        self.flush().await;
        let path = self.0.as_ref()?.transcript.clone();
        let transcript = spawn_blocking(move || read(&path)).await.ok()?;
        if let Err(error) = &transcript {
            tracing::warn!(%error, "the session cannot be resumed: {error}");
        }
        transcript.ok()
    }
}

impl Queue {
    /// Adds a line; returns whether the caller must see to it that it is written.
    fn push(&mut self, line: Line) -> bool {
        if self.lines.len() >= QUEUE_MAX && !self.overflowed {
            self.overflowed = true;
            tracing::warn!("a session ends early: {QUEUE_MAX} events wait for the disk");
        }
        if self.overflowed {
            return false;
        }
        self.lines.push(line);
        self.jobs.retain(|job| !job.is_finished());
        !std::mem::replace(&mut self.in_hand, true)
    }

    fn take(&mut self) -> Vec<Line> {
        self.in_hand = !self.lines.is_empty();
        std::mem::take(&mut self.lines)
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the queue when it is dropped: a runtime that is shutting down drops the blocking work it is given.
struct WriteOnDrop(Arc<Shared>);

impl Drop for WriteOnDrop {
    fn drop(&mut self) {
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let lines = self.0.queue().take();
            if lines.is_empty() {
                return;
            }
            for line in &lines {
                writer.add(line);
            }
        }
    }
}

impl Writer {
    fn add(&mut self, line: &Line) {
        if self.file.is_none() {
            return;
        }
        let changed = self.record.see(line);
        if let Err(error) = self.append(line).and_then(|()| if changed { self.save() } else { Ok(()) }) {
            tracing::warn!(session = %self.record.id, %error, "the session ends early: {error}");
            self.file = None;
        }
    }

    fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = self.secrets.redaction().text(&serde_json::to_string(line)?).into_owned();
        text.push('\n');
        // One call a line: a process that dies leaves whole lines and one cut tail at most.
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }

    fn save(&self) -> io::Result<()> {
        save(&self.folder, &self.record, &self.secrets)
    }
}

/// Replaces the record as a whole: a reader sees the old one or the new one.
pub(super) fn save(folder: &Path, record: &SessionRecord, secrets: &KnownSecrets) -> io::Result<()> {
    let new = folder.join("session.json.new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    let text = serde_json::to_string_pretty(record)?;
    file.write_all(secrets.redaction().text(&text).as_bytes())?;
    fs::rename(new, folder.join(RECORD))
}

/// The current record of the session in `folder`; `None` if there is no readable session.
pub(super) fn record(folder: &Path) -> Option<SessionRecord> {
    let path = folder.join(TRANSCRIPT);
    let text = fs::read(folder.join(RECORD)).unwrap_or_default();
    let known = serde_json::from_slice::<SessionRecord>(&text).ok().filter(SessionRecord::is_settled);
    // The transcript has everything, also what happened since the record was written; reading it only takes longer.
    let mut record =
        known.or_else(|| read(&path).ok().map(|transcript| SessionRecord::from_transcript(&transcript)))?;
    if record.state == SessionState::Running && !is_held(&path) {
        record.state = SessionState::Interrupted;
    }
    Some(record)
}

/// This machine's clock.
#[expect(clippy::disallowed_methods, reason = "a session records when something happened; nothing is decided by it")]
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn session(folder: &Path) -> Session {
        let header = Header {
            transcript: crate::session::VERSION,
            session: "s".into(),
            repo: "acme/site".parse().unwrap(),
            issue: "7".parse().unwrap(),
            agent: "native".to_owned(),
        };
        Session::open(folder, &header, &KnownSecrets::default()).unwrap()
    }

    fn noted(folder: &Path) -> usize {
        read(&folder.join(TRANSCRIPT)).unwrap().lines.len()
    }

    fn note(text: &str) -> SessionEvent {
        SessionEvent::Noted { text: text.to_owned() }
    }

    #[test]
    fn a_transcript_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join("s");
        let session = session(&sessions);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&sessions), mode(&sessions.join(TRANSCRIPT))), (0o700, 0o600));
        drop(session);
    }

    #[test]
    fn an_event_is_added_without_waiting_for_the_disk_and_a_flush_waits() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let session = session(folder.path());
            // While the only blocking thread is held, nothing can write but `add` itself.
            let (release, held) = std::sync::mpsc::channel::<()>();
            let holds = spawn_blocking(move || held.recv());
            session.add(note("one"));
            session.add(note("two"));
            assert_eq!(noted(folder.path()), 0);
            drop(release);
            session.flush().await;
            assert_eq!(noted(folder.path()), 2);
            holds.await.unwrap().unwrap_err();
            // After a flush it can be opened again: nothing else holds its lock.
            drop(session);
            assert!(!is_held(&folder.path().join(TRANSCRIPT)));
        });
    }

    #[test]
    fn what_was_added_is_written_when_the_runtime_ends_and_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path());
        session.add(note("without a runtime"));
        assert_eq!(noted(folder.path()), 1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { session.add(note("at the end")) });
        drop(runtime);
        assert_eq!(noted(folder.path()), 2);
    }
}
