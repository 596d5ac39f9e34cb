//! Payloads that GitHub itself has sent, through the real client, unchanged and with members that may be null or new.

use std::collections::BTreeMap;

use github_emulator::{Fault, What, When};
use hob_domain::{Actor, IssueNumber, LabelSpec, PullNumber, Sha, Timestamp};
use hob_forge::{Access, Forge, ForgeError};
use serde_json::{Value, json};

use super::packages::{installed, read};
use crate::harness::World;

/// The objects that the client reads, each with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Review,
    Remark,
    Thread,
    Comment,
    CheckRun,
    Status,
    Pull,
    Job,
    Issue,
    Label,
    Repository,
    Account,
}

/// Members that GitHub's description lets be null, or whose values may become more.
const NULLED: [&str; 14] = [
    "body",
    "user",
    "line",
    "in_reply_to_id",
    "submitted_at",
    "conclusion",
    "app",
    "output",
    "description",
    "mergeable",
    "merged_at",
    "assignees",
    "steps[].conclusion",
    "steps[].completed_at",
];
const RENAMED: [&str; 7] =
    ["state", "status", "conclusion", "mergeable_state", "author_association", "type", "state_reason"];

impl Kind {
    const ALL: [Self; 12] = [
        Self::Review,
        Self::Remark,
        Self::Thread,
        Self::Comment,
        Self::CheckRun,
        Self::Status,
        Self::Pull,
        Self::Job,
        Self::Issue,
        Self::Label,
        Self::Repository,
        Self::Account,
    ];

