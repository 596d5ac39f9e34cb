//! An investigation by the native agent, over several runs: its record, its gates, and its remains when it is killed.

use hob_agent::{Proposal, Verdict};
use hob_config::{AgentSettings, StateSettings};
use hob_domain::{
    FailureClass, Impact, RunPurpose,
    investigation::{
        Allowed, Case, CaseState, CaseStatus, CaseTemplate, Condition, Confidence, EvidenceKind, Given, Investigation,
        Iteration, QuestionTemplate,
    },
};
use serde_json::{Value, json};

use super::{
    native::{call, native},
    *,
};

/// A case, the folder that the agent looks into, and the folder of its sessions.
pub(super) struct Desk {
    pub(super) bench: Bench,
    folder: tempfile::TempDir,
}

impl Desk {
    pub(super) fn new(case: Case) -> Self {
        let files = [("deploy/job.yml", "image: shop:1.4.2\nkey: DEPLOY_KEY_2024\n")];
        let mut bench = Bench::new(&files);
        bench.request.brief = String::new();
        bench.request.investigation = Some(case);
        Self { bench, folder: tempfile::tempdir().unwrap() }
    }

    fn sessions(&self) -> Sessions {
        let keep = StateSettings { keep: Duration::from_secs(3_600), sessions: 64 << 20, disk: 0 };
        Sessions::new(self.folder.path().to_owned(), keep)
    }

    pub(super) async fn run(&self, agent: &dyn AgentBackend) -> RunReport {
        let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
        let executor = Executor::new(self.sessions(), settings.runs);
        executor.run("native", agent, &self.bench.request, &self.bench.context).await.unwrap()
    }

    pub(super) fn record(&self) -> Investigation {
        self.sessions().investigation(&self.bench.request.session).unwrap().unwrap()
    }

    pub(super) fn iterations(&mut self) -> Vec<Iteration> {
        std::iter::from_fn(|| self.bench.progress.try_recv().ok()).filter_map(|progress| progress.iteration).collect()
    }

    pub(super) fn brings(&mut self, kind: EvidenceKind, source: &str, text: &str) {
        let case = self.bench.request.investigation.as_mut().unwrap();
        case.evidence.push(Given { kind, source: source.to_owned(), text: text.to_owned() });
    }
}

/// The deployment failure of the design: six questions, three hypotheses, two files.
pub(super) fn deployment() -> Case {
    let ask = |text: &str| QuestionTemplate { text: text.to_owned(), required: true };
    let template = CaseTemplate {
        questions: [
            "Which step failed?",
            "Which version was deployed?",
            "What was the error?",
            "What changed before?",
            "Who renews the key?",
            "Is production affected?",
        ]
        .map(ask)
        .into(),
        hypotheses: ["The disk is full", "The key has expired", "The registry was down"].map(str::to_owned).into(),
        ..CaseTemplate::default()
    };
    let given = |kind, source: &str, text: &str| Given { kind, source: source.into(), text: text.into() };
    Case {
        title: "The deployment failed".to_owned(),
        template,
        evidence: vec![
            given(EvidenceKind::Issue, "the issue", "The deployment failed\n\nSince this morning. @team please look"),
            given(EvidenceKind::File, "deploy.log", "pull shop:1.4.2 ok\nsign: key DEPLOY_KEY_2024 expired\n"),
            given(EvidenceKind::File, "df.txt", "/dev/sda1 41% used\n"),
        ],
    }
}

pub(super) fn grounds(refs: &[&str], mut own: Value) -> Value {
    own["thought"] = "The evidence says so.".into();
    own["confidence"] = "HIGH".into();
    own["evidence_refs"] = json!(refs);
    own
}

pub(super) fn act(name: &str, refs: &[&str], own: Value) -> Value {
    json!({ "name": name, "arguments": grounds(refs, own) })
}

pub(super) fn answer(question: &str, refs: &[&str], text: &str) -> Value {
    act("answer_question", refs, json!({ "question": question, "answer": text }))
}

pub(super) fn judge(hypothesis: &str, refs: &[&str], verdict: &str) -> Value {
    act("test_hypothesis", refs, json!({ "hypothesis": hypothesis, "verdict": verdict }))
}

