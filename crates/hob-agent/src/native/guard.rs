//! The rules for actions: a denied one never runs; one with more impact than runs without approval needs that of a
//! person who can be asked.

use hob_config::{AgentSettings, Ask};
use hob_domain::{
    ActionMark, Impact, IssueNumber, Proposed, RepoName, RunRequest,
    investigation::{CaseAction, CaseStep},
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    Approval, Proposal, Verdict,
    native::{
        command_line::{CommandLine, InvalidPattern, Pattern, impact},
        tools::{Action, ToolError},
    },
};

/// The rules of one run.
#[derive(Debug)]
pub(super) struct Guard {
    denied: Vec<Pattern>,
    approve: Impact,
    /// The same for the actions of an investigation.
    approve_case: Impact,
    ask: Ask,
    approval: Approval,
    approved: Vec<ActionMark>,
    repo: RepoName,
    issue: IssueNumber,
}

/// The rule against deleting folders, as the default settings have it.
const DELETES_FOLDERS: &str = "shell(rm -r)";

/// The shell's folder when it gets a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the agent's folder, or below it.
    InFolder,
    /// Somewhere else.
    Elsewhere,
}

/// The decision on an action that is not refused.
#[derive(Debug)]
pub(super) enum Decision {
    Allow,
    /// The run ends: a person is asked on the issue.
    AskOnIssue(Proposed),
}

impl Guard {
    /// The rules of a run: what its settings deny and allow, what people allowed for its issue, and the approver of the
    /// rest.
    pub(super) fn new(
        settings: &AgentSettings,
        request: &RunRequest,
        approval: Approval,
    ) -> Result<Self, InvalidPattern> {
        let denied = settings.denied.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        let (approve, ask, approved) = (settings.approve, settings.ask, request.approved.clone());
        let approve_case = Impact::Low;
        Ok(Self {
            denied,
            approve,
            approve_case,
            ask,
            approval,
            approved,
            repo: request.repo.clone(),
            issue: request.issue,
        })
    }

    /// The rules of an investigation, whose own actions run without approval up to this impact.
    pub(super) fn investigating(self, approve_case: Impact) -> Self {
        Self { approve_case, ..self }
    }

    /// Whether `action` runs without approval.
    pub(super) fn runs_by_itself(&self, action: &Action) -> bool {
        let approve = if matches!(action, Action::Case(_)) { self.approve_case } else { self.approve };
        Self::impact(action) <= approve
    }

    /// The impact of `action`.
    pub(super) fn impact(action: &Action) -> Impact {
        match action {
            Action::Read(_) | Action::List(_) | Action::Search(_) | Action::Fetch(_) | Action::ReadEvidence(_) => {
                Impact::Low
            }
            Action::Case(action) => action.impact(),
            Action::Plan(_) | Action::Think(_) | Action::Ask(_) => Impact::Low,
            Action::ForPerson(_) | Action::PassOn(_) | Action::Done(_) => Impact::Low,
            Action::Edit(_) | Action::Write(_) | Action::Patch(_) => Impact::Medium,
            Action::Shell(shell) => impact(&CommandLine::parse(&shell.command)),
            Action::Job(look) if look.acts() => Impact::Medium,
            Action::Job(_) => Impact::Low,
            Action::Program(run) => run.impact,
            Action::Mcp(call) => call.impact,
        }
    }

