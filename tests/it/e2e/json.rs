//! `--json`: every command is run on the embedded forge, and each object has the fields that `docs/json.md` describes, no
//! other, and of the type that it says.

use std::collections::{BTreeMap, BTreeSet};

use github_emulator::{Fault, What, When};
use hob_config::{AgentSettings, Ask, BackendKind, Impact};
use serde_json::{Value, json};

use crate::harness::{Ended, Model, World};

/// The tables of the document by the names in their headings: each field with its type.
struct Schema(BTreeMap<String, BTreeMap<String, String>>);

impl Schema {
    fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md");
        let document = std::fs::read_to_string(path).unwrap();
        let names = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let mut tables = BTreeMap::new();
        for part in document.split("\n### ").skip(1) {
            let (heading, text) = part.split_once('\n').unwrap();
            let mut fields = BTreeMap::new();
            for row in text.lines().filter(|line| line.starts_with("| `")) {
                let cells: Vec<&str> = row.trim_matches('|').splitn(3, '|').map(str::trim).collect();
                fields.extend(names(cells[0]).into_iter().map(|field| (field, cells[1].replace('*', ""))));
            }
            assert!(!fields.is_empty(), "{heading} has no fields");
            for name in names(heading) {
                // `status` and `pause` are a command and a part: a command has the one field `result`.
                let key = if fields.contains_key("result") { format!("hob {name}") } else { name };
                assert!(tables.insert(key.clone(), fields.clone()).is_none(), "{key} appears twice");
            }
        }
        Self(tables)
    }

    /// The violations of the documented type `kind` by a value.
    fn check(&self, value: &Value, kind: &str, at: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
        let kind = kind.strip_suffix(", may be absent").unwrap_or(kind);
        if let Some(kind) = kind.strip_suffix(" or null") {
            return if value.is_null() { Vec::new() } else { self.check(value, kind, at, seen) };
        }
        if let Some(kind) = kind.strip_prefix("list of ") {
            let Some(values) = value.as_array() else { return vec![format!("{at} is not a list: {value}")] };
            return values.iter().flat_map(|value| self.check(value, kind, &format!("{at}[]"), seen)).collect();
        }
        let is_it = match kind {
            "any" => true,
            "string" => value.is_string(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            table => return self.check_fields(value, table, at, seen),
        };
        if is_it { Vec::new() } else { vec![format!("{at} is not a {kind}: {value}")] }
    }

    fn check_fields(&self, value: &Value, table: &str, at: &str, seen: &mut BTreeSet<String>) -> Vec<String> {
        let Some(fields) = self.0.get(table) else { return vec![format!("{at}: there is no table `{table}`")] };
        let Some(object) = value.as_object() else { return vec![format!("{at} is not an object: {value}")] };
        seen.insert(table.to_owned());
        let mut wrong = Vec::new();
        for (name, value) in object {
            match fields.get(name) {
                Some(kind) => wrong.extend(self.check(value, kind, &format!("{at}.{name}"), seen)),
                None => wrong.push(format!("{at}.{name} is not documented: {value}")),
            }
        }
        let missing =
            fields.iter().filter(|(name, kind)| !object.contains_key(*name) && !kind.ends_with("may be absent"));
        wrong.extend(missing.map(|(name, _)| format!("{at}.{name} is missing")));
        wrong
    }
}

