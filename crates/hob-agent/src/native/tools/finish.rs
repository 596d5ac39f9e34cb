//! `ask`, `hand_off` and `done`: how a model ends its run.

use hob_domain::{FailureClass, HandOff, HandOffTarget, Outcome, ProfileName};
use hob_text::Redaction;
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
pub(super) fn for_person_tool() -> Tool {
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

/// The tool `hand_off`, if there are profiles to hand off to.
pub(super) fn hand_off_tool(targets: &[HandOffTarget]) -> Tool {
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let list: String = targets.iter().map(|target| format!("\n- {}: {}", target.name, target.description)).collect();
    let text = |what: &str| json!({ "type": "string", "description": what });
    Tool {
        name: "hand_off".into(),
        description: format!(
            "Ends the run: another profile goes on, in this folder, with what you write here and nothing else of yours. First \
             do your own part. No secrets. What only a person can give, `ask` for. The profiles:{list}"
        )
        .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "to": { "type": "string", "enum": names },
                "reason": text("why that profile, in a sentence"),
                "done": text("what is done"),
                "left": text("what is left"),
                "context": text("what it has to know"),
                "evidence": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "where it can be seen: files, commands and what they said, addresses",
                },
            },
            "required": ["to", "reason", "done", "left"],
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
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Ask {
    /// The question.
    pub(super) question: String,
}

/// The arguments of `hand_off`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct ForPerson {
    /// The input or decision that is needed from a person.
    pub(super) needed: String,
    /// The finished part of the work.
    #[serde(default)]
    done: String,
    /// The rest of the work.
    #[serde(default)]
    left: String,
}

/// The arguments of `hand_off` to a profile, and which there are.
#[derive(Debug)]
pub(in crate::native) struct PassOn {
    /// The hand-off.
    pub(super) hand_off: HandOff,
    /// The profiles that may get it.
    pub(super) targets: Vec<ProfileName>,
}

impl PassOn {
    /// The outcome. The model gets the worker's objections while it can still fix them.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        // A run does not know Hob's secrets: the worker looks for those.
        match self.hand_off.check(None, &self.targets, &Redaction::default()) {
            Ok(_) => Ok(Outcome::HandOff(Box::new(self.hand_off))),
            Err(refused) => Err(ToolError::Refused(refused.to_string())),
        }
    }
}

/// The arguments of `done`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Done {
    /// A title for the change, in a few words.
    #[serde(default)]
    title: String,
    /// A summary of the work.
    pub(super) summary: String,
    /// Whether nothing has to change.
    #[serde(default)]
    nothing_to_do: bool,
    /// Whether a model without tool calls reported a failure, by `success`.
    #[serde(default)]
    failed: bool,
}

impl Ask {
    /// The outcome.
    pub(super) fn end(self) -> Result<Outcome, ToolError> {
        Ok(Outcome::Question { question: text("question", &self.question)? })
    }
}

impl ForPerson {
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
    /// Whether it says that something was changed successfully.
    pub(in crate::native) fn is_success(&self) -> bool {
        !self.failed && !self.nothing_to_do
    }

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
