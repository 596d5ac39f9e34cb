//! `shell`: runs a command in the run's one shell.

use std::{borrow::Cow, path::Path, time::Duration};

use hob_config::Impact;
use hob_process::{CommandEnd, CommandLimits, Exit, Finished, Ran, quoted};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    folder::Folder,
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
/// Bytes of output that are shown in any case.
const OUTPUT_MIN: usize = 400;
/// The most bytes that one command may write; more ends it, and only it.
const OUTPUT_MAX: u64 = 64 << 20;
/// The most bytes of a command's output that are kept, its first and its last half.
pub(super) const KEPT_MAX: usize = 1 << 20;
/// The time limit for the shell's check of a command's syntax.
const SYNTAX_TIME: Duration = Duration::from_secs(5);

/// Seconds after which a check that was fast on the base is ended.
const CHECK_SECONDS: u64 = 30;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "shell".into(),
        description:
            "Runs a command in one persistent shell, bash if it is installed, which begins at the top of the folder: \
                      its folder and variables are kept. No standard input, no terminal."
                .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "seconds": { "type": "integer", "description": "ended after this; default: as long as a command may take, mostly 300" },
                "background": { "type": "boolean", "description": "goes on beside later commands as a numbered job, its output in a file; a note tells when it ends" },
                "input": { "type": "boolean", "description": "in the background: `job` can write to it" },
                "independent": { "type": "boolean", "description": "runs beside the reply's other calls, in a shell of its own" },
            },
            "required": ["command"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Default, Deserialize)]
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
    /// Whether it takes input by `job`, in the background.
    #[serde(default)]
    input: bool,
    /// Whether the model says that it is independent of the other calls of its reply.
    #[serde(default)]
    independent: bool,
    /// The folder that it runs in, from the top; `None` for the shell's own.
    #[serde(default)]
    pub(super) workdir: Option<String>,
    /// Bytes of its output that are shown at most.
    #[serde(default)]
    max_output: Option<usize>,
    /// After how many milliseconds the model wants an answer.
    #[serde(default)]
    yield_ms: Option<u64>,
    /// Whether it runs from the top, wherever the shell is.
    #[serde(skip)]
    at_top: bool,
    /// Whether it runs beside other calls.
    #[serde(skip)]
    is_beside: bool,
}

impl Shell {
    /// A fast check of Hob's: from the top of the folder, in a shell of its own.
    pub(in crate::native) fn of_check(check: &str) -> Self {
        Self {
            command: check.to_owned(),
            seconds: Some(CHECK_SECONDS),
            at_top: true,
            is_beside: true,
            ..Self::default()
        }
    }

    /// Whether it may run beside other calls, even if it changes files.
    pub(super) fn is_independent(&self) -> bool {
        self.independent && !self.background
    }

    /// Whether it may run beside other calls because it only looks, and does not need the run's own shell.
    pub(super) fn only_looks(&self) -> bool {
        let line = CommandLine::parse(&self.command);
        !self.background && impact(&line) == Impact::Low && is_traceless(&self.command, &line)
    }

    /// The same with its folder as part of the command: rules and checks see what is run.
    pub(in crate::native) fn placed(mut self, folder: &Folder) -> Result<Self, ToolError> {
        let Some(workdir) = self.workdir.take() else { return Ok(self) };
        let inside = folder.inside(&workdir)?.to_string();
        self.at_top = true;
        if inside != "." {
            self.command = in_folder(&inside, &self.command);
        }
        Ok(self)
    }