    /// Decides whether the action `tool` may run, which may wait for a person. The caller bounds the wait.
    pub(super) async fn check(&self, tool: &str, action: &Action, place: Place) -> Result<Decision, ToolError> {
        let line = match action {
            Action::Shell(shell) => Some(CommandLine::parse(&shell.command)),
            Action::Program(run) => Some(CommandLine::of_words(&run.words)),
            Action::Read(_) | Action::List(_) | Action::Search(_) | Action::Plan(_) | Action::Ask(_) => None,
            Action::ReadEvidence(_) | Action::Case(_) | Action::ForPerson(_) | Action::PassOn(_) => None,
            Action::Edit(_) | Action::Write(_) | Action::Patch(_) | Action::Done(_) => None,
            Action::Job(_) | Action::Mcp(_) | Action::Fetch(_) | Action::Think(_) => None,
        };
        // Everything in the folder is the agent's to delete, folders included.
        let deletes_its_own = place == Place::InFolder && line.as_ref().is_some_and(CommandLine::deletes_below);
        let denies = |pattern: &&Pattern| {
            pattern.matches(tool, line.as_ref()) && !(deletes_its_own && pattern.is(DELETES_FOLDERS))
        };
        if let Some(pattern) = self.denied.iter().find(denies) {
            return Err(ToolError::Refused(format!(
                "denied here by the rule `{pattern}`, also in other words. Do it another way, or leave it and say so at \
                 the end"
            )));
        }
        let impact = Self::impact(action);
        if self.runs_by_itself(action) {
            return Ok(Decision::Allow);
        }
        let proposed = Proposed { tool: tool.to_owned(), line: action.line(), text: action.exact(), impact };
        if self.approved.contains(&proposed.mark()) {
            return Ok(Decision::Allow);
        }
        let ask = match action {
            // If no person is at a terminal, this action itself asks the person.
            Action::Case(CaseAction { step: CaseStep::RequestEvidence { .. }, .. })
                if matches!(self.approval, Approval::Nobody) =>
            {
                return Ok(Decision::Allow);
            }
            Action::Case(_) => Ask::Issue,
            Action::Read(_)
            | Action::List(_)
            | Action::Search(_)
            | Action::Fetch(_)
            | Action::Edit(_)
            | Action::Write(_)
            | Action::Patch(_)
            | Action::Shell(_)
            | Action::Job(_)
            | Action::Program(_)
            | Action::Mcp(_)
            | Action::ReadEvidence(_)
            | Action::Plan(_)
            | Action::Think(_)
            | Action::Ask(_)
            | Action::ForPerson(_)
            | Action::PassOn(_)
            | Action::Done(_) => self.ask,
        };
        match (&self.approval, ask) {
            (Approval::Given, _) => Ok(Decision::Allow),
            (Approval::Asked(asked), _) => {
                readable(&proposed)?;
                self.ask_now(asked, proposed).await
            }
            (Approval::Nobody, Ask::Issue) => {
                readable(&proposed)?;
                Ok(Decision::AskOnIssue(proposed))
            }
            (Approval::Nobody, Ask::Nobody) => Err(refused(
                impact,
                "nobody can be asked here. Do it another way, or `hand_off` and name what is needed",
            )),
        }
    }

    async fn ask_now(&self, asked: &mpsc::Sender<Proposal>, action: Proposed) -> Result<Decision, ToolError> {
        let impact = action.impact;
        let (answer, word) = oneshot::channel();
        let proposal = Proposal { repo: self.repo.clone(), issue: self.issue, action, answer };
        if asked.send(proposal).await.is_err() {
            return Err(refused(impact, "nobody is there to approve it"));
        }
        match word.await {
            Ok(Verdict::Approved) => Ok(Decision::Allow),
            Ok(Verdict::Refused(why)) => Err(refused(impact, &format!("it was refused: {why}"))),
            Err(_) => Err(refused(impact, "nobody answered")),
        }
    }
}

/// Checks that a person can be shown the whole of it.
fn readable(proposed: &Proposed) -> Result<(), ToolError> {
    let long = proposed.shown().len();
    if long <= Proposed::SHOWN_MAX {
        return Ok(());
    }
    let why = format!(
        "it is too long to ask a person about: {long} characters, at most {}. Do it in smaller steps",
        Proposed::SHOWN_MAX
    );
    Err(refused(proposed.impact, &why))
}

