//! Writes one session: its transcript and its `session.json`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use serde::Serialize;

use crate::session::{
    Event, Header, Line, SessionError, SessionRecord, SessionState, Transcript,
    lock::{is_held, lock},
    reader::read,
};

/// The transcript's name in a session's folder.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";
/// The record's name beside it.
pub(super) const RECORD: &str = "session.json";
/// Bytes of a transcript that is gone on with; a larger one stays as it is.
const SIZE_MAX: u64 = 64 << 20;

/// A session that can be written to, from several places; or none, where none is kept.
#[derive(Debug, Clone, Default)]
pub struct Session(Option<Arc<Mutex<Writer>>>);

#[derive(Debug)]
struct Writer {
    /// None once it could not be written to: the session ends there, and the work goes on.
    file: Option<File>,
    folder: PathBuf,
    record: SessionRecord,
}

impl Session {
    /// Makes the session in `folder`, or goes on with the one that is there. A damaged tail is cut off, with a note.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when another process writes it, [`SessionError::Another`] when it is about something
    /// else, [`SessionError::TooLarge`], or what the disk says.
    pub(super) fn open(folder: &Path, header: &Header) -> Result<Self, SessionError> {
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
        let mut writer = Writer { file: Some(file), folder: folder.to_owned(), record };
        if size == 0 {
            writer.append(header).and_then(|()| writer.save()).map_err(failed)?;
            return Ok(Self(Some(Arc::new(Mutex::new(writer)))));
        }
        let transcript = read(&path)?;
        if transcript.header != *header {
            return Err(SessionError::Another(header.session.clone()));
        }
        writer.record = SessionRecord::of(&transcript);
        let session = Self(Some(Arc::new(Mutex::new(writer))));
        if transcript.damaged > 0 {
            let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(transcript.whole));
            cut.map_err(failed)?;
            let text = format!("{} damaged bytes at the end were cut off", transcript.damaged);
            session.add(Event::Noted { text });
        }
        Ok(session)
    }

    /// Adds an event. When that fails, the session ends there, with a warning, and the run goes on: the work is worth
    /// more than its record.
    pub fn add(&self, event: Event) {
        let Some(writer) = &self.0 else { return };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writer.add(event) {
            tracing::warn!(session = %writer.record.id, %error, "the session ends early: {error}");
            writer.file = None;
        }
    }

    /// What happened so far; none where no session is kept, or it cannot be read.
    pub fn transcript(&self) -> Option<Transcript> {
        let path = {
            let writer = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
            writer.folder.join(TRANSCRIPT)
        };
        let transcript = read(&path);
        if let Err(error) = &transcript {
            tracing::warn!(%error, "the session cannot be gone on with: {error}");
        }
        transcript.ok()
    }
}

impl Writer {
    fn add(&mut self, event: Event) -> io::Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let line = Line { at_ms: now_ms(), event };
        self.append(&line)?;
        if self.record.see(&line) { self.save() } else { Ok(()) }
    }

    fn append(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        // One call a line: a process that dies leaves whole lines and one cut tail at most.
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(&bytes))
    }

    /// Replaces the record as a whole: a reader sees the old one or the new one.
    fn save(&self) -> io::Result<()> {
        let new = self.folder.join("session.json.new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&self.record)?)?;
        fs::rename(new, self.folder.join(RECORD))
    }
}

/// The record of the session in `folder`, as it stands now; none where there is no session that can be read.
pub(super) fn record(folder: &Path) -> Option<SessionRecord> {
    let path = folder.join(TRANSCRIPT);
    let text = fs::read(folder.join(RECORD)).unwrap_or_default();
    let known = serde_json::from_slice::<SessionRecord>(&text).ok().filter(SessionRecord::is_settled);
    // The transcript says it all, also what happened since the record was written; it only takes longer.
    let mut record = known.or_else(|| read(&path).ok().map(|transcript| SessionRecord::of(&transcript)))?;
    if record.state == SessionState::Running && !is_held(&path) {
        record.state = SessionState::Interrupted;
    }
    Some(record)
}

/// This machine's clock.
#[expect(clippy::disallowed_methods, reason = "a session says when something happened; nothing is decided by it")]
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