pub(super) fn to(state: &str) -> Value {
    act("transition_state", &[], json!({ "to": state }))
}

/// The model's replies in each turn of the whole case; a resumed run continues in the same list.
fn replies() -> Value {
    let show = |id: &str| json!({ "name": "read_evidence", "arguments": { "id": id } });
    json!([
        { "expect": ["Q6, required: Is production affected? [open]", "H3, open: The registry was down", "E3: file df.txt",
                     "Since this morning.", "What the gate of `normalize` lacks now: nothing"],
          "text": "I read what was given.", "calls": [show("E2"), show("E3"), show("E9")] },
        { "expect": ["2: sign: key DEPLOY_KEY_2024 expired", "there is no evidence E9"], "calls": [to("normalize")] },
        { "expect": ["the case moved from `intake` to `normalize`"],
          "calls": [answer("Q1", &["E2"], "Signing."), answer("Q2", &["E2"], "1.4.2"), to("investigate")] },
        { "calls": [to("conclude")] },
        { "expect": ["the gate of `conclude` does not hold: it lacks answers to the required Q3, Q4, Q5, Q6 and a hypothesis"],
          "calls": [answer("Q3", &["E2"], "The key has expired."), judge("H1", &["E3"], "disproved"),
                    { "name": "write", "arguments": { "path": "a", "text": "x" } },
                    { "name": "shell", "arguments": { "command": "rm deploy/job.yml" } },
                    { "name": "read", "arguments": { "path": "deploy/job.yml" } }] },
        { "expect": ["there is no tool `write`", "an investigation only looks", "[evidence E4, 39 bytes]\nimage: shop:1.4.2"],
          "calls": [answer("Q4", &["E4"], "Nothing: the job is as it was."), judge("H2", &["E2", "E4"], "validated")] },
        // The process is killed while a person reads this one.
        { "calls": [to("intake")] },
        { "expect": ["The process that ran you was killed", "[case: investigate: 4 of 6 questions answered, 2 of 3 hypotheses tested]"],
          "calls": [act("request_evidence", &[], json!({ "request": "Who renews the key, and does production work?" }))] },
        { "expect": ["new evidence: E5", "E5, comment ann", "The platform team; production works."],
          "calls": [answer("Q5", &["E5"], "The platform team."), answer("Q6", &["E5"], "No."), judge("H3", &["E2"], "disproved")] },
        { "calls": [to("conclude")] },
        { "expect": ["the case moved from `investigate` to `conclude`"],
          "calls": [act("conclude", &["E2", "E4", "E5"],
              json!({ "conclusion": "The key DEPLOY_KEY_2024 has expired. @team", "to_settle": ["When it expired."] }))] },
    ])
}

/// Approves its proposals, and expects all in `asked`; at the repeated one it never answers.
pub(super) fn person(bench: &mut Bench) -> mpsc::UnboundedReceiver<String> {
    let (sender, mut proposals) = mpsc::channel::<Proposal>(1);
    bench.context.approval = Approval::Asked(sender);
    let (seen, asked) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Some(proposal) = proposals.recv().await {
            let line = proposal.action.line.clone();
            if line == "transition_state intake" {
                open.push(proposal.answer);
            } else {
                proposal.answer.send(Verdict::Approved).unwrap();
            }
            seen.send(line).unwrap();
        }
    });
    asked
}

pub(super) fn of<'a>(shown: &'a [Iteration], action: &str) -> &'a Iteration {
    shown.iter().find(|iteration| iteration.action == action).unwrap()
}

