//! Which actions may run: what is denied never does; what has more impact than runs by itself needs a word from
//! whoever can be asked.

use tokio::sync::{mpsc, oneshot};

use crate::{
    agent::native::{
        command_line::{CommandLine, InvalidPattern, Pattern, impact},
        tools::{Action, ToolError},
    },
    config::Impact,
};

/// An action that waits for a word.
#[derive(Debug)]
pub struct Proposal {
    /// What would be done, in one short line.
    pub action: String,
    /// What it may do.
    pub impact: Impact,
    /// Where the word goes. Dropping it refuses.
    pub answer: oneshot::Sender<Verdict>,
}

/// The word on a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Approved,
    /// It may not, with why.
    Refused(String),
}

/// The rules of one agent.
#[derive(Debug)]
pub(super) struct Guard {
    denied: Vec<Pattern>,
    approve: Impact,
    asked: Option<mpsc::Sender<Proposal>>,
}

impl Guard {
    /// The rules: patterns of what is `denied`, the highest impact that runs by itself, and who is asked beyond it.
    pub(super) fn new(
        denied: &[String],
        approve: Impact,
        asked: Option<mpsc::Sender<Proposal>>,
    ) -> Result<Self, InvalidPattern> {
        let denied = denied.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(Self { denied, approve, asked })
    }

    /// What `action` may do.
    pub(super) fn impact(action: &Action) -> Impact {
        match action {
            Action::Read(_) | Action::List(_) | Action::Search(_) | Action::Plan(_) => Impact::Low,
            Action::Ask(_) | Action::HandOff(_) | Action::Done(_) => Impact::Low,
            Action::Edit(_) | Action::Write(_) | Action::Patch(_) => Impact::Medium,
            Action::Shell(shell) => impact(&CommandLine::parse(&shell.command)),
            Action::Program(run) => run.impact,
        }
    }

    /// Says whether the action `tool` may run, which may wait for a person. The caller bounds the wait.
    pub(super) async fn check(&self, tool: &str, action: &Action) -> Result<(), ToolError> {
        let line = match action {
            Action::Shell(shell) => Some(CommandLine::parse(&shell.command)),
            Action::Program(run) => Some(CommandLine::of_words(&run.words)),
            Action::Read(_) | Action::List(_) | Action::Search(_) | Action::Plan(_) | Action::Ask(_) => None,
            Action::Edit(_) | Action::Write(_) | Action::Patch(_) | Action::HandOff(_) | Action::Done(_) => None,
        };
        if let Some(pattern) = self.denied.iter().find(|pattern| pattern.matches(tool, line.as_ref())) {
            return Err(ToolError::Refused(format!(
                "denied here by the rule `{pattern}`, also in other words. Do it another way, or leave it and say so at \
                 the end"
            )));
        }
        let impact = Self::impact(action);
        if impact <= self.approve {
            return Ok(());
        }
        let refused = |why: &str| Err(ToolError::Refused(format!("not run: its impact is {impact}, and {why}")));
        let Some(asked) = &self.asked else {
            return refused("nobody can be asked here. Do it another way, or `hand_off` and say what is needed");
        };
        let (answer, word) = oneshot::channel();
        let proposal = Proposal { action: action.line(), impact, answer };
        if asked.send(proposal).await.is_err() {
            return refused("nobody is there to approve it");
        }
        match word.await {
            Ok(Verdict::Approved) => Ok(()),
            Ok(Verdict::Refused(why)) => refused(&format!("it was refused: {why}")),
            Err(_) => refused("nobody answered"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(command: &str) -> Action {
        Action::Shell(serde_json::from_value(serde_json::json!({ "command": command })).unwrap())
    }

    fn guard(approve: Impact, asked: Option<mpsc::Sender<Proposal>>) -> Guard {
        Guard::new(&["shell(git push)".to_owned()], approve, asked).unwrap()
    }

    /// Requirement P6.
    #[tokio::test]
    async fn low_impact_runs_and_the_rest_asks() {
        let (sender, mut proposals) = mpsc::channel::<Proposal>(1);
        let answers = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(Proposal { action, impact, answer }) = proposals.recv().await {
                let verdict =
                    if impact == Impact::Medium { Verdict::Approved } else { Verdict::Refused("too much".into()) };
                seen.push(action);
                answer.send(verdict).unwrap();
            }
            seen
        });
        let guard = guard(Impact::Low, Some(sender));
        guard.check("shell", &shell("ls")).await.unwrap();
        guard.check("shell", &shell("make")).await.unwrap();
        let said = guard.check("shell", &shell("rm x")).await.unwrap_err().to_string();
        assert_eq!(said, "not run: its impact is high, and it was refused: too much");
        let said = guard.check("shell", &shell("git push")).await.unwrap_err().to_string();
        assert!(said.contains("denied here by the rule `shell(git push)`"), "{said}");
        drop(guard);
        assert_eq!(answers.await.unwrap(), ["shell make", "shell rm x"]);
    }

    #[tokio::test]
    async fn where_nobody_can_be_asked_the_setting_decides() {
        for (approve, command, runs) in [
            (Impact::Low, "ls", true),
            (Impact::Low, "make", false),
            (Impact::Medium, "make", true),
            (Impact::Medium, "curl x", false),
            (Impact::High, "curl x", true),
            (Impact::High, "git push", false),
        ] {
            assert_eq!(guard(approve, None).check("shell", &shell(command)).await.is_ok(), runs, "{command}");
        }
    }
}
