//! Writes a transcript.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;

use crate::session::{Event, Header, Line};

/// A transcript that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The run's id cannot be a file's name.
    #[error("`{0}` cannot name a transcript")]
    Name(String),
    /// The file could not be made, written or read.
    #[error("use the transcript `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Appends to one transcript.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    path: PathBuf,
    started: Instant,
}

impl Recorder {
    /// Makes the transcript `dir/RUN.jsonl` and writes its header. `dir` is made where it is missing.
    ///
    /// # Errors
    /// [`SessionError`] when the run's id is no plain file name, or the file exists already or cannot be made.
    pub fn create(dir: &Path, header: &Header) -> Result<Self, SessionError> {
        let run = header.run.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if run.is_empty() || run.len() > 200 || run.starts_with('.') || !run.chars().all(plain) {
            return Err(SessionError::Name(run.to_owned()));
        }
        let path = dir.join(format!("{run}.jsonl"));
        let failed = |source| SessionError::File { path: path.clone(), source };
        fs::create_dir_all(dir).map_err(failed)?;
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        let mut recorder = Self { file, path, started: Instant::now() };
        recorder.append(header)?;
        Ok(recorder)
    }

    /// Appends one event.
    ///
    /// # Errors
    /// [`SessionError::File`] when the line cannot be written, for example on a full disk.
    pub fn record(&mut self, event: Event) -> Result<(), SessionError> {
        let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.append(&Line { at_ms, event })
    }

    /// Where the transcript is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), SessionError> {
        let failed = |source| SessionError::File { path: self.path.clone(), source };
        let mut bytes = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        // One call a line: a worker that dies leaves whole lines and one cut tail at most.
        self.file.write_all(&bytes).map_err(failed)
    }
}
