//! Reads a transcript, also one whose writer died.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use crate::session::{Header, Line, SessionError, VERSION};

/// What a transcript holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Whose it is.
    pub header: Header,
    /// What happened, in order.
    pub lines: Vec<Line>,
    /// Whether the file ends in a line that is cut off or damaged; nothing after it was read.
    pub cut: bool,
}

/// Reads the transcript at `path` up to its first line that is not whole.
///
/// # Errors
/// [`SessionError::File`] when the file cannot be read or its header is missing or of another format.
pub fn read(path: &Path) -> Result<Transcript, SessionError> {
    let failed = |source| SessionError::File { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut next = || -> Result<Option<Vec<u8>>, SessionError> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(failed)?;
        Ok((!line.is_empty()).then_some(line))
    };
    let first = next()?.unwrap_or_default();
    let header: Header = serde_json::from_slice(&first).map_err(|error| failed(error.into()))?;
    if header.transcript != VERSION {
        let said = format!("format {} is not known; this reads format {VERSION}", header.transcript);
        return Err(failed(io::Error::other(said)));
    }
    let mut transcript = Transcript { header, lines: Vec::new(), cut: false };
    while let Some(line) = next()? {
        match serde_json::from_slice(&line) {
            Ok(line) => transcript.lines.push(line),
            Err(_) => {
                transcript.cut = true;
                break;
            }
        }
    }
    Ok(transcript)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, os::unix::fs::PermissionsExt};

    use crate::{
        domain::{Outcome, RunId},
        session::{Event, Recorder},
    };

    use super::*;

    fn header(run: &str) -> Header {
        Header { transcript: VERSION, run: RunId::from(run), repo: "a/b".parse().unwrap(), issue: 7.into() }
    }

    #[test]
    fn a_transcript_reads_back_what_was_recorded_and_only_its_owner_can() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&dir.path().join("new"), &header("run-1")).unwrap();
        let events = [
            Event::Started { agent: "native".into(), brief: "line\nbreak".into() },
            Event::Ended { outcome: Outcome::Done { summary: "x".into() } },
        ];
        for event in events.clone() {
            recorder.record(event).unwrap();
        }
        assert_eq!(fs::metadata(recorder.path()).unwrap().permissions().mode() & 0o777, 0o600);
        let read = read(recorder.path()).unwrap();
        assert_eq!((read.header, read.cut), (header("run-1"), false));
        assert_eq!(read.lines.into_iter().map(|line| line.event).collect::<Vec<_>>(), events);
    }

    #[test]
    fn a_tail_that_was_cut_off_loses_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(dir.path(), &header("run-1")).unwrap();
        recorder.record(Event::Asked { turn: 1, messages: 1 }).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(recorder.path()).unwrap();
        file.write_all(b"{\"at_ms\":3,\"event\":\"ask\xff").unwrap();
        let read = read(recorder.path()).unwrap();
        assert_eq!((read.lines.len(), read.cut), (1, true));
    }

    #[test]
    fn a_transcript_is_never_written_over_and_never_outside_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        Recorder::create(dir.path(), &header("run-1")).unwrap();
        for run in ["run-1", "../run", "", ".hidden", "a/b", "a\0b"] {
            assert!(Recorder::create(dir.path(), &header(run)).is_err(), "{run}");
        }
    }
}
