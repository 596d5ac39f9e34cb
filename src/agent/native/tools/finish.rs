//! `ask` and `done`: how a model ends its run.

use serde::Deserialize;
use serde_json::json;

use crate::{
    agent::{native::tools::ToolError, report::clip},
    domain::Outcome,
    model::Tool,
};

/// Bytes of a summary or a question; the rest is cut.
const TEXT_MAX: usize = 16 * 1024;

/// The tool `ask` as the model sees it.
pub(super) fn ask_tool() -> Tool {
    Tool {
        name: "ask",
        description: "Ends the run with a question to a person. What you changed so far is kept.",
        schema: json!({
            "type": "object",
            "properties": { "question": { "type": "string", "description": "one precise question" } },
            "required": ["question"],
        }),
    }
}

/// The tool `done` as the model sees it.
pub(super) fn done_tool() -> Tool {
    Tool {
        name: "done",
        description: "Ends the run: the task is finished.",
        schema: json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string", "description": "for the pull request: what was changed, why, how it was checked" },
                "nothing_to_do": { "type": "boolean", "description": "true when nothing has to change; the summary says why" },
            },
            "required": ["summary"],
        }),
    }
}

/// The arguments of `ask`.
#[derive(Debug, Deserialize)]
pub(in crate::agent::native) struct Ask {
    /// What is asked.
    pub(super) question: String,
}

/// The arguments of `done`.
#[derive(Debug, Deserialize)]
pub(in crate::agent::native) struct Done {
    /// What was done.
    pub(super) summary: String,
    /// Whether nothing has to change.
    #[serde(default)]
    nothing_to_do: bool,
}

impl Ask {
    /// The outcome.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        Ok(Outcome::Question { question: text("question", &self.question)? })
    }
}

impl Done {
    /// The outcome.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        let summary = text("summary", &self.summary)?;
        Ok(if self.nothing_to_do { Outcome::NothingToDo { reason: summary } } else { Outcome::Done { summary } })
    }
}

fn text(name: &str, text: &str) -> Result<String, ToolError> {
    match text.trim() {
        "" => Err(ToolError::Refused(format!("`{name}` is empty"))),
        text => Ok(clip(text, TEXT_MAX)),
    }
}
