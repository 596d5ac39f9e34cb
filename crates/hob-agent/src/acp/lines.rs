//! Messages as lines of two pipes.

use std::io;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
};

use crate::acp::messages::Message;

/// The most bytes of a message: a file that an agent shows in a change is in one.
const MESSAGE_MAX: usize = 16 << 20;

/// The pipes of a program.
pub(super) struct Lines {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The part of a line read so far: the future that waits for it may be dropped meanwhile.
    line: Vec<u8>,
}

impl Lines {
    pub(super) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        Self { input, output: BufReader::new(output), line: Vec::new() }
    }

    pub(super) async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await
    }

    /// The next message. A line that is none, such as a log, is passed over.
    ///
    /// # Errors
    /// The system's, at the end of the output, and for a message that is too long.
    pub(super) async fn next(&mut self) -> io::Result<Message> {
        loop {
            let piece = self.output.fill_buf().await?;
            if piece.is_empty() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "its output ended"));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..taken]);
            self.output.consume(taken);
            if self.line.len() > MESSAGE_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message of more than 16 MiB"));
            }
            if end.is_some()
                && let Ok(message) = serde_json::from_slice(&std::mem::take(&mut self.line))
            {
                return Ok(message);
            }
        }
    }
}
