//! Reads a transcript, even if its writer died.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use crate::session::{Header, Line, SessionError, VERSION};

/// The content of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Its issue and agent.
    pub header: Header,
    /// Its events, in order.
    pub lines: Vec<Line>,
    /// Bytes up to the end of the last whole line.
    pub whole: u64,
    /// Bytes after it, of a line that was cut off, or damage. None of it was read.
    pub damaged: u64,
}

/// Reads the transcript at `path` up to its first line that is not whole.
///
/// # Errors
/// [`SessionError::File`] when the file cannot be read or its header is missing or of another format.
pub(super) fn read(path: &Path) -> Result<Transcript, SessionError> {
    let failed = |source| SessionError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mut reader = BufReader::new(&file);
    let mut next = || -> Result<Vec<u8>, SessionError> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(failed)?;
        Ok(line)
    };
    let first = next()?;
    let header: Header = serde_json::from_slice(&first).map_err(|error| failed(error.into()))?;
    if header.transcript != VERSION {
        let said = format!("format {} is not known; this reads format {VERSION}", header.transcript);
        return Err(failed(io::Error::other(said)));
    }
    let mut transcript = Transcript { header, lines: Vec::new(), whole: length(&first), damaged: 0 };
    loop {
        let line = next()?;
        // A line without its line break was cut off, even if it parses.
        match serde_json::from_slice(&line) {
            Ok(event) if line.ends_with(b"\n") => {
                transcript.lines.push(event);
                transcript.whole += length(&line);
            }
            Ok(_) | Err(_) => break,
        }
    }
    transcript.damaged = file.metadata().map_err(failed)?.len().saturating_sub(transcript.whole);
    Ok(transcript)
}

fn length(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}
