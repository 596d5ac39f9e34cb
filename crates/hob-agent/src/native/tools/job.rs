//! `job`: waits for a command in the background, writes to it, ends it.

use std::{fs::File, io::Write as _, path::Path, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::{
    model::Tool,
    native::tools::{Answer, ToolError, Toolbox},
};

/// Bytes that are written to a job at once: what the pipe of a FIFO takes.
const INPUT_MAX: usize = 32 * 1024;
/// Seconds of a wait without another number.
const WAIT: u64 = 30;
/// How long a job may take to open its input once it is begun.
const BEGINS: Duration = Duration::from_secs(2);
/// The pause between two looks.
const BETWEEN: Duration = Duration::from_millis(50);

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "job".into(),
        description:
            "Waits until a command in the background ends, or `seconds` are over; shows its state and its new output."
                .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "id": { "type": "integer" },
                "seconds": { "type": "integer", "description": "default 30; 0 only looks" },
                "input": { "type": "string", "description": "is written to it before; with a line break at the end" },
                "end": { "type": "boolean", "description": "kills it" },
            },
            "required": ["id"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Look {
    /// The job's number.
    pub(in crate::native) id: usize,
    #[serde(default)]
    seconds: Option<u64>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    end: bool,
}

impl Look {
    /// Whether it does more than look.
    pub(in crate::native) fn acts(&self) -> bool {
        self.end || self.input.is_some()
    }

    /// Waits, and shows the job.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<Answer, ToolError> {
        let mut jobs = toolbox.jobs.0.lock().await;
        let known = jobs.len();
        let Some(job) = self.id.checked_sub(1).and_then(|index| jobs.get_mut(index)) else {
            return Err(ToolError::Refused(format!(
                "there is no job {}: {known} were begun with `shell`, `background`",
                self.id
            )));
        };
        if let Some(input) = &self.input {
            if job.end().is_some() {
                return Err(ToolError::Refused(format!("job {} has ended", self.id)));
            }
            if input.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
                return Err(ToolError::Refused(
                    "nothing was written to it: a job has no terminal that takes keys. Write lines, or end it with `end`".into(),
                ));
            }
            write(&job.files.path("in"), input).await?;
        }
        if self.end {
            toolbox.shell.lock().await.kill(&job.process, &toolbox.cancel).await;
            job.tagged.kill().await;
            job.is_killed = true;
        }
        let seconds = self.seconds.unwrap_or(WAIT).min(toolbox.shell_time.as_secs());
        let until = (Instant::now() + Duration::from_secs(seconds)).min(toolbox.deadline);
        let mut end = job.end();
        while end.is_none() && Instant::now() < until && !toolbox.cancel.is_cancelled() {
            sleep(BETWEEN).await;
            end = job.end();
        }
        job.is_told |= end.is_some();
        let (output, shown) = job.files.output(job.shown).unwrap_or_default();
        toolbox.written.add(shown.saturating_sub(job.shown));
        job.shown = job.shown.max(shown);
        let state = end.map_or_else(|| "still runs".to_owned(), |end| format!("ended: {end}"));
        let output = if output.is_empty() { "(no new output)" } else { &output };
        Ok(Answer::Text(format!(
            "[job {} {state}; all of its output is in {}]\n{output}",
            self.id,
            job.files.path("log").display()
        )))
    }
}

/// Writes to the FIFO of a job, without waiting for it to be read.
async fn write(path: &Path, input: &str) -> Result<(), ToolError> {
    use rustix::{
        fs::{FileType, Mode, OFlags, fstat, open},
        io::Errno,
    };
    let refused = |why: &str| ToolError::Refused(format!("nothing was written to it: {why}"));
    if input.len() > INPUT_MAX {
        return Err(refused(&format!("at most {INPUT_MAX} bytes are written at once")));
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let until = Instant::now() + BEGINS;
    let file = loop {
        match open(path, flags, Mode::empty()) {
            Ok(file) => break file,
            // The job has not opened it yet.
            Err(Errno::NXIO) if Instant::now() < until => sleep(BETWEEN).await,
            Err(Errno::NXIO) => return Err(refused("it reads no input any more")),
            Err(_) => return Err(refused("it was begun without `input`")),
        }
    };
    let is_pipe = fstat(&file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
    if !is_pipe {
        return Err(refused("its input is not a pipe"));
    }
    File::from(file).write_all(input.as_bytes()).map_err(|error| refused(&error.to_string()))
}
