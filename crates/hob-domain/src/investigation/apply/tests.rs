//! Every state with every action, and what no order of actions reaches.

use proptest::prelude::*;

use super::*;
use crate::investigation::{
    Case, CaseStatus, CaseTemplate, EvidenceKind, Given, QuestionTemplate, default_states, open,
};

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// Two questions, the first of them required, one hypothesis, one piece of evidence.
fn begun() -> Investigation {
    let ask = |text: &str, required| QuestionTemplate { text: text.to_owned(), required };
    let case = Case {
        title: "The deployment failed".to_owned(),
        template: CaseTemplate {
            questions: vec![ask("Why?", true), ask("Since when?", false)],
            hypotheses: vec!["The disk is full".to_owned()],
            ..CaseTemplate::default()
        },
        evidence: vec![Given { kind: EvidenceKind::Issue, source: "issue".into(), text: "It fails.".into() }],
    };
    open(None, &"s".into(), &case, now()).record
}

/// The same in this state.
fn in_state(state: &str, ready: bool) -> Investigation {
    let mut record = begun();
    if ready {
        record = apply(&record, &answer(), now()).unwrap().0;
        record = apply(&record, &validate(), now()).unwrap().0;
    }
    record.state = state.to_owned();
    record
}

fn action(refs: &[usize], step: CaseStep) -> CaseAction {
    let evidence_refs = refs.iter().map(|at| EvidenceId::at(*at)).collect();
    CaseAction { grounds: Grounds { thought: "so it is".into(), confidence: Confidence::High, evidence_refs }, step }
}

fn answer() -> CaseAction {
    action(&[0], answers(Some(0), "", "No space."))
}

fn answers(question: Option<usize>, statement: &str, answer: &str) -> CaseStep {
    let question = question.map(QuestionId::at);
    CaseStep::AnswerQuestion { question, statement: statement.into(), answer: answer.into() }
}

fn test(verdict: Verdict) -> CaseAction {
    let hypothesis = Some(HypothesisId::at(0));
    action(&[0], CaseStep::TestHypothesis { hypothesis, statement: String::new(), verdict })
}

fn validate() -> CaseAction {
    test(Verdict::Validated)
}

fn ask() -> CaseAction {
    action(&[], CaseStep::RequestEvidence { request: "Send the log.".into() })
}

fn to(state: &str) -> CaseAction {
    action(&[], CaseStep::TransitionState { to: state.to_owned() })
}

fn conclude() -> CaseAction {
    action(
        &[0],
        CaseStep::Conclude {
            conclusion: "The disk is full.".into(),
            to_settle: vec![" ".into()],
            hand_off_to: None,
            left: String::new(),
        },
    )
}

/// What comes of an action: the sentence, or why not.
fn said(record: &Investigation, action: &CaseAction) -> String {
    match apply(record, action, now()) {
        Ok((_, sentence)) => sentence,
        Err(refused) => format!("refused: {refused}"),
    }
}

/// Requirement P9: every state with every action, without and with what the last gate asks for.
#[test]
fn each_state_takes_the_actions_that_its_gates_allow() {
    let actions = [
        ("answer", answer()),
        ("test", test(Verdict::Disproved)),
        ("ask", ask()),
        ("intake", to("intake")),
        ("normalize", to("normalize")),
        ("investigate", to("investigate")),
        ("conclude", to("conclude")),
        ("CONCLUDE", conclude()),
    ];
    let mut table = format!("{:18}", "");
    for (name, _) in &actions {
        table.push_str(&format!("{name:12}"));
    }
    for (ready, with) in [(false, "begun"), (true, "ready")] {
        for state in default_states() {
            table.push_str(&format!("\n{:18}", format!("{with} {}", state.name)));
            for (_, action) in &actions {
                let came = match apply(&in_state(&state.name, ready), action, now()) {
                    Ok(_) => "taken".to_owned(),
                    Err(refused) => format!("{refused:?}").split(['(', ' ']).next().unwrap().to_owned(),
                };
                table.push_str(&format!("{came:12}"));
            }
        }
    }
    let lines: Vec<_> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
                      answer      test        ask         intake      normalize   investigate conclude    CONCLUDE
    begun intake      taken       taken       taken       SameState   taken       Skips       Skips       TooEarly
    begun normalize   taken       taken       taken       taken       SameState   taken       Skips       TooEarly
    begun investigate taken       taken       taken       taken       taken       SameState   Gate        TooEarly
    begun conclude    taken       taken       taken       taken       taken       taken       SameState   Gate
    ready intake      taken       taken       taken       SameState   taken       Skips       Skips       TooEarly
    ready normalize   taken       taken       taken       taken       SameState   taken       Skips       TooEarly
    ready investigate taken       taken       taken       taken       taken       SameState   taken       TooEarly
    ready conclude    taken       taken       taken       taken       taken       taken       SameState   taken
    ");
}

