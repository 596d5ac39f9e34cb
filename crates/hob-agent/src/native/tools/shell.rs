//! `shell`: runs a command in the run's one shell.

use std::{borrow::Cow, time::Duration};

use hob_config::Impact;
use hob_process::{CommandEnd, CommandLimits, Exit, Finished, Ran};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    model::Tool,
    native::{
        command_line::{CommandLine, impact, is_traceless},
        plain::plain,
        tools::{Answer, CommandResult, ToolError, Toolbox},
    },
    report::first_line,
};

/// Bytes of a command.
const COMMAND_MAX: usize = 256 * 1024;
/// The most bytes that one command may write; more ends it, and only it.
const OUTPUT_MAX: u64 = 64 << 20;
/// The time limit for the shell's check of a command's syntax.
const SYNTAX_TIME: Duration = Duration::from_secs(5);

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
                "background": { "type": "boolean", "description": "goes on beside later commands, its output in a file" },
                "independent": { "type": "boolean", "description": "runs beside the reply's other calls, in a shell of its own" },
            },
            "required": ["command"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Shell {
    /// The command.
    pub(in crate::native) command: String,
    /// When it is ended at the latest.
    #[serde(default)]
    seconds: Option<u64>,
    /// Whether it continues beside later commands.
    #[serde(default)]
    background: bool,
    /// Whether the model says that it is independent of the other calls of its reply.
    #[serde(default)]
    independent: bool,
    /// Whether it runs beside other calls.
    #[serde(skip)]
    is_beside: bool,
}

impl Shell {
    /// Whether it may run beside other calls, even if it changes files.
    pub(super) fn is_independent(&self) -> bool {
        self.independent && !self.background
    }

    /// Whether it may run beside other calls because it only looks, and does not need the run's own shell.
    pub(super) fn only_looks(&self) -> bool {
        let line = CommandLine::parse(&self.command);
        !self.background && impact(&line) == Impact::Low && is_traceless(&self.command, &line)
    }

    /// The same beside other calls.
    pub(in crate::native) fn beside(self) -> Self {
        Self { is_beside: true, ..self }
    }

    /// Runs the command. One that exits with an error code is an answer, not an error: a failing test is news.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<Answer, ToolError> {
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
            written: toolbox.written.left().min(OUTPUT_MAX),
        };
        if CommandLine::parse(&self.command).is_unclear() {
            readable(&self.command, toolbox).await?;
        }
        let command =
            if self.background { Cow::Owned(in_background(&self.command)) } else { Cow::Borrowed(&*self.command) };
        let broke = |error| ToolError::Refused(format!("{error}: the next command gets a new shell"));
        let mut shell = toolbox.shell.lock().await;
        if self.is_beside || self.is_independent() {
            let mut own = shell.beside(&toolbox.cancel).await.map_err(broke)?;
            drop(shell);
            let ran = own.run(&command, limits, &toolbox.cancel).await.map_err(broke)?;
            own.end().await;
            toolbox.written.add(ran.written);
            return shown(&ran, limits.time, "");
        }
        let before = shell.folder().to_owned();
        let ran = shell.run(&command, limits, &toolbox.cancel).await.map_err(broke)?;
        toolbox.written.add(ran.written);
        let place = if shell.folder() == before {
            String::new()
        } else {
            let below = shell.folder().strip_prefix(toolbox.folder.path()).ok();
            let folder = below.unwrap_or(shell.folder()).display().to_string();
            format!(", now in {}", if folder.is_empty() { "." } else { &folder })
        };
        let most = toolbox.shell_time.as_secs();
        let place = match self.seconds.filter(|seconds| *seconds > most) {
            Some(seconds) => {
                format!("{place}; `seconds` is {most} at most here, not {seconds}: use `background` for more")
            }
            None => place,
        };
        shown(&ran, limits.time, &place)
    }
}

/// Checks whether the shell can parse a command that may not be closed; returns its message if it cannot. Otherwise it
/// would take the text after it as part of the command, Hob's own lines too.
async fn readable(command: &str, toolbox: &Toolbox) -> Result<(), ToolError> {
    let program = toolbox.confined.program("sh").args(["-n"]).stdin(format!("{command}\n"));
    let asked = program.dir(toolbox.folder.path()).deadline(SYNTAX_TIME).output_cap(2_000).run(&toolbox.cancel).await;
    match asked {
        Ok(Finished { exit, stderr, .. }) if !exit.is_success() => Err(ToolError::Refused(format!(
            "not run: the shell cannot read it: {}",
            first_line(plain(&stderr.text()).trim(), 300)
        ))),
        // If the shell cannot be asked, the command is tried.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The command as a background process that tells where its output is.
fn in_background(command: &str) -> String {
    let quoted = command.replace('\'', "'\\''");
    format!(
        "_hob_log=$(mktemp \"${{TMPDIR:-/tmp}}/job-XXXXXX\") && {{ eval '{quoted}' >\"$_hob_log\" 2>&1 & \
         echo \"runs as process $!; its output is in $_hob_log. Look with \\`tail $_hob_log\\` and \\`jobs\\`, end it with \\`kill $!\\`\"; }}"
    )
}

fn shown(ran: &Ran, time: Duration, place: &str) -> Result<Answer, ToolError> {
    let mut output = plain(&ran.output.text());
    if !ran.refused.is_empty() {
        let refused = plain(&ran.refused.join(", "));
        output =
            format!("{}\n[the sandbox refused: {refused}; no change of files helps against that]", output.trim_end());
    }
    let fresh = "a new shell continues in the same folder, without variables set before";
    let ended =
        |how: String, then: &str| ToolError::Ended { text: format!("the command was {how}{then}\n{output}"), how };
    let out_of_time = format!("ended after {} s", time.as_secs());
    match ran.end {
        CommandEnd::Code(code) => {
            Ok(Answer::Ran(format!("[exit code {code}{place}]\n{output}"), CommandResult::new(Exit::Code(code))))
        }
        CommandEnd::WithShell(exit) => {
            Ok(Answer::Ran(format!("[{exit}; it ended the shell: {fresh}]\n{output}"), CommandResult::new(exit)))
        }
        CommandEnd::Deadline => Err(ended(out_of_time, &format!("{place}; {fresh}"))),
        CommandEnd::DeadlineOfCommand => {
            Err(ended(out_of_time, &format!("{place}; the shell goes on with its variables and jobs")))
        }
        CommandEnd::Flood => {
            let how = format!("ended: it wrote {} MiB, more than it may", ran.written >> 20);
            Err(ended(how, &format!("; {fresh}")))
        }
        CommandEnd::Cancelled => Err(ToolError::Refused("the run was cancelled".into())),
    }
}
