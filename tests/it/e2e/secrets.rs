//! Secrets: the agent does not see the token, nothing on disk keeps it, and secrets of Hob that an agent does know do
//! not leave in any text or file.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc, time::Duration};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use hob_forge::Forge;
use http::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::harness::{Ended, World, repo};

/// A model's key of no known form.
const KEY: &str = "canary:Zx9qL2vT7w/K4+mB8dR1nY6";
/// The token of every world's bot.
const TOKEN: &str = "token-of-hob";
/// The mark in place of a secret.
const MARK: &str = "(redacted: a secret of Hob)";

/// Shell commands that print the variable `S`, each in another encoding; some in two pieces.
const PRINTS: &str = r#"
    hexadecimal() { od -An -v -tx1 | tr -d ' \n'; }
    echo "raw $S"
    echo "reversed $(printf %s "$S" | rev)"
    for before in '' a ab; do echo "base64 $(printf %s "$before$S" | base64 -w 0)"; done
    echo "for addresses $(printf %s "$S" | base64 -w 0 | tr +/ -_)"
    echo "hexadecimal $(printf %s "$S" | hexadecimal)"
    echo "percent $(printf %s "$S" | od -An -v -tx1 | tr -d '\n' | sed 's/ /%/g')"
    echo "HTML $(printf %s "$S" | od -An -v -tu1 | tr -s ' \n' ' ' | sed 's/ \([0-9][0-9]*\)/\&#\1;/g')"
    sleep 0; printf 'two pieces %s' "${S%??????}"; sleep 0.2; printf '%s\n' "${S#"${S%??????}"}"
"#;

/// A world whose agent gets a key and ends its run in a `way`: a script that finds the key and the token in every
/// encoding in the file `said` and in the variable `text`.
async fn telling(way: &str) -> World {
    let said = format!("say() {{ {PRINTS}\n}}\n(S=$SERVICE_API_KEY; say; S={TOKEN}; say) > {{DIR}}/said");
    // As a text within JSON.
    let text = r#"text=$(awk '{ printf "%s\\n", $0 }' {DIR}/said)"#;
    let script = format!("{said}\n{text}\n{way}");
    let mut world = World::with_agent(&script).start().await;
    world.settings.agents.get_mut("fixer").unwrap().env = vec!["SERVICE_API_KEY".to_owned()];
    world
}