#[test]
fn a_refusal_says_what_is_missing() {
    let record = in_state("investigate", false);
    assert_eq!(
        said(&record, &to("conclude")),
        "refused: the gate of `conclude` does not hold: it lacks answers to the required Q1 and a hypothesis that is \
         validated with evidence"
    );
    assert_eq!(said(&in_state("intake", false), &to("conclude")), "refused: `normalize` comes before `conclude`");
    let early = said(&record, &conclude());
    assert_eq!(early, "refused: the state is `investigate`: a conclusion is taken in `conclude`");
}

#[test]
fn a_concluded_case_changes_no_more() {
    let record = apply(&in_state("conclude", true), &conclude(), now()).unwrap().0;
    assert_eq!((record.status(), record.confidence()), (CaseStatus::Concluded, Some(Confidence::High)));
    assert_eq!((record.progress().percent, record.conclusion.as_ref().unwrap().to_settle.len()), (100, 0));
    for action in [answer(), validate(), ask(), to("intake"), conclude()] {
        assert_eq!(apply(&record, &action, now()), Err(Refused::Concluded), "{action:?}");
    }
}

#[test]
fn an_action_without_grounds_is_refused() {
    let record = begun();
    let mut silent = answer();
    silent.grounds.thought = " \n".into();
    assert_eq!(said(&record, &silent), "refused: `thought` is empty");
    for at in [0, 1] {
        let mut action = [answer(), validate()][at].clone();
        action.grounds.evidence_refs.clear();
        assert_eq!(apply(&record, &action, now()), Err(Refused::Ungrounded));
        action.grounds.evidence_refs = vec![EvidenceId::at(0), EvidenceId::at(7)];
        assert_eq!(said(&record, &action), "refused: there is no evidence E8: name what the record has");
        action.grounds.evidence_refs = vec![EvidenceId::at(0); 100];
        assert!(apply(&record, &action, now()).is_ok());
    }
    let unknown = action(&[0], answers(Some(8), "", "x"));
    assert_eq!(said(&record, &unknown), "refused: there is no question Q9");
    let unknown = Some(HypothesisId::at(3));
    let step = CaseStep::TestHypothesis { hypothesis: unknown, statement: String::new(), verdict: Verdict::Validated };
    assert_eq!(said(&record, &action(&[0], step)), "refused: there is no hypothesis H4");
    assert!(said(&record, &to("../x")).contains("there are `intake`, `normalize`"));
}

#[test]
fn a_new_hypothesis_is_tested_in_the_same_step() {
    let step = |statement: &str| CaseStep::TestHypothesis {
        hypothesis: None,
        statement: statement.into(),
        verdict: Verdict::Disproved,
    };
    let (record, sentence) = apply(&begun(), &action(&[0], step("The key expired")), now()).unwrap();
    assert_eq!(sentence, "H2 is disproved with high confidence: 1 of 2 hypotheses are tested");
    assert_eq!(record.hypotheses[1].verdict.as_ref().unwrap().text, "so it is");
    assert_eq!(said(&begun(), &action(&[0], step(" "))), "refused: `statement` is empty");
}

