//! A configured program, `[tools.NAME]`: run directly, without a shell.

use hob_config::{Impact, ToolSettings};
use hob_process::Exit;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    model::Tool,
    native::{
        command_line,
        plain::plain,
        tools::{Answer, CommandResult, ToolError, Toolbox, shell::KEPT_MAX},
    },
    report::clip,
};

/// Bytes of a program's help that the model sees.
const HELP_MAX: usize = 3_000;

/// The tool as the model sees it.
pub(super) fn tool(name: &str, settings: &ToolSettings, help: Option<&str>) -> Tool {
    let mut description = settings.description.trim().to_owned();
    if description.is_empty() {
        description = format!("Runs `{}`.", first(name, settings));
    }
    if !settings.examples.is_empty() {
        description.push_str(&format!("\nFor example: {}", settings.examples.join("; ")));
    }
    if let Some(help) = help.map(str::trim).filter(|help| !help.is_empty()) {
        description.push_str(&format!("\nIts help:\n{}", clip(help, HELP_MAX)));
    }
    Tool {
        name: name.to_owned().into(),
        description: description.into(),
        schema: json!({
            "type": "object",
            "properties": { "arguments": { "type": "string", "description": "quoted as for a shell; no pipes, no expansion" } },
            "required": ["arguments"],
        }),
    }
}

/// The program's name or path.
pub(in crate::native) fn first<'a>(name: &'a str, settings: &'a ToolSettings) -> &'a str {
    settings.command.first().map_or(name, String::as_str)
}

/// The arguments as the model writes them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    arguments: String,
}

/// One run of a program.
#[derive(Debug)]
pub(in crate::native) struct Run {
    /// The tool's name.
    pub(in crate::native) name: String,
    /// The arguments, as they were written.
    pub(in crate::native) arguments: String,
    /// The program and all its arguments.
    pub(in crate::native) words: Vec<String>,
    /// Its impact.
    pub(in crate::native) impact: Impact,
}

impl Run {
    /// Reads the argument line.
    pub(super) fn new(name: &str, settings: &ToolSettings, given: Given) -> Result<Self, ToolError> {
        let words = command_line::arguments(&given.arguments).map_err(|reason| ToolError::Arguments {
            tool: name.to_owned(),
            reason: format!("{reason}: it is run without a shell"),
        })?;
        let program = first(name, settings).to_owned();
        let own = settings.command.iter().skip(1).cloned();
        let words: Vec<String> = std::iter::once(program).chain(own).chain(words).collect();
        // A program that only looks may be asked to do more: `find -delete`.
        let impact = settings.impact.max(command_line::known_impact_of_words(&words));
        Ok(Self { name: name.to_owned(), arguments: given.arguments, words, impact })
    }

    /// Runs it. Any exit code is an answer.
    pub(super) async fn run(&self, toolbox: &Toolbox) -> Result<Answer, ToolError> {
        if self.words.iter().any(|word| word.contains('\0')) {
            return Err(ToolError::Refused("an argument cannot hold a zero byte".into()));
        }
        let left = toolbox.deadline.saturating_duration_since(Instant::now());
        let time = toolbox.shell_time.min(left);
        let finished = toolbox
            .confined
            .program(&self.words[0])
            .args(&self.words[1..])
            .dir(toolbox.folder.path())
            .deadline(time)
            .output_cap(KEPT_MAX / 2)
            .run(&toolbox.cancel)
            .await
            .map_err(|error| ToolError::Refused(error.to_string()))?;
        let (said, errors) = (finished.stdout.text(), finished.stderr.text());
        let written = said.len() as u64 + errors.len() as u64 + finished.stdout.dropped() + finished.stderr.dropped();
        toolbox.written.add(written);
        let shown = plain(&if errors.is_empty() { said } else { format!("{said}\n[standard error]\n{errors}") });
        let shown = toolbox.scratch.cut(shown, toolbox.output_cap).await;
        match finished.exit {
            exit @ (Exit::Code(_) | Exit::Signal(_)) => {
                Ok(Answer::Ran(format!("[{exit}]\n{shown}"), CommandResult::new(exit)))
            }
            Exit::Deadline => {
                let how = format!("ended after {} s", time.as_secs());
                Err(ToolError::Ended { text: format!("it was {how}\n{shown}"), how })
            }
            Exit::Cancelled => Err(ToolError::Refused("the run was cancelled".into())),
        }
    }
}
