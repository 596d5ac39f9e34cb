//! Runs an action.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hob_domain::Outcome;
use hob_process::{Environment, Shell};
use tokio::{sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    folder::Folder,
    native::tools::{Action, ToolError},
};

/// Bytes of a file that the tools read, and of a text they write.
pub(super) const FILE_MAX: u64 = 2 << 20;

/// What the tools work with.
#[derive(Debug)]
pub(in crate::native) struct Toolbox {
    /// The folder.
    pub(in crate::native) folder: Folder,
    /// The whole environment of a command.
    pub(in crate::native) environment: Environment,
    /// The run's one shell.
    pub(in crate::native) shell: Mutex<Shell>,
    /// What commands wrote so far.
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

/// How much the commands of a run wrote, and may write.
#[derive(Debug)]
pub(in crate::native) struct Written {
    bytes: AtomicU64,
    max: u64,
}

impl Written {
    /// `before` bytes so far, `max` at most.
    pub(in crate::native) fn new(before: u64, max: u64) -> Self {
        Self { bytes: AtomicU64::new(before), max }
    }

    /// Bytes written.
    pub(in crate::native) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that may still be written.
    pub(super) fn left(&self) -> u64 {
        self.max.saturating_sub(self.bytes())
    }

    /// Counts `bytes`.
    pub(super) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What came of an action.
#[derive(Debug)]
pub(in crate::native) enum Answer {
    /// A text for the model.
    Text(String),
    /// The end of the run.
    End(Outcome),
}

impl Toolbox {
    /// Runs `action`.
    pub(in crate::native) async fn run(&self, action: Action) -> Result<Answer, ToolError> {
        match action {
            Action::Read(read) => self.blocking(move |folder, cap| read.run(folder, cap)).await,
            Action::List(list) => self.blocking(move |folder, cap| list.run(folder, cap)).await,
            Action::Search(search) => self.blocking(move |folder, cap| search.run(folder, cap)).await,
            Action::Edit(edit) => self.blocking(move |folder, _| edit.run(folder)).await,
            Action::Write(write) => self.blocking(move |folder, _| write.run(folder)).await,
            Action::Patch(patch) => self.blocking(move |folder, _| patch.run(folder)).await,
            Action::Shell(shell) => shell.run(self).await.map(Answer::Text),
            Action::Program(run) => run.run(self).await.map(Answer::Text),
            Action::Plan(plan) => plan.check().map(Answer::Text),
            Action::Ask(ask) => ask.end().map(Answer::End),
            Action::HandOff(hand_off) => hand_off.end().map(Answer::End),
            Action::Done(done) => done.end().map(Answer::End),
        }
    }

    async fn blocking(
        &self,
        work: impl FnOnce(&Folder, usize) -> Result<String, ToolError> + Send + 'static,
    ) -> Result<Answer, ToolError> {
        let (folder, cap) = (self.folder.clone(), self.output_cap);
        let done = tokio::task::spawn_blocking(move || work(&folder, cap)).await;
        done.map_err(|error| ToolError::Refused(format!("the tool broke: {error}")))?.map(Answer::Text)
    }
}