/// The output of commands, checked against the document.
struct Held {
    schema: Schema,
    seen: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Held {
    /// Adds the output of `hob COMMAND`, and returns its events.
    fn takes(&mut self, command: &str, ended: &Ended) -> Vec<String> {
        let mut events = Vec::new();
        for mut object in ended.objects() {
            let fields = object.as_object_mut().unwrap();
            assert_eq!(fields.remove("version"), Some(json!(1)), "{command}: {ended:?}");
            let Some(Value::String(event)) = fields.remove("event") else { panic!("{command}: {ended:?}") };
            // The members that all events of a run have.
            if fields.contains_key("time") {
                let common = ["time", "message", "run_id", "percent"];
                let common =
                    common.into_iter().filter_map(|name| fields.remove(name).map(|value| (name.to_owned(), value)));
                let common = Value::Object(common.collect());
                let at = format!("{command}: {event}");
                self.wrong.extend(self.schema.check_fields(&common, "streamed", &at, &mut self.seen));
            }
            let table = if event == "result" { format!("hob {command}") } else { event.clone() };
            self.wrong.extend(self.schema.check_fields(
                &object,
                &table,
                &format!("{command}: {event}"),
                &mut self.seen,
            ));
            events.push(event);
        }
        events
    }
}

/// A world with an agent that asks first, and a native one on recorded replies, whose actions need approval.
async fn world(replies: &std::path::Path) -> World {
    let asks = r#"[ $HOB_ISSUE != 5 ] || { printf 'Issues:\n- Red\n- Blue\n  On it.\n  After: 1\n'; exit; }
    [ $HOB_PURPOSE = work ] || { echo "Steps: Paint it"; exit; }
    case $n in
        0) echo looking; echo '{"outcome":"question","question":"Which colour?"}' ;;
        *) echo done > done.txt ;;
    esac"#;
    let reads = json!([{ "name": "read", "arguments": { "path": "x" } }]);
    let removes = json!([{ "name": "shell", "arguments": { "command": "rm x" } }]);
    let cassette = json!({ "cassette": 1, "replies": [{ "calls": reads }, { "calls": removes }] });
    std::fs::write(replies, cassette.to_string()).unwrap();
    let careful = AgentSettings {
        backend: BackendKind::Native,
        model: Some(format!("cassette/{}", replies.display())),
        approve: Impact::Low,
        ask: Ask::Issue,
        ..AgentSettings::default()
    };
    World::fixing().file("x", "stale\n").script("fixer", asks).agent("careful", careful).start().await
}

/// An investigation that answers and judges, asks a person, and ends without a conclusion.
async fn investigates(world: &World) -> Ended {
    let grounds = |own: Value| {
        let mut all = json!({ "thought": "x", "confidence": "LOW", "evidence_refs": ["E1"] });
        all.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        all
    };
    let verdict = json!({ "statement": "It rained", "verdict": "disproved" });
    let form = "body:\n  - type: input\n    attributes: { label: When? }\n";
    let replies = json!([{ "calls": [
        { "name": "test_hypothesis", "arguments": grounds(verdict) },
        { "name": "request_evidence", "arguments": grounds(json!({ "request": "Which colour?" })) },
    ] }]);
    let file = |name: &str, text: &str| std::fs::write(world.dir().join(name), text).unwrap();
    file("case.md", "It fails\n\n### When?\n\nToday\n");
    file("form.yml", form);
    file("looks.json", &json!({ "cassette": 1, "replies": replies }).to_string());
    let model = format!("model.default=cassette/{}", world.dir().join("looks.json").display());
    let args =
        ["agent", "investigate", "--task", "case.md", "--form", "form.yml", "--agent", "native", "--auto-approve"];
    world.hob(&[&args[..], &["--set", &model, "--json"]].concat()).await
}