    /// The text that the shell runs, which is in the folder `here`.
    fn text(&self, here: &Path, toolbox: &Toolbox) -> Cow<'_, str> {
        match self.at_top && here != toolbox.folder.path() {
            true => Cow::Owned(in_folder(&toolbox.folder.path().to_string_lossy(), &self.command)),
            false => Cow::Borrowed(&*self.command),
        }
    }

    /// Whether it goes on after its answer.
    pub(in crate::native) fn is_in_background(&self) -> bool {
        self.background
    }

    /// Starts it in the background.
    async fn begin(&self, toolbox: &Toolbox, limits: CommandLimits) -> Result<Answer, ToolError> {
        let begun = toolbox.jobs.begin(&toolbox.scratch).await?;
        let mut shell = toolbox.shell.lock().await;
        let script = begun.script(&self.text(shell.folder(), toolbox), self.input);
        let broke = |error| ToolError::Refused(format!("{error}: the next command gets a new shell"));
        let ran = shell.run(&script, limits, &toolbox.cancel).await.map_err(broke)?;
        let (output, tagged) = (ran.output.text(), shell.last_processes());
        drop(shell);
        let Some(tagged) = tagged.filter(|_| ran.end == CommandEnd::Code(0)) else {
            return self.shown(&ran, toolbox, limits.time, "").await;
        };
        let told = toolbox.jobs.add(begun, &self.command, output.trim(), tagged).await;
        let text = format!("[exit code 0{}]\n{told}", self.too_long(toolbox));
        Ok(Answer::Ran(text, CommandResult::Succeeded))
    }

    /// A note about a time that it does not get; empty if it does.
    fn too_long(&self, toolbox: &Toolbox) -> String {
        let most = toolbox.shell_time.as_secs();
        match self.seconds.filter(|seconds| *seconds > most) {
            Some(seconds) => format!("; `seconds` is {most} at most here, not {seconds}: use `background` for more"),
            None => String::new(),
        }
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
        if self.input && !self.background {
            return Err(ToolError::Refused("not run: `input` is for a command in the `background`".into()));
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
            kept: KEPT_MAX,
            written: toolbox.written.left().min(OUTPUT_MAX),
        };
        let line = CommandLine::parse(&self.command);
        if let Some(program) = line.needs_terminal() {
            return Err(ToolError::Refused(format!(
                "not run: `{program}` waits for keys, and there is no terminal here: change files with the file tools or `sed -i`, \
                 and repeat a command with a loop"
            )));
        }
        if line.is_unclear() {
            readable(&self.command, toolbox).await?;
        }
        if self.background {
            return self.begin(toolbox, limits).await;
        }
        let broke = |error| ToolError::Refused(format!("{error}: the next command gets a new shell"));
        let started = Instant::now();
        let mut shell = toolbox.shell.lock().await;
        let before = shell.folder().to_owned();
        let command = self.text(&before, toolbox);
        if self.is_beside || self.is_independent() {
            let mut own = shell.beside(&toolbox.cancel).await.map_err(broke)?;
            drop(shell);
            let ran = own.run(&command, limits, &toolbox.cancel).await.map_err(broke)?;
            own.end().await;
            toolbox.written.add(ran.written);
            return self.shown(&ran, toolbox, limits.time, self.waited(started)).await;
        }
        let ran = shell.run(&command, limits, &toolbox.cancel).await.map_err(broke)?;
        toolbox.written.add(ran.written);
        let place = if shell.folder() == before {
            String::new()
        } else {
            let below = shell.folder().strip_prefix(toolbox.folder.path()).ok();
            let folder = below.unwrap_or(shell.folder()).display().to_string();
            format!(", now in {}", if folder.is_empty() { "." } else { &folder })
        };
        let place = format!("{place}{}{}", self.too_long(toolbox), self.waited(started));
        self.shown(&ran, toolbox, limits.time, &place).await
    }

    /// A word to a model that wanted an answer before the end.
    fn waited(&self, started: Instant) -> &'static str {
        let is_late = self.yield_ms.is_some_and(|ms| started.elapsed() > Duration::from_millis(ms));
        if is_late { "; an answer comes at the end: use `background` for one at once" } else { "" }
    }

    /// The answer.
    async fn shown(&self, ran: &Ran, toolbox: &Toolbox, time: Duration, place: &str) -> Result<Answer, ToolError> {
        let wanted = self.max_output.unwrap_or(toolbox.output_cap).max(OUTPUT_MIN);
        let mut output = toolbox.scratch.cut(plain(&ran.output.text()), wanted.min(toolbox.output_cap)).await;
        if !ran.refused.is_empty() {
            let refused = plain(&ran.refused.join(", "));
            output = format!(
                "{}\n[the sandbox refused: {refused}; no change of files helps against that]",
                output.trim_end()
            );
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
}

/// The command in a folder, which it leaves again.
fn in_folder(folder: &str, command: &str) -> String {
    format!("(cd {} && {{\n{command}\n}})", quoted(folder))
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
