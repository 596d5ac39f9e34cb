//! Checklists as programs write them: lists of steps in JSON, with each program's own names for a step and its state.

use hob_domain::{Checklist, StepState};
use serde_json::Value;

/// Names of a step's text.
const TEXTS: [&str; 5] = ["content", "text", "description", "step", "subject"];
/// Names of its state.
const STATES: [&str; 2] = ["status", "state"];

/// The checklist in a list of steps; `None` if it is not such a list, or is empty.
pub(super) fn steps(list: &Value) -> Option<Checklist> {
    Checklist::new(list.as_array()?.iter().filter_map(step))
}

fn step(one: &Value) -> Option<(String, StepState)> {
    let text = TEXTS.iter().find_map(|name| one.get(name)?.as_str())?;
    let named = STATES.iter().find_map(|name| one.get(name)?.as_str()).and_then(step_state);
    let is_completed = one.get("completed").and_then(Value::as_bool) == Some(true);
    let plain = if is_completed { StepState::Done } else { StepState::Todo };
    Some((text.to_owned(), named.unwrap_or(plain)))
}

/// The state that a program names so.
pub(super) fn step_state(name: &str) -> Option<StepState> {
    Some(match name {
        "todo" | "pending" => StepState::Todo,
        "doing" | "in_progress" => StepState::Doing,
        "done" | "completed" | "cancelled" => StepState::Done,
        _other => return None,
    })
}

/// Whether a line of a program's output contains only its checklist, by its beginning.
pub(super) fn is_checklist(line: &str) -> bool {
    line.trim_start().starts_with("{\"checklist\"")
}

/// The checklist in a line of a program's output: `{"checklist": [{"step": "…", "state": "doing"}]}`.
pub(super) fn checklist_line(line: &str) -> Option<Checklist> {
    if !is_checklist(line) {
        return None;
    }
    steps(serde_json::from_str::<Value>(line.trim()).ok()?.get("checklist")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_program_may_be_its_checklist() {
        let steps = [("Look", StepState::Done), ("Mend", StepState::Doing), ("Test", StepState::Todo)];
        let expected = Checklist::new(steps.map(|(step, state)| (step.to_owned(), state)));
        let line =
            r#" {"checklist":[{"step":"Look","state":"done"},{"step":"Mend","state":"doing"},{"step":"Test"}]} "#;
        assert_eq!(checklist_line(line), expected);
        for none in
            ["", "checklist", r#"{"checklist":[]}"#, r#"{"checklist":{}}"#, r#"{"checklist":[1]}"#, r#"{"other":[]}"#]
        {
            assert_eq!(checklist_line(none), None, "{none}");
        }
    }

    #[test]
    fn a_state_that_is_not_known_is_one_to_do() {
        let list = serde_json::json!([{ "text": "x", "status": "odd" }, { "status": "done" }]);
        assert_eq!(steps(&list), Checklist::new([("x".to_owned(), StepState::Todo)]));
    }
}
