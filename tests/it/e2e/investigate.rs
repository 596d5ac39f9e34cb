//! `hob agent investigate`: the real program, files as evidence, recorded replies.

use serde_json::{Value, json};

use rustix::process::Signal;

use crate::harness::{Gate, World};

fn act(name: &str, refs: &[&str], own: &[(&str, &str)]) -> Value {
    let mut arguments = json!({ "thought": "The log says so.", "confidence": "MEDIUM", "evidence_refs": refs });
    for (key, value) in own {
        arguments[*key] = json!(value);
    }
    json!({ "name": name, "arguments": arguments })
}

/// Writes the program's inputs into the world's folder; returns the arguments that name them.
fn files(world: &World, replies: &Value) -> String {
    let write = |name: &str, bytes: &[u8]| std::fs::write(world.dir().join(name), bytes).unwrap();
    write("case.md", b"# The deployment failed\n\n### Which version?\n\n1.4.2\n\n### What broke?\n\n_No response_\n");
    write("deploy.log", b"sign: the key expired\n\x1b[2J");
    write("core.bin", &[0, 159, 146, 150]);
    write("bad.yml", b"body: [");
    write(
        "form.yml",
        b"name: Failure\nbody:\n  - type: input\n    attributes: { label: 'Which version?' }\n  - type: textarea\n    \
          attributes: { label: 'What broke?' }\n    validations: { required: true }\n",
    );
    write("replies.json", json!({ "cassette": 1, "replies": replies }).to_string().as_bytes());
    format!("model.default=cassette/{}", world.dir().join("replies.json").display())
}

fn replies() -> Value {
    let to = |state: &str| act("transition_state", &[], &[("to", state)]);
    json!([
        { "expect": ["Q1: Which version? [medium] 1.4.2 (E1)", "Q2, required: What broke? [open]", "E2: file deploy.log"],
          "calls": [{ "name": "read_evidence", "arguments": { "id": "E2" } }, to("conclude")] },
        { "calls": [to("normalize"), to("investigate")] },
        { "calls": [act("request_evidence", &[], &[("request", "Who renews the key?")])] },
        { "expect": ["new evidence: E3", "E3, comment the terminal", "The platform team."],
          "calls": [act("answer_question", &["E2", "E3"], &[("question", "Q2"), ("answer", "The key.")]),
                    act("test_hypothesis", &["E2"], &[("statement", "The key expired"), ("verdict", "validated")]),
                    to("conclude")] },
        { "calls": [act("conclude", &["E2", "E3"], &[("conclusion", "The key expired, and nobody renewed it.")])] },
    ])
}

