//! A child that lives on, and that a caller talks to over its standard input and output.
//!
//! - Guarantees: dropping it kills it with its group, or with all its descendants if it is in a sandbox. The beginning
//!   and the end of its standard error are kept.
//! - Caveats: the caller reads its output, and bounds each wait and each line. Without a sandbox, a process that left
//!   the group is not found here: a caller that needs its end tags the environment, see
//!   [`TaggedProcesses`](crate::TaggedProcesses).

use std::{io, process::Stdio, time::Duration};

use hob_sandbox::refusals_by;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::{
    Exit, ProcessError, Program,
    capture::{Capture, Watchers},
    program::{Group, Started, exit_of, refusal},
};

/// How long a closed group may hold its standard error open.
const DRAIN: Duration = Duration::from_millis(200);

/// A child that the caller talks to.
#[derive(Debug)]
pub struct Dialogue {
    // Before the child, so that the group is killed while its leader still has its id.
    group: Group,
    child: Child,
    errors: Capture,
    name: String,
    nonce: String,
}

impl Program {
    /// Starts it for a caller that talks to it; returns its output and its input. The caller enforces the deadline.
    ///
    /// # Errors
    /// [`ProcessError`] when the program cannot be started.
    pub async fn talk(self) -> Result<(Dialogue, ChildStdin, ChildStdout), ProcessError> {
        let (name, nonce) = self.told_as();
        let Started { mut child, group, before } = self.start(Stdio::piped())?;
        let pipe = |source| ProcessError::Pipe { program: name.clone(), source };
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(pipe(io::Error::other("no pipe")));
        };
        let errors = Capture::start(child.stderr.take(), self.kept(), Watchers::default());
        let dialogue = Dialogue { group, child, errors, name: name.clone(), nonce };
        // A supervisor that is gone already has written why: that is read at the end.
        input.write_all(&before).await.ok();
        Ok((dialogue, input, output))
    }
}

impl Dialogue {
    /// Waits at most `patience` for it to end by itself, then ends it with everything that it started. Returns how it
    /// ended, if it did so by itself, and what it wrote to standard error.
    ///
    /// # Errors
    /// [`ProcessError::Sandbox`] if its plan could not be applied, so that it was not started.
    pub async fn end(mut self, patience: Duration) -> Result<(Option<Exit>, String), ProcessError> {
        let exit = match timeout(patience, self.child.wait()).await {
            Ok(Ok(status)) => Some(exit_of(status)),
            Ok(Err(_)) | Err(_) => None,
        };
        match exit {
            Some(exit) => self.group.end(exit),
            None => self.group.kill(),
        }
        if exit.is_none() {
            // Killed, or about to end what it supervises: there is nothing else to report.
            self.child.wait().await.ok();
        }
        let mut said = self.errors.finish(DRAIN).await.unwrap_or_default();
        said.split_off(&format!("\n{}", refusals_by(&self.nonce)));
        let said = said.text();
        let refused = self.group.is_supervised().then(|| refusal(exit?, &self.name, &self.nonce, &said)).flatten();
        refused.map_or(Ok((exit, said)), Err)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;
    use crate::program::tests::sh;

    #[tokio::test]
    async fn a_child_answers_line_by_line_until_it_is_ended_with_its_group() {
        let (dialogue, mut input, output) =
            sh("sleep 600 & while read x; do echo \"<$x>\"; done").talk().await.unwrap();
        let mut lines = BufReader::new(output).lines();
        for word in ["one", "two"] {
            input.write_all(format!("{word}\n").as_bytes()).await.unwrap();
            assert_eq!(lines.next_line().await.unwrap().unwrap(), format!("<{word}>"));
        }
        assert_eq!(dialogue.end(Duration::ZERO).await.unwrap(), (None, String::new()));
        // The other end of the pipe is closed, whereas a background process would hold it until its own end.
        assert_eq!(lines.next_line().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_child_that_ended_by_itself_says_how_and_why() {
        let (dialogue, _input, _output) = sh("echo no such table >&2; exit 3").talk().await.unwrap();
        let ended = dialogue.end(Duration::from_secs(60)).await.unwrap();
        assert_eq!(ended, (Some(Exit::Code(3)), "no such table\n".to_owned()));
    }
}
