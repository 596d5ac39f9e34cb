//! `plan`: a checklist of the work, for the model and for progress.

use hob_domain::{Checklist, StepState};
use serde::Deserialize;
use serde_json::json;

use crate::{model::Tool, native::tools::ToolError, report::first_line};

/// Steps a plan may have.
const STEPS_MAX: usize = 50;
/// Bytes of one step that are kept.
const STEP_MAX: usize = 200;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "plan".into(),
        description: "Shows people your checklist, for work of several steps; send it whole.".into(),
        schema: json!({
            "type": "object",
            "properties": { "steps": { "type": "array", "items": {
                "type": "object",
                "properties": { "step": { "type": "string" }, "state": { "enum": ["todo", "doing", "done"] } },
                "required": ["step", "state"],
            } } },
            "required": ["steps"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Plan {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    step: String,
    #[serde(default)]
    state: StepState,
}

impl Plan {
    /// Refuses an invalid plan.
    pub(super) fn check(&self) -> Result<String, ToolError> {
        match self.steps.len() {
            0 => Err(ToolError::Refused("the plan has no steps".into())),
            1..=STEPS_MAX => Ok("shown".to_owned()),
            more => Err(ToolError::Refused(format!("the plan has {more} steps: use {STEPS_MAX} at most"))),
        }
    }

    /// The checklist that progress shows.
    pub(in crate::native) fn checklist(&self) -> Option<Checklist> {
        Checklist::new(self.steps.iter().map(|step| (step.step.clone(), step.state)))
    }

    /// Its progress, in a few words.
    pub(in crate::native) fn line(&self) -> String {
        let done = self.steps.iter().filter(|step| step.state == StepState::Done).count();
        let now = self.steps.iter().find(|step| step.state == StepState::Doing);
        let now = now.map_or_else(String::new, |step| format!(", now: {}", first_line(&step.step, 80)));
        format!("{done} of {} done{now}", self.steps.len())
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.steps {
            let sign = match step.state {
                StepState::Todo => "[ ]",
                StepState::Doing => "[-]",
                StepState::Done => "[x]",
            };
            writeln!(f, "{sign} {}", first_line(&step.step, STEP_MAX))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_a_checklist_with_a_line_for_people() {
        let plan: Plan = serde_json::from_str(
            r#"{"steps":[{"step":"look","state":"done"},{"step":"mend\nit","state":"doing"},{"step":"test"}]}"#,
        )
        .unwrap();
        assert_eq!(plan.line(), "1 of 3 done, now: mend …");
        assert_eq!(plan.to_string(), "[x] look\n[-] mend …\n[ ] test\n");
        assert!(plan.check().is_ok() && Plan { steps: Vec::new() }.check().is_err());
    }
}
