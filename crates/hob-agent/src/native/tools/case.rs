//! The tools of an investigation: its actions, and `read_evidence`.

use hob_domain::{
    ProfileName,
    investigation::{CaseAction, EvidenceId},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{model::Tool, native::tools::ToolError};

/// The tool that shows a piece of evidence.
pub(super) const READ_EVIDENCE: &str = "read_evidence";

/// The arguments of `read_evidence`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct ReadEvidence {
    /// Its id.
    pub(in crate::native) id: EvidenceId,
    /// The first line, from 1.
    #[serde(default)]
    pub(in crate::native) from: Option<usize>,
}

/// The tools as the model sees them; `targets` are the profiles that may go on after the conclusion.
pub(super) fn tools(targets: &[ProfileName]) -> Vec<Tool> {
    let mut end = vec![
        ("conclusion", json!({ "type": "string" })),
        ("to_settle", json!({ "type": "array", "items": { "type": "string" } })),
    ];
    if !targets.is_empty() {
        let names: Vec<&str> = targets.iter().map(ProfileName::as_str).collect();
        let why = "who goes on with a change of the repository; left out where none is to be made";
        end.push(("hand_off_to", json!({ "type": "string", "enum": names, "description": why })));
        end.push((
            "left",
            json!({ "type": "string", "description": "what it has to change, and how one sees that it is right" }),
        ));
    }
    let question = json!({ "type": "string", "description": "such as Q1; left out for a new one" });
    let hypothesis = json!({ "type": "string", "description": "such as H1; left out for a new one" });
    vec![
        Tool {
            name: READ_EVIDENCE.into(),
            description: "Shows the text of a piece of evidence that people gave, with the numbers of its lines."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "id": { "type": "string", "description": "such as E1" },
                    "from": { "type": "integer", "description": "the first line" },
                },
                "required": ["id"],
            }),
        },
        action(
            "answer_question",
            "Answers a question of the case, or answers it anew. One that you found you need is asked in `statement`.",
            &[
                ("question", question),
                ("statement", json!({ "type": "string" })),
                ("answer", json!({ "type": "string" })),
            ],
            &["answer"],
        ),
        action(
            "test_hypothesis",
            "Gives the verdict on a hypothesis; `thought` says why. A new one is stated in `statement`.",
            &[
                ("hypothesis", hypothesis),
                ("statement", json!({ "type": "string" })),
                ("verdict", json!({ "type": "string", "enum": ["validated", "disproved"] })),
            ],
            &["verdict"],
        ),
        action(
            "request_evidence",
            "Ends the run and asks a person for evidence that you cannot find here. One precise request.",
            &[("request", json!({ "type": "string" }))],
            &["request"],
        ),
        action(
            "transition_state",
            "Moves the case to another state: to the next one through its gate, or back.",
            &[("to", json!({ "type": "string" }))],
            &["to"],
        ),
        action(
            "conclude",
            "Ends the investigation, in the last state: what is so, why, and what would settle what is still open.",
            &end,
            &["conclusion"],
        ),
    ]
}

/// Whether `name` is a tool of investigations.
pub(super) fn is_one(name: &str) -> bool {
    name == READ_EVIDENCE || CaseAction::NAMES.contains(&name)
}

/// An action with the members that all have: thought, confidence, evidence.
fn action(name: &'static str, description: &'static str, own: &[(&str, Value)], required: &[&str]) -> Tool {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "thought": { "type": "string" },
            "confidence": { "type": "string", "enum": ["HIGH", "MEDIUM", "LOW"] },
            "evidence_refs": { "type": "array", "items": { "type": "string" }, "description": "such as [\"E1\"]" },
        },
        "required": ["thought", "confidence", "evidence_refs"],
    });
    for (name, of) in own {
        schema["properties"][*name] = of.clone();
    }
    if let Some(list) = schema["required"].as_array_mut() {
        list.extend(required.iter().map(|name| Value::from(*name)));
    }
    Tool { name: name.into(), description: description.into(), schema }
}

/// Reads the arguments of the action `name`.
pub(super) fn parse(name: &str, arguments: serde_json::Map<String, Value>) -> Result<CaseAction, ToolError> {
    let read = CaseAction::parse(name, arguments);
    read.map_err(|error| ToolError::Arguments { tool: name.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_tool_for_each_action() {
        let names: Vec<_> = tools(&[]).iter().map(|tool| tool.name.to_string()).collect();
        let actions: Vec<_> = CaseAction::NAMES.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(names[1..], actions);
        for tool in tools(&[]) {
            assert!(is_one(&tool.name) && tool.schema["properties"].is_object(), "{}", tool.name);
            assert!(tool.schema["properties"]["hand_off_to"].is_null(), "there is nobody");
        }
        let end = tools(&["code".parse().unwrap()]).pop().unwrap();
        assert_eq!(end.schema["properties"]["hand_off_to"]["enum"], json!(["code"]));
    }
}
