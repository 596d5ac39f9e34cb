//! `shell`: runs a command in the run's one shell.

use std::time::Duration;

use hob_process::{CommandEnd, CommandLimits, Ran};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    model::Tool,
    native::{
        plain::plain,
        tools::{ToolError, Toolbox},
    },
};

/// Bytes of a command.
const COMMAND_MAX: usize = 256 * 1024;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "shell".into(),
        description: "Runs a command in one persistent shell: its folder and variables are kept. No standard input."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "seconds": { "type": "integer", "description": "ended after this" },
            },
            "required": ["command"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
pub(in crate::native) struct Shell {
    /// The command.
    pub(in crate::native) command: String,
    /// When it is ended at the latest.
    #[serde(default)]
    seconds: Option<u64>,
}

impl Shell {
    /// Runs the command. One that exits with an error code is an answer, not an error: a failing test is news.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<String, ToolError> {
        if self.command.contains('\0') {
            return Err(ToolError::Refused("a command cannot hold a zero byte".into()));
        }
        if self.command.len() > COMMAND_MAX {
            return Err(ToolError::Refused(format!(
                "the command has more than {COMMAND_MAX} bytes: `write` a file and run that"
            )));
        }
        let wanted = self.seconds.map_or(toolbox.shell_time, |seconds| Duration::from_secs(seconds.max(1)));
        let left = toolbox.deadline.saturating_duration_since(Instant::now());
        let limits = CommandLimits {
            time: wanted.min(toolbox.shell_time).min(left),
            kept: toolbox.output_cap,
            written: toolbox.written.left(),
        };
        let mut shell = toolbox.shell.lock().await;
        let before = shell.folder().to_owned();
        let ran = shell.run(&self.command, limits, &toolbox.cancel).await;
        let ran = ran.map_err(|error| ToolError::Refused(format!("{error}: the next command gets a new shell")))?;
        toolbox.written.add(ran.written);
        let place = if shell.folder() == before {
            String::new()
        } else {
            let below = shell.folder().strip_prefix(toolbox.folder.path()).ok();
            let folder = below.unwrap_or(shell.folder()).display().to_string();
            format!(", now in {}", if folder.is_empty() { "." } else { &folder })
        };
        shown(&ran, limits.time, &place)
    }
}

fn shown(ran: &Ran, time: Duration, place: &str) -> Result<String, ToolError> {
    let output = plain(&ran.output.text());
    let fresh = "a new shell continues in the same folder, without variables set before";
    match ran.end {
        CommandEnd::Code(code) => Ok(format!("[exit code {code}{place}]\n{output}")),
        CommandEnd::WithShell(exit) => Ok(format!("[{exit}; it ended the shell: {fresh}]\n{output}")),
        CommandEnd::Deadline => {
            Err(ToolError::Refused(format!("the command was ended after {} s; {fresh}\n{output}", time.as_secs())))
        }
        CommandEnd::Flood => Err(ToolError::Refused(format!(
            "the command was ended: it wrote more than the run's commands may write; {fresh}\n{output}"
        ))),
        CommandEnd::Cancelled => Err(ToolError::Refused("the run was cancelled".into())),
    }
}
