//! `shell`: runs a command in the folder.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    agent::native::tools::{ToolError, Toolbox},
    model::Tool,
    process::{Exit, Program},
};

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "shell",
        description: "Runs a command with `sh -c` in the folder and shows its exit code and its output.",
        schema: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "seconds": { "type": "integer", "minimum": 1, "description": "time after which it is ended" },
            },
            "required": ["command"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
pub(in crate::agent::native) struct Shell {
    /// The command.
    pub(super) command: String,
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
        let wanted = self.seconds.map_or(toolbox.shell_time, |seconds| Duration::from_secs(seconds.max(1)));
        let left = toolbox.deadline.saturating_duration_since(Instant::now());
        let time = wanted.min(toolbox.shell_time).min(left);
        let finished = Program::new("sh", &toolbox.environment)
            .args(["-c", self.command.as_str()])
            .dir(toolbox.folder.path())
            .deadline(time)
            .output_cap(toolbox.output_cap / 2)
            .run(&toolbox.cancel)
            .await
            .map_err(|error| ToolError::Refused(error.to_string()))?;
        let mut shown = finished.stdout.text();
        let errors = finished.stderr.text();
        if !errors.is_empty() {
            shown.push_str(&format!("\n[standard error]\n{errors}"));
        }
        match finished.exit {
            Exit::Code(_) | Exit::Signal(_) => Ok(format!("[{}]\n{shown}", finished.exit)),
            Exit::Deadline => {
                Err(ToolError::Refused(format!("the command was ended after {} s\n{shown}", time.as_secs())))
            }
            Exit::Cancelled => Err(ToolError::Refused("the run was cancelled".into())),
        }
    }
}