/// Requirement P8: "Generating new questions or hypotheses as needed", each once.
#[test]
fn what_is_asked_or_supposed_again_is_the_same_one() {
    let mut record = begun();
    for (statement, id, all) in
        [("Who renews the key?", "Q3", 3), ("who renews  the key", "Q3", 3), ("WHY", "Q1", 3), ("Where?", "Q4", 4)]
    {
        let (next, sentence) = apply(&record, &action(&[0], answers(None, statement, "x")), now()).unwrap();
        assert!(sentence.starts_with(&format!("{id} is answered")), "{sentence}");
        assert_eq!(next.questions.len(), all, "{statement}");
        record = next;
    }
    assert_eq!((record.questions[2].required, record.questions[2].text.as_str()), (false, "Who renews the key?"));
    assert_eq!(said(&record, &action(&[0], answers(None, " ", "x"))), "refused: `statement` is empty");
    assert_eq!(apply(&record, &action(&[], answers(None, "New?", "x")), now()), Err(Refused::Ungrounded));
    for (statement, id) in [("The key expired", "H2"), ("the key EXPIRED.", "H2"), ("The disk is full!", "H1")] {
        let step =
            CaseStep::TestHypothesis { hypothesis: None, statement: statement.into(), verdict: Verdict::Disproved };
        let (next, sentence) = apply(&record, &action(&[0], step), now()).unwrap();
        assert!(sentence.starts_with(id), "{sentence}");
        record = next;
    }
    assert_eq!(record.hypotheses.len(), 2);
    for at in 0..80 {
        let next = apply(&record, &action(&[0], answers(None, &format!("Number {at}?"), "x")), now());
        match next {
            Ok((next, _)) => record = next,
            Err(refused) => assert_eq!(refused, Refused::TooMany("questions")),
        }
    }
    assert_eq!(record.questions.len(), 80);
}

#[test]
fn a_person_is_asked_for_one_thing_at_a_time() {
    let record = apply(&begun(), &ask(), now()).unwrap().0;
    assert_eq!(record.status(), CaseStatus::Waiting);
    assert_eq!(apply(&record, &ask(), now()), Err(Refused::AskedAlready));
    assert!(record.progress().message.contains("waits for evidence"));
}

#[test]
fn the_result_is_as_sure_as_its_weakest_part() {
    let mut record = apply(&in_state("conclude", true), &conclude(), now()).unwrap().0;
    record.questions[0].answered.as_mut().unwrap().confidence = Confidence::Low;
    assert_eq!(record.confidence(), Some(Confidence::Low));
    record.questions[0].required = false;
    assert_eq!(record.confidence(), Some(Confidence::High));
}

fn any_action() -> impl Strategy<Value = CaseAction> {
    let state = prop::sample::select(vec!["intake", "normalize", "investigate", "conclude", "nowhere"]);
    let verdict = prop::sample::select(vec![Verdict::Validated, Verdict::Disproved]);
    let step = prop_oneof![
        prop::option::of(0..3_usize).prop_map(|at| answers(at, "Where?", "x")),
        (prop::option::of(0..3_usize), verdict).prop_map(|(at, verdict)| CaseStep::TestHypothesis {
            hypothesis: at.map(HypothesisId::at),
            statement: "y".into(),
            verdict
        }),
        Just(CaseStep::RequestEvidence { request: "z".into() }),
        state.prop_map(|to| CaseStep::TransitionState { to: to.to_owned() }),
        Just(CaseStep::Conclude {
            conclusion: "c".into(),
            to_settle: Vec::new(),
            hand_off_to: None,
            left: String::new()
        }),
    ];
    (prop::collection::vec(0..3_usize, 0..3), step).prop_map(|(refs, step)| action(&refs, step))
}

proptest! {
    /// Requirement P9: for any actions of an agent, a conclusion has answers to the required questions and a validated
    /// hypothesis, and everything that it refers to exists.
    #[test]
    fn no_conclusion_is_reached_without_its_gate(actions in prop::collection::vec(any_action(), 0..60)) {
        let mut record = begun();
        for action in actions {
            let before = record.clone();
            match apply(&record, &action, now()) {
                Ok((next, _)) => record = next,
                Err(_) => prop_assert_eq!(&record, &before),
            }
            let progress = record.progress();
            prop_assert!(progress.percent <= 100);
            prop_assert_eq!(progress.percent == 100, record.conclusion.is_some());
            // It can be kept and read again at any time.
            let kept = Investigation::parse(&serde_json::to_string(&record).unwrap()).unwrap();
            prop_assert_eq!(&kept, &record);
            if record.conclusion.is_some() {
                prop_assert!(record.questions[0].answered.is_some());
                prop_assert!(record.hypotheses.iter().any(|one| one.standing == Standing::Validated));
                prop_assert_eq!(record.state.as_str(), "conclude");
            }
        }
    }
}