/// Whoever investigates the deployment is killed while a person reads the change that goes back; the iterations so far.
pub(super) async fn killed_in_the_middle(
    desk: &mut Desk,
    agent: &dyn AgentBackend,
    asked: &mut mpsc::UnboundedReceiver<String>,
) -> Vec<Iteration> {
    {
        let run = desk.run(agent);
        let killed = async { while asked.recv().await.unwrap() != "transition_state intake" {} };
        tokio::select! {
            report = run => panic!("{report:?}"),
            () = killed => {}
        }
    }
    let record = desk.record();
    assert_eq!((record.state.as_str(), record.answered(), record.tested()), ("investigate", 4, 2));
    let shown = desk.iterations();
    let (refused, answered) = (of(&shown, "transition_state conclude"), of(&shown, "answer_question Q1"));
    assert_eq!((refused.impact, &refused.approval), (Impact::High, &Allowed::Refused));
    assert!(refused.effect.contains("it lacks answers to the required Q3"), "{refused:?}");
    assert_eq!(of(&shown, "transition_state normalize").approval, Allowed::Approved);
    assert_eq!((&answered.approval, answered.confidence), (&Allowed::ByItself, Some(Confidence::High)));
    shown
}

/// The report of the case, which was concluded and changed nothing.
pub(super) fn concluded(desk: &Desk, report: &RunReport) -> String {
    let (record, Outcome::Done { summary, .. }) = (desk.record(), &report.outcome) else { panic!("{report:?}") };
    assert_eq!((record.status(), record.confidence()), (CaseStatus::Concluded, Some(Confidence::High)));
    for part in ["The key DEPLOY_KEY_2024 has expired.", "| E4 | output | `read deploy/job.yml` | 39 |"] {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
    assert_eq!(desk.bench.read("deploy/job.yml").lines().count(), 2);
    summary.clone()
}

/// Requirements P1, P2, P6, P7, P9, G4 and G8.
#[tokio::test]
async fn a_deployment_failure_is_investigated_over_a_kill_and_a_request_to_its_conclusion() {
    let mut desk = Desk::new(deployment());
    let mut asked = person(&mut desk.bench);
    let agent = native(replies());
    let shown = killed_in_the_middle(&mut desk, &agent, &mut asked).await;
    let (refused, read) = (of(&shown, "transition_state conclude"), of(&shown, "read_evidence E2"));
    assert_eq!((refused.number, refused.max), (4, Some(50)));
    assert_eq!(of(&shown, "transition_state normalize").thought, "The evidence says so.");
    assert_eq!((read.thought.as_str(), read.effect.as_str()), ("I read what was given.", "[E2, lines 1 to 2 of 2]"));
    assert!(shown.windows(2).all(|two| two[0].progress.percent <= two[1].progress.percent), "{shown:#?}");

    // It goes on, asks a person, and its process can end.
    desk.bench.request.run = "run-2".into();
    let report = desk.run(&agent).await;
    let question = "Who renews the key, and does production work?".to_owned();
    assert_eq!(report.outcome, Outcome::Question { question });
    assert_eq!(desk.record().status(), CaseStatus::Waiting);
    assert_eq!(asked.recv().await.unwrap(), "request_evidence Who renews the key, and does production work?");
    // While no one answers, the model is not asked.
    let spend = desk.run(&agent).await.spend;
    assert_eq!(spend.tokens(), 0);

    desk.brings(EvidenceKind::Comment, "ann", "The platform team; production works.");
    desk.bench.request.run = "run-3".into();
    let report = desk.run(&agent).await;
    assert_eq!(asked.recv().await.unwrap(), "transition_state conclude");
    let summary = concluded(&desk, &report);
    for part in [
        "## Conclusion\n\nThe key DEPLOY_KEY_2024 has expired. @\u{200b}team\n",
        "**Confidence: high.** Evidence: E2, E4, E5.",
        "- **Q6: Is production affected?**<br>No. (high confidence; E5)",
        "### What was ruled out\n\n- **H1: The disk is full**",
        "- When it expired.",
        "11 iterations in 0 minutes; 6 of 6 questions answered, 3 of 3 hypotheses tested, 3 changes of the state, 3 actions \
         refused, 1 error.",
    ] {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
    // A run after the end gives the same, and costs nothing.
    let again = desk.run(&agent).await;
    assert_eq!((again.outcome, again.spend.tokens()), (Outcome::done(summary), 0));
}

/// Requirement P6: without a terminal the run ends, and an action that is allowed later runs.
#[tokio::test]
async fn a_change_of_the_state_waits_for_a_word() {
    let mut desk = Desk::new(deployment());
    let replies = json!([{ "calls": [to("normalize")] }, { "calls": [to("normalize")] }, call("hand_off", json!({ "needed": "x", "done": "", "left": "" }))]);
    let agent = native(replies);
    let report = desk.run(&agent).await;
    let Outcome::ApprovalNeeded { proposed } = report.outcome else { panic!("{report:?}") };
    assert_eq!((proposed.line.as_str(), proposed.impact), ("transition_state normalize", Impact::High));
    assert_eq!((desk.record().state.as_str(), desk.iterations()[0].approval.clone()), ("intake", Allowed::Waits));
    desk.bench.request.approved = vec![proposed.mark()];
    desk.run(&agent).await;
    assert_eq!(desk.record().state, "normalize");

    let mut lenient = deployment();
    lenient.template.approve = Impact::High;
    let desk = Desk::new(lenient);
    desk.run(&native(
        json!([{ "calls": [to("normalize")] }, call("hand_off", json!({ "needed": "x", "done": "", "left": "" }))]),
    ))
    .await;
    assert_eq!(desk.record().state, "normalize");
}

#[tokio::test]
async fn a_damaged_record_is_begun_anew_with_a_warning() {
    let mut desk = Desk::new(deployment());
    let hand_off = call("hand_off", json!({ "needed": "x", "done": "", "left": "" }));
    desk.run(&native(json!([hand_off]))).await;
    let path = desk.folder.path().join("run-1/investigation.json");
    std::fs::write(&path, "{\"investigation\": 1, \"id\"").unwrap();
    // The stored text of a piece of evidence is gone, too.
    std::fs::remove_file(desk.folder.path().join("run-1/evidence-E2.txt")).unwrap();
    desk.bench.said();
    desk.run(&native(json!([hand_off, hand_off]))).await;
    let said = desk.bench.said().join("\n");
    assert!(said.contains("cannot be read") && said.contains("the investigation begins anew"), "{said}");
    assert_eq!((desk.record().evidence.len(), desk.record().questions.len()), (3, 6));
}

#[tokio::test]
async fn a_case_can_have_states_and_gates_of_its_own() {
    let mut case = deployment();
    case.template.states =
        vec![CaseState::new("look", None), CaseState::new("close", Some(vec![Condition::Hypothesis]))];
    case.template.approve = Impact::High;
    let desk = Desk::new(case);
    let replies = json!([
        { "calls": [to("close")] },
        { "expect": ["it lacks a hypothesis that is validated with evidence"], "calls": [judge("H2", &["E2"], "validated"), to("close")] },
        { "calls": [act("conclude", &["E2"], json!({ "conclusion": "The key." }))] },
    ]);
    let report = desk.run(&native(replies)).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
    assert_eq!(desk.record().metrics.transitions, 1);
}

/// Requirement P4.
#[tokio::test]
async fn an_investigation_ends_at_its_limit_and_keeps_what_it_found() {
    let desk = Desk::new(deployment());
    let replies = json!([{ "calls": [answer("Q1", &["E2"], "Signing.")] }, call("list", json!({}))]);
    let settings = AgentSettings { max_iterations: Some(2), ..AgentSettings::default() };
    let report = desk.run(&super::native::native_with(replies, settings)).await;
    assert!(failure(&report.outcome).0.contains("not done after 2 turns"), "{report:?}");
    assert_eq!((desk.record().answered(), desk.record().metrics.iterations), (1, 2));
}

#[tokio::test]
async fn an_agent_that_cannot_investigate_says_so() {
    let desk = Desk::new(deployment());
    let recipe = "[agents.x]\nbackend = 'recipe'\nrecipe = 'y'\n[recipes.y]\nsteps = [{ run = 'true' }]";
    let agent = super::registry(recipe).get("x").unwrap();
    let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
    let executor = Executor::new(desk.sessions(), settings.runs);
    let error = executor.run("x", agent.as_ref(), &desk.bench.request, &desk.bench.context).await.unwrap_err();
    assert_eq!((error.reason.contains("cannot investigate"), error.failure), (true, FailureClass::Misconfigured));
    assert_eq!(desk.bench.request.purpose, RunPurpose::Work);
}