/// The explanation of an issue whose check failed.
async fn explains_a_failed_check() -> Ended {
    let world = World::with_agent("echo done > done.txt").check("echo wet; test ! -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let explained = world.hob(&["explain", &issue.to_string(), "--json"]).await;
    world.finish().await;
    explained
}

/// The report on a repository whose model is down.
async fn tells_of_an_outage() -> Ended {
    let model = Model::start().await;
    let world = super::outages::world(&model, 2).await;
    for title in ["Make done.txt", "Make done.txt, too"] {
        world.asks(title, "").await;
    }
    model.is_down(true);
    world.run().await;
    let told = world.hob(&["status", "--json"]).await;
    model.is_down(false);
    world.forge.advance(std::time::Duration::from_secs(3_600));
    world.run().await;
    world.run().await;
    world.finish().await;
    told
}

#[tokio::test]
async fn every_command_writes_what_the_document_describes() {
    let folder = tempfile::tempdir().unwrap();
    let world = world(&folder.path().join("replies.json")).await;
    let mut held = Held { schema: Schema::read(), seen: BTreeSet::new(), wrong: Vec::new() };
    assert_eq!(world.asks("Paint it", "").await, 1);
    world.opens("tess", "Strange", "", &["code"]).await;
    world.opens("ann", "Remove x", "", &["code", "agent:careful"]).await;
    world.opens("ann", "Plan it", "", &["code", "plan"]).await;
    world.opens("ann", "Split it", "", &["code", "agent:planner"]).await;
    // Each command with the heading of its result.
    let commands = [
        ("run --dry-run", "run --dry-run"),
        ("status --ready", "status --ready"),
        ("--version", "--version"),
        ("run --once", "run"),
        ("explain 1", "explain"),
        ("run 1 99 --dry-run", "run ISSUE --dry-run"),
        ("pause --all -m later", "pause"),
        ("status", "status"),
        ("resume --all", "resume"),
        ("answer 1 -m Green.", "answer"),
        ("approve 3", "approve"),
        ("approve 4", "approve"),
        ("approve 5", "approve"),
        ("run --once --limit 1", "run"),
        ("explain 1 --history", "explain --history"),
        ("session list", "session list"),
        ("session show 1", "session show"),
        ("session log 1", "session log"),
        ("session log --all", "session log"),
        ("session replay 3 --folder .", "session replay"),
        ("doctor", "doctor"),
        ("agent routing", "agent routing"),
        ("config show", "config show"),
        ("config show --all", "config show --all"),
        ("pause 1", "pause"),
        ("resume 1", "resume"),
        ("cancel 1", "cancel"),
        ("answer 1", "answer"),
        ("run 3", "run ISSUE"),
        ("explain 99", "explain"),
        ("flakes", "flakes"),
        ("models", "models"),
        ("audit", "audit"),
        ("init --dry-run", "init --dry-run"),
        ("init", "init"),
    ];
    let mut events = BTreeSet::new();
    for (command, heading) in commands {
        let args: Vec<&str> = command.split(' ').chain(["--json"]).collect();
        if command == "status" {
            let at = "2026-01-01T00:00:00Z";
            let fact = json!({ "kind": "set-up", "command": "npm ci", "took": [9], "days": 1, "issue": 1, "at": at });
            world.writes_record("ann", "memory", &json!([fact])).await;
            let words = "Write error messages in lower case";
            let first = json!({ "said": { "line": 1 }, "by": "ann", "pull": 1, "text": words });
            world.writes_record("ann", "corrections", &json!([{ "first": first, "at": at }])).await;
        }
        if command == "flakes" {
            let flake = json!({ "check": "make test", "failed": 1, "runs": 5, "at": "2026-01-01T00:00:00Z" });
            world.writes_record("ann", "flakes", &json!([flake])).await;
        }
        let ended = world.hob(&args).await;
        let wrote = held.takes(heading, &ended);
        let last = wrote.last().unwrap_or_else(|| panic!("{command}: {ended:?}"));
        assert_eq!(ended.code != 0, last == "error", "{command}: {ended:?}");
        events.extend(wrote);
    }
    events.extend(held.takes("explain", &explains_a_failed_check().await));
    events.extend(held.takes("status", &tells_of_an_outage().await));
    events.extend(held.takes("outcomes", &super::outcomes::tells().await));
    events.extend(held.takes("verify", &super::verify::verifies().await));
    // Its comment is none that the end of a world expects.
    world.another("acme/live", 0).await;
    let live = ["--repo", "acme/live", "doctor", "--live", "acme/live", "--json"];
    events.extend(held.takes("doctor --live", &world.hob(&live).await));
    std::fs::write(folder.path().join("bad.md"), "---\nname: bad\n---\n").unwrap();
    let profiles = format!("profiles.folder={}", folder.path().display());
    events.extend(held.takes("agent list", &world.hob(&["agent", "list", "--json", "--set", &profiles]).await));
    world.asks("Fails", "").await;
    let what = What::Answer { status: 422, headers: Default::default(), message: "not today".to_owned() };
    let path = "/repos/*/*/issues/*/events".to_owned();
    world.forge.inject(Fault { method: Some("GET".to_owned()), path, login: None, when: When::Always, what });
    events.extend(held.takes("run", &world.hob(&["run", "--once", "--json"]).await));
    world.forge.heal();
    events.extend(held.takes("agent investigate", &investigates(&world).await));
    let sessions = world.hob(&["session", "list", "--json"]).await;
    let case = sessions.objects()[0]["result"][0]["id"].as_str().unwrap().to_owned();
    events.extend(held.takes("session list", &sessions));
    for command in ["pause", "resume", "cancel"] {
        events.extend(held.takes(command, &world.hob(&[command, &case, "--json"]).await));
    }
    events.extend(held.takes("rehearse", &world.hob(&["rehearse", "--json"]).await));
    events.extend(held.takes("none", &world.hob(&["lst", "--json"]).await));
    let issues = folder.path().join("issues.jsonl");
    let good = json!({ "title": "Deadlock in a transaction", "body": "", "labels": [], "profile": "database" });
    let message = json!({ "title": "", "body": "Thank you.", "present": "database", "profile": "database" });
    std::fs::write(&issues, format!("{good}\n{message}\n{{}}\n")).unwrap();
    let profiles = concat!(env!("CARGO_MANIFEST_DIR"), "/lab/routing/profiles");
    let args = ["eval", "routing", issues.to_str().unwrap(), "--profiles", profiles, "--json"];
    events.extend(held.takes("eval routing", &world.hob(&args).await));
    let changes = folder.path().join("changes.jsonl");
    let corpus = include_str!("../../../lab/review/corpus.jsonl");
    std::fs::write(&changes, format!("{}\n{{}}\n", corpus.lines().next().unwrap())).unwrap();
    let said = json!({ "summary": "- high pages.py:6: it fails\n- low other.py:1: x" });
    let replies = json!({ "cassette": 1, "replies": [{ "calls": [{ "name": "done", "arguments": said }] }] });
    std::fs::write(folder.path().join("says.json"), replies.to_string()).unwrap();
    let model = format!("cassette/{}", folder.path().join("says.json").display());
    let native = ["--set", "agent=native"];
    let args = ["eval", "review", changes.to_str().unwrap(), "--model", &model, "--json", native[0], native[1]];
    let reviewed = world.hob(&args).await;
    assert_eq!(reviewed.objects()[0]["result"]["found"], 1, "{reviewed:?}");
    events.extend(held.takes("eval review", &reviewed));
    std::fs::write(folder.path().join("task.md"), "# Look around").unwrap();
    let [task, here] = [folder.path().join("task.md"), folder.path().to_owned()].map(|path| path.display().to_string());
    let model = format!("model.default={model}");
    let args = ["agent", "run", "--folder", &here, "--task", &task, "--json", native[0], native[1], "--set", &model];
    let ran = world.hob(&args).await;
    assert_eq!((ran.code, ran.result()["outcome"].as_str()), (0, Some("done")), "{ran:?}");
    events.extend(held.takes("agent run", &ran));
    let tasks = world.dir().join("tasks");
    super::evaluation::task(&tasks, "good", "1");
    super::evaluation::put(&tasks.join("bad/task.toml"), "");
    let evaluated = ["eval", "run", "tasks", "--recorded", "--results", "of-eval", "--json"];
    events.extend(held.takes("eval run", &world.hob(&evaluated).await));
    events.extend(held.takes("eval run --check", &world.hob(&["eval", "tasks", "--check", "--json"]).await));
    events.extend(held.takes("eval compare", &world.hob(&["eval", "compare", "of-eval", "of-eval", "--json"]).await));
    // It serves until it is told to stop: the shell does that after its first line.
    let serve = r#"mkfifo ready; "$@" > ready & read -r line < ready; echo "$line"; kill $!; wait $!"#;
    events.extend(held.takes("forge serve", &world.hob_in_shell(serve, &["forge", "serve", "--json"]).await));
    assert!(held.wrong.is_empty(), "docs/json.md:\n{}", held.wrong.join("\n"));
    let unseen: Vec<_> = held.schema.0.keys().filter(|name| !held.seen.contains(*name)).collect();
    assert!(unseen.is_empty(), "docs/json.md describes what no command wrote: {unseen:?}; events: {events:?}");
    world.finish().await;
}

#[test]
fn a_field_that_the_document_lacks_or_has_too_much_is_found() {
    let (schema, mut seen) = (Schema::read(), BTreeSet::new());
    let mut wrong = |value: Value| schema.check_fields(&value, "unblocked", "x", &mut seen);
    assert!(wrong(json!({ "issue": 1, "answered": true })).is_empty());
    assert_eq!(wrong(json!({ "issue": 1, "answered": true, "new": 1 })), ["x.new is not documented: 1"]);
    assert_eq!(wrong(json!({ "issue": "1" })), ["x.issue is not a number: \"1\"", "x.answered is missing"]);
}
