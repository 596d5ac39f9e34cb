//! `ask`, `hand_off` and `done`: how a model ends its run.

use hob_domain::{FailureClass, Outcome};
use serde::Deserialize;
use serde_json::json;

use crate::{
    model::Tool,
    native::tools::ToolError,
    report::{clip, given_title},
};

/// Bytes of a summary or a question; the rest is cut.
const TEXT_MAX: usize = 16 * 1024;

/// The tool `ask` as the model sees it.
pub(super) fn ask_tool() -> Tool {
    Tool {
        name: "ask".into(),
        description: "Ends the run with one precise question to a person. Changes are kept.".into(),
        schema: json!({
            "type": "object",
            "properties": { "question": { "type": "string" } },
            "required": ["question"],
        }),
    }
}

/// The tool `hand_off` as the model sees it.
pub(super) fn hand_off_tool() -> Tool {
    Tool {
        name: "hand_off".into(),
        description: "Ends the run unfinished: what a person has to give or decide. Changes are kept.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "needed": { "type": "string" },
                "done": { "type": "string" },
                "left": { "type": "string" },
            },
            "required": ["needed", "done", "left"],
        }),
    }
}

/// The tool `done` as the model sees it.
pub(super) fn done_tool() -> Tool {
    Tool {
        name: "done".into(),
        description: "Ends the run: the task is finished.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "title": { "type": "string", "description": "what the change does: imperative, at most 72 characters" },
                "summary": { "type": "string", "description": "what changed and why, in a few sentences" },
                "nothing_to_do": { "type": "boolean" },
            },
            "required": ["summary"],
        }),
    }
}

/// The arguments of `ask`.
#[derive(Debug, Deserialize)]
pub(in crate::native) struct Ask {
    /// What is asked.
    pub(super) question: String,
}

/// The arguments of `hand_off`.
#[derive(Debug, Deserialize)]
pub(in crate::native) struct HandOff {
    /// What a person has to give or decide.
    pub(super) needed: String,
    /// What is done.
    #[serde(default)]
    done: String,
    /// What is left.
    #[serde(default)]
    left: String,
}

/// The arguments of `done`.
#[derive(Debug, Deserialize)]
pub(in crate::native) struct Done {
    /// What the change does, in a few words.
    #[serde(default)]
    title: String,
    /// What was done.
    pub(super) summary: String,
    /// Whether nothing has to change.
    #[serde(default)]
    nothing_to_do: bool,
    /// What a model without tool calls says: `success`, or that it failed.
    #[serde(default)]
    failed: bool,
}

impl Ask {
    /// The outcome.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        Ok(Outcome::Question { question: text("question", &self.question)? })
    }
}

impl HandOff {
    /// The outcome: a question with the state of the work.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        let mut question = text("needed", &self.needed)?;
        for (title, part) in [("Done so far", &self.done), ("Left", &self.left)] {
            if !part.trim().is_empty() {
                question.push_str(&format!("\n\n{title}: {}", clip(part.trim(), TEXT_MAX)));
            }
        }
        Ok(Outcome::Question { question })
    }
}

impl Done {
    /// The outcome.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        let summary = text("summary", &self.summary)?;
        Ok(match (self.failed, self.nothing_to_do) {
            (true, _) => {
                Outcome::Failed { reason: format!("the agent gave up: {summary}"), failure: FailureClass::NeedsHuman }
            }
            (false, true) => Outcome::NothingToDo { reason: summary },
            (false, false) => Outcome::Done { summary, title: given_title(&self.title) },
        })
    }
}

fn text(name: &str, text: &str) -> Result<String, ToolError> {
    match text.trim() {
        "" => Err(ToolError::Refused(format!("`{name}` is empty"))),
        text => Ok(clip(text, TEXT_MAX)),
    }
}
