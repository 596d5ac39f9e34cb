//! Writes the replies of models to a cassette, so that they can be played back.
//!
//! - Flow: a conversation has its own file, named after its session; each reply is added at its turn, and the whole
//!   file is written beside the old one, which it then replaces.
//! - Guarantees: a process that dies at any moment leaves the replies so far as a valid cassette; only its owner can
//!   read it; it contains no known secret; a file that is not a recording of the same session is never overwritten.
//! - Caveats: only the replies are recorded, without `expect`: requests have paths, times and random marks in them. If
//!   a reply cannot be written, the recording ends there with a warning: the work is worth more than its record.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use hob_text::KnownSecrets;

use crate::model::{ModelError, ModelReply, tape::Tape};

/// Bytes of a session's name.
const NAME_MAX: usize = 200;

/// The folder for recordings, and the secrets that they must not contain.
#[derive(Debug, Clone)]
pub(super) struct Records {
    pub(super) folder: PathBuf,
    pub(super) secrets: KnownSecrets,
}

/// The recording of one conversation.
pub(super) struct Recording {
    records: Records,
    session: String,
    state: State,
}

enum State {
    /// Nothing of this conversation was written yet.
    New,
    /// The file has these replies.
    Open(Tape),
    /// The rest is not recorded.
    Ended,
}

#[derive(Debug, thiserror::Error)]
enum RecordError {
    #[error("`{0}` is not a file name")]
    Name(String),
    #[error("{path} already exists and is not a recording of this conversation", path = .0.display())]
    Taken(PathBuf),
    #[error("the session's earlier turns are not recorded")]
    Beginning,
    #[error("write {path}: {source}", path = .path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Cassette(#[from] ModelError),
}

impl Recording {
    /// The recording of `session`, among `records`.
    pub(super) fn new(records: &Records, session: &str) -> Self {
        Self { records: records.clone(), session: session.to_owned(), state: State::New }
    }

    /// Adds the reply of a turn.
    pub(super) fn add(&mut self, turn: u32, model: &str, reply: &ModelReply) {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Ended => State::Ended,
            state @ (State::New | State::Open(_)) => match self.added(state, turn, model, reply) {
                Ok(tape) => State::Open(tape),
                Err(error) => {
                    tracing::warn!("the model's replies are not recorded from turn {turn} on: {error}");
                    State::Ended
                }
            },
        };
    }

    fn added(&self, state: State, turn: u32, model: &str, reply: &ModelReply) -> Result<Tape, RecordError> {
        let (mut tape, found) = match state {
            State::Open(tape) => (tape, Found::Ours),
            State::New | State::Ended => self.open()?,
        };
        let before = (turn as usize).saturating_sub(1);
        // A turn that was cut off is done again; only its reply is replaced.
        if tape.replies().len() > before + 1 {
            return Err(RecordError::Taken(self.path()));
        }
        if !tape.keep(before) {
            return Err(RecordError::Beginning);
        }
        tape.push(model, reply);
        self.write(&tape.json()?, found)?;
        Ok(tape)
    }

    /// The existing recording of this session: another try of a run, or a run that resumes it, adds to it.
    fn open(&self) -> Result<(Tape, Found), RecordError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = self.session.as_str();
        if name.is_empty() || name.len() > NAME_MAX || name.starts_with('.') || !name.chars().all(plain) {
            return Err(RecordError::Name(name.to_owned()));
        }
        let (path, note) = (self.path(), format!("recorded from {name}"));
        match fs::read_to_string(&path) {
            Ok(json) => match Tape::parse(&json) {
                Ok(tape) if tape.note() == note => Ok((tape, Found::Ours)),
                Ok(_) | Err(_) => Err(RecordError::Taken(path)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((Tape::new(&note), Found::Nothing)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(RecordError::Taken(path)),
            Err(source) => Err(RecordError::File { path, source }),
        }
    }

    fn write(&self, json: &str, found: Found) -> Result<(), RecordError> {
        let path = self.path();
        let json = self.records.secrets.redaction().text(json);
        replace(&self.records.folder, &path, &json, found).map_err(|source| RecordError::File { path, source })
    }

    fn path(&self) -> PathBuf {
        self.records.folder.join(format!("{}.json", self.session))
    }
}

/// Replaces the file that was `found`. Temporary files have the mode 0600, which stays when they are moved.
fn replace(folder: &Path, path: &Path, text: &str, found: Found) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::Builder::new().prefix(".recording-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let moved = match found {
        Found::Nothing => file.persist_noclobber(path),
        Found::Ours => file.persist(path),
    };
    moved.map(drop).map_err(|error| error.error)
}

/// The existing file in place of a recording.
enum Found {
    /// Nothing.
    Nothing,
    /// A recording of the same session.
    Ours,
}
