//! A server behind two pipes: a message is a line.

use std::{future::Future, io, sync::Arc};

use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    service::RoleClient,
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::Mutex,
};

use crate::native::mcp::bound::Bound;

/// The pipes of a server.
pub(super) struct Pipes {
    input: Arc<Mutex<ChildStdin>>,
    output: BufReader<ChildStdout>,
    /// The part of a line read so far: the future that waits for it may be dropped meanwhile.
    line: Vec<u8>,
    bound: Arc<Bound>,
}

impl Pipes {
    /// The pipes to it and from it.
    pub(super) fn new(input: ChildStdin, output: ChildStdout, bound: Arc<Bound>) -> Self {
        Self { input: Arc::new(Mutex::new(input)), output: BufReader::new(output), line: Vec::new(), bound }
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            input.lock().await.write_all(&line).await
        }
    }

    /// The next message; `None` if the server is gone, or cut off.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let piece = self.output.fill_buf().await.ok().filter(|piece| !piece.is_empty())?;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |end| end + 1);
            self.line.extend_from_slice(&piece[..taken]);
            self.output.consume(taken);
            self.bound.came(taken, self.line.len()).ok()?;
            if end.is_none() {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if !line.trim_ascii().is_empty() {
                return self.bound.read(&line).ok();
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Its owner ends the child.
        Ok(())
    }
}