fn refused(impact: Impact, why: &str) -> ToolError {
    ToolError::Refused(format!("not run: its impact is {impact}, and {why}"))
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(command: &str) -> Action {
        Action::Shell(serde_json::from_value(serde_json::json!({ "command": command })).unwrap())
    }

    fn write(text: &str) -> Action {
        Action::Write(serde_json::from_value(serde_json::json!({ "path": "a", "text": text })).unwrap())
    }

    pub(in crate::native) fn request(approved: &[ActionMark]) -> RunRequest {
        RunRequest {
            run: "run-1".into(),
            purpose: hob_domain::RunPurpose::Work,
            session: "run-1".into(),
            repo: "acme/site".parse().unwrap(),
            issue: IssueNumber(7),
            title: String::new(),
            body: String::new(),
            brief: String::new(),
            folder: std::path::PathBuf::new(),
            checks: Vec::new(),
            time: Duration::from_secs(60),
            time_setting: "limits.attempt_time",
            usd_micros: None,
            tokens: None,
            approved: approved.to_vec(),
            investigation: None,
            hand_off_to: Vec::new(),
            images: Vec::new(),
            strain: hob_domain::Strain::Usual,
            checks_took: Default::default(),
            candidate: 0,
        }
    }

    fn guard_of(approve: Impact, ask: Ask, approval: Approval, approved: &[ActionMark]) -> Guard {
        let settings =
            AgentSettings { approve, ask, denied: vec!["shell(git push)".to_owned()], ..AgentSettings::default() };
        Guard::new(&settings, &request(approved), approval).unwrap()
    }

    async fn said(guard: &Guard, command: &str) -> String {
        match guard.check("shell", &shell(command), Place::InFolder).await {
            Ok(Decision::Allow) => "runs".to_owned(),
            Ok(Decision::AskOnIssue(proposed)) => format!("waits: {}", proposed.line),
            Err(error) => error.to_string(),
        }
    }

    /// Requirement P6.
    #[tokio::test]
    async fn low_impact_runs_and_the_rest_asks() {
        let (sender, mut proposals) = mpsc::channel::<Proposal>(1);
        let answers = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(Proposal { issue, action, answer, .. }) = proposals.recv().await {
                let medium = action.impact == Impact::Medium;
                let verdict = if medium { Verdict::Approved } else { Verdict::Refused("too much".into()) };
                seen.push(format!("{issue} {}", action.line));
                answer.send(verdict).unwrap();
            }
            seen
        });
        // A terminal is asked before the issue.
        let guard = guard_of(Impact::Low, Ask::Issue, Approval::Asked(sender), &[]);
        assert_eq!(said(&guard, "ls").await, "runs");
        assert_eq!(said(&guard, "make").await, "runs");
        assert_eq!(said(&guard, "rm x").await, "not run: its impact is high, and it was refused: too much");
        let denied = said(&guard, "git push").await;
        assert!(denied.contains("denied here by the rule `shell(git push)`"), "{denied}");
        drop(guard);
        assert_eq!(answers.await.unwrap(), ["7 shell make", "7 shell rm x"]);
    }

    #[tokio::test]
    async fn a_folder_below_may_be_deleted_and_no_other() {
        let settings = AgentSettings::default();
        let guard = Guard::new(&settings, &request(&[]), Approval::Nobody).unwrap();
        for (command, place, runs) in [
            ("rm -rf build", Place::InFolder, true),
            ("make && rm -rf ./build/out target", Place::InFolder, false),
            ("make && rm -rf build/out target", Place::InFolder, true),
            ("rm -rf build", Place::Elsewhere, false),
            ("rm -rf /tmp/x", Place::InFolder, false),
            ("rm -rf ../x", Place::InFolder, false),
            ("rm -rf .", Place::InFolder, false),
            ("rm -rf .git", Place::InFolder, false),
            ("rm -rf *", Place::InFolder, false),
            ("rm -rf ~", Place::InFolder, false),
            ("rm -rf $X", Place::InFolder, false),
            ("cd / && rm -rf home", Place::InFolder, false),
            ("find . -delete", Place::InFolder, false),
            ("git push && rm -rf build", Place::InFolder, false),
        ] {
            assert_eq!(guard.check("shell", &shell(command), place).await.is_ok(), runs, "{command}");
        }
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
            let guard = guard_of(approve, Ask::Nobody, Approval::Nobody, &[]);
            assert_eq!(guard.check("shell", &shell(command), Place::InFolder).await.is_ok(), runs, "{command}");
        }
    }

    #[tokio::test]
    async fn what_waits_for_the_issue_runs_once_exactly_it_was_allowed() {
        let guard = guard_of(Impact::Low, Ask::Issue, Approval::Nobody, &[]);
        assert_eq!(said(&guard, "rm x").await, "waits: shell rm x");
        let Ok(Decision::AskOnIssue(proposed)) = guard.check("shell", &shell("rm x"), Place::InFolder).await else {
            panic!("it waits")
        };
        let guard = guard_of(Impact::Low, Ask::Issue, Approval::Nobody, &[proposed.mark()]);
        assert_eq!(said(&guard, "rm x").await, "runs");
        for other in ["rm y", "rm x y", "rm x; rm y"] {
            assert!(said(&guard, other).await.starts_with("waits: "), "{other}");
        }
    }

    #[tokio::test]
    async fn with_approval_given_all_but_what_is_denied_runs() {
        for approve in [Impact::Low, Impact::Medium, Impact::High] {
            let guard = guard_of(approve, Ask::Issue, Approval::Given, &[]);
            assert_eq!(said(&guard, "rm x").await, "runs");
            assert!(said(&guard, "git push").await.contains("denied here"));
        }
    }

    #[tokio::test]
    async fn denied_stays_denied_even_where_it_was_allowed_once() {
        let text = "git push".to_owned();
        let pushed = Proposed { tool: "shell".into(), line: format!("shell {text}"), text, impact: Impact::High };
        let guard = guard_of(Impact::Low, Ask::Issue, Approval::Given, &[pushed.mark()]);
        assert!(said(&guard, "git push").await.contains("denied here"));
    }

    #[tokio::test]
    async fn nobody_is_asked_about_what_they_cannot_be_shown() {
        let guard = guard_of(Impact::Low, Ask::Issue, Approval::Nobody, &[]);
        let long = "x".repeat(Proposed::SHOWN_MAX);
        let error = guard.check("write", &write(&long), Place::InFolder).await.unwrap_err().to_string();
        assert!(error.contains("too long to ask a person about"), "{error}");
        let Ok(Decision::AskOnIssue(shown)) = guard.check("write", &write("short"), Place::InFolder).await else {
            panic!("it waits")
        };
        assert_eq!(shown.text, "{\n  \"path\": \"a\",\n  \"text\": \"short\"\n}");
    }
}