/// One pass in a job, with all logs and progress; returns its end, and the step summary.
async fn passes(world: &World) -> (Ended, String) {
    let summary = world.dir().join("summary.md").display().to_string();
    let variables = [
        ("SERVICE_API_KEY", KEY),
        ("RUST_LOG", "debug"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", summary.as_str()),
    ];
    let ended = world.hob_with(&["run", "--once", "-v"], &variables).await;
    (ended, fs::read_to_string(&summary).unwrap())
}

/// All texts that left: the program's output and files, and Hob's texts on the forge.
async fn texts(world: &World, (ended, summary): &(Ended, String)) -> Vec<(String, String)> {
    let mut texts = vec![
        ("standard output".to_owned(), ended.stdout.clone()),
        ("standard error".to_owned(), ended.stderr.clone()),
        ("step summary".to_owned(), summary.clone()),
    ];
    files(&world.state_dir("program"), &mut texts);
    let issues = world.look("/issues?state=all&per_page=100").await;
    for issue in issues.as_array().unwrap().iter().filter(|issue| issue.get("pull_request").is_none()) {
        let number = issue["number"].as_u64().unwrap();
        texts.push((
            format!("comments of {number}"),
            world.look(&format!("/issues/{number}/comments")).await.to_string(),
        ));
        texts.push((format!("ledger of {number}"), format!("{:?}", world.history(number).await)));
        texts.push((format!("record of {number}"), serde_json::to_string(&world.record(number).await).unwrap()));
        texts.push((format!("labels of {number}"), world.look(&format!("/issues/{number}/labels")).await.to_string()));
    }
    for pull in world.pulls().await {
        let number = pull["number"].as_u64().unwrap();
        texts.push((format!("pull request {number}"), pull.to_string()));
        texts.push((format!("commits of {number}"), world.look(&format!("/pulls/{number}/commits")).await.to_string()));
    }
    let refs = world.look("/git/matching-refs/").await;
    for one in refs.as_array().unwrap() {
        let sha = one["object"]["sha"].as_str().unwrap();
        texts.push((one["ref"].to_string(), world.look(&format!("/git/commits/{sha}")).await["message"].to_string()));
    }
    texts.push(("refs".to_owned(), refs.to_string()));
    texts
}

/// Every file below `folder` but the agent's work and the git directory that holds it until it is pushed.
fn files(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() && !["tree", "git"].iter().any(|name| path.ends_with(name)) {
            files(&path, texts);
        } else if kind.is_file() {
            texts.push((path.display().to_string(), String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
        }
    }
}

/// The traces of a secret that no text may have, without white space.
fn traces(secret: &str) -> Vec<String> {
    let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let entities: String = secret.bytes().map(|byte| format!("&#{byte};")).collect();
    let mut traces = vec![secret.to_owned(), secret.chars().rev().collect(), hexadecimal, percent, entities];
    for before in ["", "a", "ab"] {
        let text = format!("{before}{secret}");
        let own = (before.len() * 8).div_ceil(6)..text.len() * 8 / 6;
        traces.extend([&STANDARD, &URL_SAFE].map(|engine| engine.encode(&text)[own.clone()].to_owned()));
    }
    traces
}

fn hold_no_secret(texts: &[(String, String)]) {
    for (place, text) in texts {
        let text: String = text.replace("\\n", "").split_whitespace().collect();
        for trace in [KEY, TOKEN].iter().flat_map(|secret| traces(secret)) {
            assert!(!text.contains(&trace), "{place} has `{trace}`: {text}");
        }
    }
}

fn has_mark(texts: &[(String, String)], place: &str) {
    let of_place: Vec<_> = texts.iter().filter(|(name, _)| name.contains(place)).collect();
    assert!(of_place.iter().any(|(_, text)| text.contains(MARK)), "{place}: {of_place:?}");
}

/// Attack corpus G77, G81, J110, J111: a model's key and the token in an agent's closing words and in the title it gives.
#[tokio::test]
async fn what_an_agent_says_of_its_work_tells_no_secret() {
    let report = r#"printf '{"outcome": "done", "title": "Use %s", "summary": "%s"}\n' "$SERVICE_API_KEY" "$text""#;
    let world = telling(&format!("echo done > done.txt; cat {{DIR}}/said >&2; cat {{DIR}}/said; {report}")).await;
    world.asks("Make done.txt", "").await;
    let job = passes(&world).await;
    assert_eq!(job.0.code, 0, "{job:?}");
    let texts = texts(&world, &job).await;
    hold_no_secret(&texts);
    for place in ["pull request 2", "commits of 2", "transcript.jsonl", "standard error"] {
        has_mark(&texts, place);
    }
    world.finish().await;
}

/// Attack corpus E63, G77, J110, J111: the same when a file and a descriptor gave key and token, which the agent cannot open.
#[tokio::test]
async fn secrets_from_files_are_withheld_as_well() {
    for tier in ["fence", "none"] {
        let report = r#"printf '{"outcome": "done", "title": "Use %s", "summary": "%s"}\n' "$SERVICE_API_KEY" "$text""#;
        let way = "echo done > done.txt; env > {DIR}/environment; readlink /proc/self/fd/3 > {DIR}/descriptor; cat {DIR}/said >&2";
        let world = telling(&format!("{way}; {report}")).await;
        world.asks("Make done.txt", "").await;
        let (key, token) = (world.dir().join("key"), world.dir().join("token"));
        fs::write(&key, format!("{KEY}\n")).unwrap();
        fs::write(&token, format!("{TOKEN}\n")).unwrap();
        let files = format!("GITHUB_TOKEN_FILE=/dev/fd/3 SERVICE_API_KEY_FILE='{}'", key.display());
        let script = format!("export GITHUB_TOKEN= RUST_LOG=debug {files}; exec \"$@\" 3<'{}'", token.display());
        let tier = format!("sandbox.tier={tier}");
        let ended = world.hob_in_shell(&script, &["run", "--once", "-v", "--set", &tier]).await;
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(fs::read_to_string(world.dir().join("descriptor")).unwrap(), "", "{tier}");
        let environment = fs::read_to_string(world.dir().join("environment")).unwrap();
        assert!(environment.contains("SERVICE_API_KEY=") && !environment.contains("_FILE="), "{environment}");
        let texts = texts(&world, &(ended, String::new())).await;
        hold_no_secret(&texts);
        for place in ["pull request 2", "commits of 2", "transcript.jsonl", "standard error"] {
            has_mark(&texts, place);
        }
        world.finish().await;
    }
}

/// Attack corpus G77, J110, J111.
#[tokio::test]
async fn a_question_and_an_error_tell_no_secret() {
    let question = r#"printf '{"outcome": "question", "question": "%s"}\n' "$text""#;
    for way in [question, "cat {DIR}/said; cat {DIR}/said >&2; exit 3"] {
        let world = telling(way).await;
        let issue = world.asks("Make done.txt", "").await;
        let job = passes(&world).await;
        let texts = texts(&world, &job).await;
        assert!(world.labels(issue).await.contains(&"blocked".to_owned()), "{job:?}");
        hold_no_secret(&texts);
        for place in ["comments of 1", "record of 1", "transcript.jsonl", "session.json", "step summary"] {
            has_mark(&texts, place);
        }
        world.finish().await;
    }
}

/// Attack corpus J111: in a file and in a file's name, in each encoding by itself.
#[tokio::test]
async fn work_that_holds_a_secret_is_not_pushed() {
    let world =
        telling("sed -n \"${HOB_ISSUE}p\" {DIR}/said > harmless.txt; test $HOB_ISSUE != 10 || echo x > token-of-hob")
            .await;
    for n in 1..=10 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let job = passes(&world).await;
    for issue in 1..=10 {
        let status = world.status(issue).await;
        assert!(status.contains("holds a secret of Hob itself"), "{issue}: {status} {job:?}");
    }
    assert_eq!(world.branches().await, [""; 0]);
    hold_no_secret(&texts(&world, &job).await);
    world.finish().await;
}

/// Attack corpus G81: the issue's title may contain a secret, the texts that Hob makes of it do not.
#[tokio::test]
async fn a_title_with_a_secret_gives_a_branch_and_a_pull_request_without_it() {
    let world = World::fixing().start().await;
    for title in [format!("Use {TOKEN} here"), "token of hob".to_owned()] {
        world.asks(&title, "").await;
    }
    let ended = world.hob(&["run", "--once"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut branches = world.branches().await;
    branches.sort();
    assert_eq!(branches, ["hob/1", "hob/2"]);
    for pull in world.pulls().await {
        let commits = world.look(&format!("/pulls/{}/commits", pull["number"])).await;
        for text in [pull["title"].to_string(), pull["body"].to_string(), commits.to_string(), ended.stderr.clone()] {
            assert!(!text.contains(TOKEN), "{text}");
        }
    }
    world.finish().await;
}

/// Attack corpus K151: a person, a check and an agent say a secret that Hob was not given, each in a form that is known.
#[tokio::test]
async fn what_leaves_has_no_secret_of_a_known_form() {
    let [of_title, of_check, of_agent] = ["7hB2xQ9mK4vT8nR3wZ6p", "Qm4tZ8wX2cV6bN1kJ5hG", "pL9oK3iJ7uH5yG1tF8rD"];
    let says = format!("echo done > done.txt; echo '{{\"outcome\":\"done\",\"summary\":\"Used glpat-{of_agent}.\"}}'");
    let world = World::with_agent(&says)
        .check(&format!("test -f done.txt # glpat-{of_check}"))
        .set("publish.commit_message", "{title}\n\n{body}")
        .notified()
        .start()
        .await;
    let issue = world.asks(&format!("Replace glpat-{of_title}"), "").await;
    world.run().await;
    assert_eq!(
        world.labels(issue).await,
        ["code", "in-review"],
        "{:?} {}",
        world.failures(),
        world.status(issue).await
    );
    let (pull, record) = (world.pull().await, world.record(issue).await.unwrap());
    let commits = world.look(&format!("/pulls/{}/commits", pull["number"])).await;
    let statement = record.work.proof.unwrap().statement().canonical().unwrap();
    let posted = world.receiver.as_ref().unwrap().received();
    let said = world.said(issue).await;
    assert_eq!(world.branches().await, ["hob/1"]);
    let left = [pull.to_string(), commits.to_string(), statement, format!("{said:?}"), format!("{posted:?}")];
    for text in &left {
        for token in [of_title, of_check, of_agent] {
            assert!(!text.contains(token), "{text}");
        }
    }
    for text in &left[..3] {
        assert!(text.contains("[a secret of the form gitlab-pat]"), "{text}");
    }
    world.finish().await;
}

/// Attack corpus J111: an App's tokens are made while Hob runs, and earlier ones may still be good.
#[tokio::test]
async fn each_token_of_an_app_is_known_as_soon_as_it_is_made() {
    let world = World::fixing().start().await;
    let connection = world.as_app(None);
    let forge = Forge::new(Arc::clone(&connection), repo());
    let mut tokens = Vec::new();
    for _ in 0..3 {
        tokens.push(connection.token(Duration::from_secs(60)).await.unwrap());
        world.forge.advance(Duration::from_secs(3_500));
        // An answer tells the connection the time.
        forge.ledger().tips().await.unwrap();
    }
    let different: BTreeSet<_> = tokens.iter().map(|token| token.expose_secret()).collect();
    assert_eq!(different.len(), 3);
    let redaction = connection.secrets().redaction();
    for token in &tokens {
        let text = format!("a {} b", STANDARD.encode(format!("x-access-token:{}", token.expose_secret())));
        assert!(redaction.holds(token.expose_secret()) && redaction.holds(&text));
    }
    world.finish().await;
}

/// Attack corpus J111: a person's own text is theirs; the parts that Hob sends on are not.
#[tokio::test]
async fn a_secret_in_an_answer_is_not_repeated() {
    let world = World::with_agent("echo '{\"outcome\": \"question\", \"question\": \"Which key?\"}'").start().await;
    let issue = world.asks("Make done.txt", "").await;
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    let comment = json!({ "body": format!("It is {TOKEN}.") });
    world.forge.advance(Duration::from_secs(2));
    world.call("ann", Method::POST, &format!("/issues/{issue}/comments"), comment).await;
    assert_eq!(world.hob(&["run", "--once"]).await.code, 0);
    let ledger: Value = serde_json::to_value(world.record(issue).await).unwrap();
    assert!(ledger.to_string().contains(MARK) && !ledger.to_string().contains(TOKEN), "{ledger}");
    assert!(!world.status(issue).await.contains(TOKEN));
    world.finish().await;
}

#[tokio::test]
async fn the_token_reaches_neither_the_agent_nor_the_disk_nor_the_output() {
    let script = "env > {DIR}/agent-env; cat .git/config >> {DIR}/agent-env; echo done > done.txt";
    let world = World::fixing()
        .script("fixer", script)
        .check("env >> check-env; cat check-env; test -f done.txt")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob_with(&["run", "--once"], &[("RUST_LOG", "debug"), ("GH_TOKEN", "token-of-hob")]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stderr.contains("token-of-hob") && !ended.stdout.contains("token-of-hob"));
    let seen = fs::read_to_string(world.dir().join("agent-env")).unwrap();
    assert!(seen.contains("HOB_ISSUE=1") && !seen.contains("token-of-hob") && !seen.contains("GITHUB_TOKEN"), "{seen}");
    holds_no_token(world.dir());
    let body = world.pull().await["body"].as_str().unwrap().to_owned();
    assert!(!body.contains("token-of-hob") && !world.status(issue).await.contains("token-of-hob"));
    world.finish().await;
}

/// Reads every file below `folder`.
fn holds_no_token(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            holds_no_token(&path);
        } else if kind.is_file() {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("token-of-hob"), "{} holds the token", path.display());
        }
    }
}
