//! The state behind the tools of a run, and the limit on the output of its commands.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hob_process::Shell;
use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    confined::Confined,
    folder::Folder,
    native::{
        fetcher::Fetcher,
        investigation::CaseFile,
        mcp::Connected,
        tools::{Jobs, Pictures, Scratch, ToolError},
    },
};

/// Bytes of a file that the tools read, and of a text they write.
pub(super) const FILE_MAX: u64 = 2 << 20;

/// The state behind the tools.
#[derive(Debug)]
pub(in crate::native) struct Toolbox {
    /// The folder.
    pub(in crate::native) folder: Folder,
    /// The investigated case; `None` if the run changes the folder.
    pub(in crate::native) case: Option<CaseFile>,
    /// The sandbox of a command.
    pub(in crate::native) confined: Confined,
    /// The run's one shell.
    pub(in crate::native) shell: Mutex<Shell>,
    /// The commands in the background.
    pub(in crate::native) jobs: Jobs,
    /// The files for what answers leave out.
    pub(in crate::native) scratch: Scratch,
    /// The pictures that were shown.
    pub(in crate::native) pictures: Pictures,
    /// The fetcher of pages; `None` if it may reach none.
    pub(in crate::native) fetcher: Option<Fetcher>,
    /// The MCP servers that are open.
    pub(in crate::native) servers: Connected,
    /// The bytes that commands wrote so far, and servers answered.
    pub(in crate::native) written: Written,
    /// Bytes of an answer.
    pub(in crate::native) output_cap: usize,
    /// The longest a command may take.
    pub(in crate::native) shell_time: Duration,
    /// When the run's time is over.
    pub(in crate::native) deadline: Instant,
    /// Ends a command.
    pub(in crate::native) cancel: CancellationToken,
}

impl Toolbox {
    /// Ends what is open.
    pub(in crate::native) async fn close(self) {
        self.shell.into_inner().end().await;
        self.jobs.close().await;
        self.servers.close().await;
        if let Some(fetcher) = self.fetcher {
            fetcher.close().await;
        }
    }

    /// The investigated case. The tools that need it are offered only if there is one.
    pub(super) fn case(&self) -> Result<&CaseFile, ToolError> {
        self.case.as_ref().ok_or_else(|| ToolError::Refused("nothing is investigated here".into()))
    }
}

/// The bytes that the commands of a run wrote, and may write.
#[derive(Debug)]
pub(in crate::native) struct Written {
    bytes: AtomicU64,
    max: Option<u64>,
}

impl Written {
    /// `before` bytes so far, `max` at most; `None` means no limit.
    pub(in crate::native) fn new(before: u64, max: Option<u64>) -> Self {
        Self { bytes: AtomicU64::new(before), max }
    }

    /// Bytes written.
    pub(in crate::native) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that may still be written.
    pub(super) fn left(&self) -> u64 {
        self.max.map_or(u64::MAX, |max| max.saturating_sub(self.bytes()))
    }

    /// Counts `bytes`.
    pub(super) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