    /// The webhooks that have such objects, all if none is named, and the place in their payloads.
    fn place(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::Review => (&["pull_request_review"], "/review"),
            Self::Remark => (&["pull_request_review_comment"], "/comment"),
            Self::Thread => (&["pull_request_review_thread"], "/thread/comments/0"),
            Self::Comment => (&["issue_comment"], "/comment"),
            Self::CheckRun => (&["check_run"], "/check_run"),
            Self::Status => (&["status"], ""),
            Self::Pull => (&["pull_request"], "/pull_request"),
            Self::Job => (&["workflow_job"], "/workflow_job"),
            Self::Issue => (&["issues", "issue_comment"], "/issue"),
            Self::Label => (&["label"], "/label"),
            Self::Repository => (&[], "/repository"),
            Self::Account => (&[], "/sender"),
        }
    }

    /// The objects that were sent, each once.
    fn sent(self, examples: &Value) -> Vec<Value> {
        let (events, place) = self.place();
        let is_named = |event: &&Value| events.is_empty() || events.iter().any(|name| event["name"] == *name);
        let payloads = examples.as_array().unwrap().iter().filter(is_named);
        let payloads = payloads.flat_map(|event| event["examples"].as_array().unwrap());
        let mut things: Vec<Value> = payloads.filter_map(|payload| payload.pointer(place)).cloned().collect();
        things.sort_by_key(Value::to_string);
        things.dedup();
        // Two examples, of an issue that is pinned, are shortened; the API always tells a state.
        things.retain(|thing| self != Self::Issue || thing.get("state").is_some());
        things
    }

    /// The path of the API, and the answer that has this one thing.
    fn answer(self, thing: &Value) -> (&'static str, Value) {
        match self {
            Self::Review => ("/repos/*/*/pulls/*/reviews", json!([thing])),
            Self::Remark | Self::Thread => ("/repos/*/*/pulls/*/comments", json!([thing])),
            Self::Comment => ("/repos/*/*/issues/*/comments", json!([thing])),
            Self::CheckRun => ("/repos/*/*/commits/*/check-runs", json!({"total_count": 1, "check_runs": [thing]})),
            Self::Status => ("/repos/*/*/commits/*/statuses", json!([thing])),
            Self::Pull => ("/repos/*/*/pulls/*", thing.clone()),
            Self::Job => ("/repos/*/*/actions/jobs/*", thing.clone()),
            Self::Issue => ("/repos/*/*/issues/*", thing.clone()),
            Self::Label => ("/repos/*/*/labels", json!([thing])),
            Self::Repository => ("/repos/*/*", thing.clone()),
            Self::Account => ("/users/*", thing.clone()),
        }
    }

    /// The members of the payload that the client read, `null` if there is nothing to read.
    async fn read(self, forge: &Forge, head: &Sha, thing: &Value) -> Result<Value, ForgeError> {
        let pull = PullNumber(1);
        let login = |actor: &Option<Actor>| actor.as_ref().map(|actor| actor.login.as_str().to_owned());
        Ok(match self {
            Self::Review => forge.reviews(pull).all().await?.first().map_or(Value::Null, |read| {
                json!({ "id": read.id, "body": read.body, "user": login(&read.author), "submitted_at": read.submitted_at })
            }),
            Self::Remark | Self::Thread => forge.reviews(pull).remarks().await?.first().map_or(Value::Null, |read| {
                json!({
                    "id": read.id, "in_reply_to_id": read.thread, "body": read.body, "user": login(&read.author),
                    "path": read.path, "line": read.line, "diff_hunk": read.hunk, "created_at": read.created_at,
                })
            }),
            Self::Comment => forge.comments().of(IssueNumber(1)).await?.first().map_or(Value::Null, |read| {
                json!({ "id": read.id, "body": read.body, "user": login(&read.author), "created_at": read.created_at })
            }),
            Self::CheckRun => forge.head_checks(head).all().await?.first().map_or(Value::Null, |read| {
                json!({ "id": read.run, "name": read.name })
            }),
            Self::Status => forge.head_checks(head).all().await?.first().map_or(Value::Null, |read| {
                json!({ "context": read.name, "description": read.says })
            }),
            Self::Pull => forge.pulls().get(pull).await?.map_or(Value::Null, |read| {
                json!({
                    "number": read.number, "html_url": read.html_url, "head": { "sha": read.head },
                    "base": { "sha": read.base, "ref": read.base_name },
                })
            }),
            Self::Job => json!({ "run_id": forge.failed_job(1).run().await? }),
            Self::Issue => {
                let number = IssueNumber(thing["number"].as_u64().unwrap());
                forge.issues().get(number).await?.map_or(Value::Null, |read| {
                    let named = |name: &String| json!({ "name": name });
                    json!({
                        "number": read.number, "title": read.title, "body": read.body, "comments": read.comments,
                        "user": read.author, "labels": read.labels.iter().map(named).collect::<Vec<_>>(),
                        "created_at": read.created_at, "updated_at": read.updated_at, "html_url": read.html_url,
                    })
                })
            }
            Self::Label => {
                let name = thing["name"].as_str().unwrap().to_owned();
                let spec = LabelSpec { name: name.clone(), color: "", description: "" };
                let missing = forge.labels().missing(&[spec]).await?;
                if missing.is_empty() { json!({ "name": name }) } else { json!({ "name": null }) }
            }
            Self::Repository => {
                let read = forge.repository().details().await?;
                json!({ "default_branch": read.default_branch, "archived": read.archived, "has_issues": read.has_issues })
            }
            Self::Account => {
                let login = thing["login"].as_str().unwrap();
                json!({ "id": forge.connection().account(&login.into()).await?.map(|account| account.id) })
            }
        })
    }
}

/// Whether everything that was read was sent; a text that is null is read as an empty one, and an account is read as
/// its login.
/// login.
fn agrees(read: &Value, sent: &Value) -> bool {
    match (read, sent) {
        (Value::Object(read), Value::Object(sent)) => {
            read.iter().all(|(name, value)| agrees(value, sent.get(name).unwrap_or(&Value::Null)))
        }
        (Value::Array(read), Value::Array(sent)) => {
            read.len() == sent.len() && read.iter().zip(sent).all(|(read, sent)| agrees(read, sent))
        }
        (Value::String(read), Value::Object(account)) => account.get("login").is_some_and(|login| login == read),
        (Value::String(read), Value::Null) => read.is_empty(),
        (Value::String(read), Value::String(sent)) => {
            let time = |text: &str| text.parse::<Timestamp>().ok();
            read == sent || time(read).is_some_and(|read| time(sent) == Some(read))
        }
        (read, sent) => read == sent,
    }
}