/// Requirements P1, P2, P7 and P8.
#[tokio::test]
async fn files_are_investigated_over_a_question_to_a_report() {
    let world = World::fixing().start().await;
    let model = files(&world, &replies());
    let begin = ["investigate", "--text", "case.md", "--evidence", "deploy.log", "--evidence", "core.bin"];
    let rest = ["--form", "form.yml", "--set", &model, "--agent", "native", "--auto-approve"];
    let asks = world.hob(&[&begin[..], &rest[..]].concat()).await;
    assert_eq!(asks.code, 8, "{asks:?}");
    for part in [
        "warning: `core.bin` is left out: it is not text",
        "1 of 50 transition_state conclude (impact high, refused)\n    thinks (medium): The log says so.\n    → refused: \
         `normalize` comes before `conclude`\n",
        "2 of 50 transition_state normalize (impact high, approved)",
        "→ the case moved from `intake` to `normalize`\n",
        "it asks for evidence: Who renews the key?\nhint: answer with `hob agent investigate --resume case-",
    ] {
        assert!(asks.stderr.contains(part), "{part}\n{asks:#?}");
    }
    assert!(asks.stdout.starts_with("No conclusion (") && asks.stdout.contains("waits for evidence"), "{asks:#?}");
    let session = asks.stderr.lines().find_map(|line| line.strip_prefix("The session is ")).unwrap();
    let resume = ["investigate", "--resume", session.trim_end_matches('.'), "-m", "The platform team."];
    let concludes = world.hob(&[&resume[..], &rest[2..], &["--out", "report.md"]].concat()).await;
    assert_eq!(concludes.code, 0, "{concludes:#?}");
    insta::assert_snapshot!(concludes.stdout, @"
    Conclusion (medium confidence)
    The key expired, and nobody renewed it.

    Answers
    Q1 Which version?
      1.4.2 (medium; E1)
    Q2 What broke?
      The key. (medium; E2, E3)

    Hypotheses
    H1 validated: The key expired
      The log says so. (medium; E2)

    Evidence
    E1 form answer Which version?, 5 bytes
    E2 file deploy.log, 26 bytes
    E3 comment the terminal, 18 bytes
    ");
    let shown = world.hob(&["session", "show", session.trim_end_matches('.')]).await.stdout;
    for part in [
        "2 of 2 questions answered, 1 of 1 hypotheses tested",
        "outcome  done: the investigation is concluded",
        &concludes.stdout,
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let report = std::fs::read_to_string(world.dir().join("report.md")).unwrap();
    assert!(report.starts_with("<!-- hob:investigation -->\n## Conclusion\n\nThe key expired"), "{report}");
    world.finish().await;
}

#[tokio::test]
async fn bad_input_is_named_and_nothing_is_lost() {
    let world = World::fixing().start().await;
    let model = files(&world, &json!([{ "calls": [{ "name": "list", "arguments": {} }] }]));
    let rest = ["--set", &model, "--agent", "native", "--auto-approve"];
    for (args, code, why) in [
        (&["agent", "investigate", "--task", "gone.md"][..], 4, "cannot read `gone.md`"),
        (&["agent", "investigate", "--task", "core.bin"][..], 2, "the file of `--task` is not text"),
        (&["agent", "investigate", "--task", "case.md", "--evidence", "gone.log"][..], 4, "cannot read `gone.log`"),
        (&["agent", "investigate", "--task", "case.md", "--folder", "case.md"][..], 2, "`case.md` is not a folder"),
        (&["agent", "investigate", "--resume", "nothing"][..], 4, "no session `nothing`"),
        (
            &["agent", "investigate", "--task", "case.md", "--form", "bad.yml"][..],
            8,
            "`bad.yml` is not used: the issue form cannot be read",
        ),
        (&["agent", "investigate", "--task", "case.md", "--iterations", "1"][..], 8, "not done after 1 turn"),
    ] {
        let ended = world.hob(&[args, &rest[..]].concat()).await;
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(ended.stderr.contains(why), "{why}\n{ended:#?}");
    }
    world.finish().await;
}

/// Requirement P8: the profile's questions and states, which may have capitals, begin the case, and actions that it
/// allows need no approval.
#[tokio::test]
async fn a_case_is_investigated_by_a_profile_and_goes_on_with_it() {
    let world = World::fixing().start().await;
    let to = act("transition_state", &[], &[("to", "Told")]);
    let replies = json!([
        { "expect": ["You work here as `oncall`", "Look hard.", "Q1, required: Which host? [open]"],
          "calls": [act("request_evidence", &[], &[("request", "Which host?")])] },
        { "expect": ["web1"], "calls": [act("answer_question", &["E2"], &[("question", "Q1"), ("answer", "web1")]), to] },
        { "calls": [act("conclude", &["E2"], &[("conclusion", "It is web1.")])] },
    ]);
    let model = files(&world, &replies);
    std::fs::create_dir(world.dir().join("profiles")).unwrap();
    let profile = "---\nname: oncall\ndescription: Knows the alarms\nhob:\n  approve: high\n  deliverable: comment\n  questions: \
                   [{ text: 'Which host?', required: true }]\n  states: [Look, { name: Told, needs: [answers] }]\n---\nLook \
                   hard.\n";
    std::fs::write(world.dir().join("profiles/oncall.md"), profile).unwrap();
    let rest = ["--set", &model, "--agent", "native"];
    let begin = ["investigate", "--text", "case.md", "--profile", "oncall"];
    let unknown = world.hob(&[&begin[..], &rest[..]].concat()).await;
    assert_eq!(unknown.code, 4, "{unknown:#?}");
    assert!(unknown.stderr.contains("there is no profile `oncall` here\nhint: `hob agent list` lists"), "{unknown:#?}");
    let other = ["investigate", "--text", "case.md", "--profile", "azure", "--profiles", "profiles"];
    let unknown = world.hob(&[&other[..], &rest[..]].concat()).await.stderr;
    let folder = world.dir().join("profiles").canonicalize().unwrap();
    let names =
        format!("there is no profile `azure` in `{}` or here\nhint: `hob agent list --profiles", folder.display());
    assert!(unknown.contains(&names), "{unknown}");
    std::fs::write(
        world.dir().join("profiles/azure.md"),
        profile.replace("approve: high", "approve: all").replace("oncall", "azure"),
    )
    .unwrap();
    let damaged = world.hob(&[&other[..], &rest[..]].concat()).await.stderr;
    assert!(damaged.contains("azure.md cannot be used: line 5: `approve` is `all`"), "{damaged}");
    let listed = world.hob(&["agent", "list", "--profiles", "profiles"]).await.stdout;
    assert!(listed.contains("oncall") && listed.contains("Knows the alarms") && listed.contains("line 5"), "{listed}");
    let asks = world.hob(&[&begin[..], &rest[..], &["--profiles", "profiles"]].concat()).await;
    assert_eq!(asks.code, 8, "{asks:#?}");
    let session = asks.stderr.lines().find_map(|line| line.strip_prefix("The session is ")).unwrap();
    // The folder of the profile is in the record.
    let gone = "continuing without the profile: there is no profile `oncall`";
    let resume = ["investigate", "--resume", session.trim_end_matches('.'), "-m", "It is web1."];
    let concludes = world.hob(&[&resume[..], &rest[..]].concat()).await;
    assert_eq!(concludes.code, 0, "{concludes:#?}");
    assert!(!concludes.stderr.contains(gone) && concludes.stdout.contains("It is web1."), "{concludes:#?}");
    let listed = world.hob(&["session", "list"]).await.stdout;
    assert!(listed.contains("3 of 51  Told") && listed.contains("1 of 1") && listed.contains("oncall"), "{listed}");
    std::fs::remove_dir_all(world.dir().join("profiles")).unwrap();
    let again = world.hob(&[&resume[..], &rest[..]].concat()).await;
    assert!(again.code == 0 && again.stderr.contains(gone), "{again:#?}");
    world.finish().await;
}

/// Requirement P1: a session is paused, continues, and is ended for good; a stop by a person is not a failure.
#[tokio::test]
async fn a_session_of_an_investigation_is_paused_and_goes_on_and_is_ended() {
    let call = act("answer_question", &["E1"], &[("statement", "Since when?"), ("answer", "Today.")]);
    let line = json!({ "tool": call["name"], "arguments": call["arguments"] });
    let script = format!("[ $n != 0 ] || {{ echo '{line}'; exit; }}\n{}", Gate::before(""));
    let world = World::with_agent(&script).start().await;
    files(&world, &json!([]));
    let mut gate = Gate::of(&world);
    let hob = world.starts_hob(&["agent", "investigate", "--task", "case.md"]).await;
    gate.reached().await;
    let session = world.hob(&["session", "list", "--json"]).await.objects().remove(0)["result"][0].take();
    let id = session["id"].as_str().unwrap();
    assert_eq!((session["state"].as_str(), session["case"]["answered"].as_u64()), (Some("running"), Some(1)));
    assert_eq!((&session["case"]["iterations"], &session["case"]["max_iterations"]), (&json!(1), &json!(50)));
    let early = world.hob(&["resume", id]).await;
    assert!(early.code == 1 && early.stderr.contains("another process is working on"), "{early:?}");

    let paused = world.hob(&["pause", &id[..id.len() - 2]]).await;
    let how = format!("`hob agent investigate --resume {id}` continues it");
    assert_eq!(
        paused.stdout,
        format!("The session {id} is paused. `hob agent investigate --resume {id}` resumes it.\n"),
        "{paused:?}"
    );
    // It has ended already: this signal does nothing.
    let ended = hob.ends_by(Signal::CONT).await;
    assert!(
        ended.code == 8 && ended.stderr.contains(&format!("stopped before it reached a conclusion\nhint: {how}")),
        "{ended:?}"
    );
    let shown = world.hob(&["session", "show", id]).await.stdout;
    for part in ["state    interrupted", "0 errors", "It was stopped.", "resumes it."] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let resumed = world.hob(&["resume", id, "--json"]).await.objects().remove(0)["result"].take();
    assert_eq!(resumed["command"], format!("hob agent investigate --resume {id}"));

    let hob = world.starts_hob(&["agent", "investigate", "--resume", id]).await;
    gate.reached().await;
    let ended = hob.ends_by(Signal::INT).await;
    assert!(ended.code == 8 && ended.stderr.contains("stopped before it reached a conclusion"), "{ended:?}");
    let hob = world.starts_hob(&["agent", "investigate", "--resume", id]).await;
    gate.reached().await;
    let cancelled = world.hob(&["cancel", id]).await;
    assert_eq!(cancelled.stdout, format!("The session {id} is cancelled.\n"), "{cancelled:?}");
    assert_eq!(hob.ends_by(Signal::CONT).await.code, 8);
    for args in [&["agent", "investigate", "--resume", id][..], &["resume", id]] {
        let over = world.hob(args).await;
        assert!(over.code == 1 && over.stderr.contains("was cancelled: start a new one"), "{over:?}");
    }
    assert_eq!(world.hob(&["pause", "case-none"]).await.code, 4);
    world.finish().await;
}

/// The session of an issue is stopped by its number, on whichever machine it is.
#[tokio::test]
async fn a_session_of_an_issue_is_paused_by_the_issue() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    let sessions = world.hob(&["session", "list", "--json"]).await.objects();
    let paused = world.hob(&["pause", sessions[0]["result"][0]["id"].as_str().unwrap()]).await;
    let how = format!("belongs to issue {issue}\nhint: use `hob --repo acme/site pause {issue}`");
    assert!(paused.code == 2 && paused.stderr.contains(&how), "{paused:?}");
    world.finish().await;
}