/// The payload, and a variant for each of its members that may be null or new.
fn variants(thing: &Value) -> Vec<(String, Value)> {
    let mut variants = vec![("as it was sent".to_owned(), thing.clone())];
    let mut change = |name: &str, value: Value| {
        let mut changed = thing.clone();
        let members = match name.strip_prefix("steps[].") {
            Some(inner) => {
                let steps = changed["steps"].as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
                steps.first_mut().and_then(|step| step.get_mut(inner))
            }
            None => changed.get_mut(name),
        };
        if let Some(member) = members {
            let what = format!("with `{name}`: {value}");
            *member = value;
            variants.push((what, changed));
        }
    };
    for name in NULLED {
        change(name, Value::Null);
    }
    for name in RENAMED {
        change(name, json!("something_new"));
    }
    variants
}

#[tokio::test]
async fn what_github_has_sent_is_understood_and_so_is_what_is_null_or_new_in_it() {
    let Some(folder) = installed() else { return };
    let examples = read(&folder.join("webhooks-examples/api.github.com/index.json"));
    let scenario = "fixtures/scenarios/api.github.com/create-status/normalized-fixture.json";
    let recorded = read(&folder.join(scenario));
    let world = World::fixing().start().await;
    let forge = world.bot(Access::ReadOnly);
    let head = Sha::from("0000000000000000000000000000000000000001");
    let mut tried = BTreeMap::new();
    for kind in Kind::ALL {
        let mut things = kind.sent(&examples);
        if kind == Kind::Status {
            let answers = recorded.as_array().unwrap().iter().filter_map(|call| call["response"].as_array());
            things.extend(answers.flatten().cloned());
        }
        assert!(things.len() > 1, "{kind:?} has no examples");
        let mut compared = 0;
        for thing in things {
            for (what, variant) in variants(&thing) {
                world.forge.heal();
                let mut answers = vec![kind.answer(&variant)];
                // Both are read together.
                match kind {
                    Kind::CheckRun => answers.push(("/repos/*/*/commits/*/statuses", json!([]))),
                    Kind::Status => answers.push(("/repos/*/*/commits/*/check-runs", json!({"check_runs": []}))),
                    Kind::Review
                    | Kind::Remark
                    | Kind::Thread
                    | Kind::Comment
                    | Kind::Pull
                    | Kind::Job
                    | Kind::Issue
                    | Kind::Label
                    | Kind::Repository
                    | Kind::Account => {}
                }
                for (path, body) in answers {
                    let what = What::Raw { status: 200, headers: BTreeMap::new(), body: body.to_string() };
                    world.forge.inject(Fault {
                        method: None,
                        path: path.to_owned(),
                        login: None,
                        when: When::Always,
                        what,
                    });
                }
                match kind.read(&forge, &head, &variant).await {
                    // A review that is pending, and an issue that is a pull request, are passed over.
                    Ok(Value::Null) => {}
                    Ok(read) => {
                        assert!(agrees(&read, &variant), "{kind:?} {what}: read {read:#} of {variant:#}");
                        compared += 1;
                    }
                    Err(error) => panic!("{kind:?} {what}: {error}\n{variant:#}"),
                }
            }
        }
        assert!(compared > 1, "{kind:?}: nothing was read");
        tried.insert(format!("{kind:?}"), compared);
    }
    let all: usize = tried.values().sum();
    assert!(all > 500, "{tried:?}");
    world.leave();
}

#[test]
fn what_was_read_otherwise_than_it_was_sent_is_told() {
    let sent = json!({ "id": 7, "body": null, "user": { "login": "ann" }, "at": "2026-01-01T00:00:00Z", "labels": [{ "name": "a", "color": "0" }] });
    let read =
        json!({ "id": 7, "body": "", "user": "ann", "at": "2026-01-01T00:00:00.000Z", "labels": [{ "name": "a" }] });
    assert!(agrees(&read, &sent));
    for (member, value) in [
        ("id", json!(8)),
        ("body", json!("x")),
        ("user", json!("bob")),
        ("user", json!(null)),
        ("at", json!("2026-01-01T00:00:01Z")),
        ("labels", json!([])),
        ("labels", json!([{ "name": "b" }])),
        ("other", json!(1)),
    ] {
        let mut read = read.clone();
        read[member] = value;
        assert!(!agrees(&read, &sent), "{read}");
    }
}
