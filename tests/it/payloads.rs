//! Payloads that GitHub itself has sent, through the real client: npm's `@octokit/webhooks-examples` and `@octokit/fixtures`,
//! which `npm ci` in `tests/conformance` installs. `HOB_PAYLOADS_DIR` names the folder that has both.

use std::{collections::BTreeMap, io::Write, path::PathBuf};

use github_emulator::{Fault, What, When};
use hob_domain::{IssueNumber, PullNumber, Sha};
use hob_forge::{Access, Forge};
use serde_json::{Value, json};

use crate::harness::World;

/// Where the packages are. A folder that is named has to have them.
fn installed() -> Option<PathBuf> {
    let Some((_, folder)) = std::env::vars_os().find(|(name, _)| name == "HOB_PAYLOADS_DIR") else {
        let why = "skipped: no payloads; `npm ci` in tests/conformance, then set \
                   HOB_PAYLOADS_DIR=tests/conformance/node_modules/@octokit\n";
        // Not by a macro: the output of a test that passes is not shown.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return None;
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    assert!(folder.join("webhooks-examples").is_dir(), "no payloads in {}", folder.display());
    Some(folder)
}

fn read(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// What the client reads, each where it reads it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Review,
    Remark,
    Comment,
    CheckRun,
    Status,
    Pull,
    Job,
}

/// What GitHub's description lets be null, or has values of that may become more.
const NULLED: [&str; 13] = [
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
    "steps[].conclusion",
    "steps[].completed_at",
];
const RENAMED: [&str; 6] = ["state", "status", "conclusion", "mergeable_state", "author_association", "type"];

impl Kind {
    const ALL: [Self; 7] =
        [Self::Review, Self::Remark, Self::Comment, Self::CheckRun, Self::Status, Self::Pull, Self::Job];

    /// The webhook's name, and its payload's member with what the API answers, too; none: the payload itself.
    fn event(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Review => ("pull_request_review", Some("review")),
            Self::Remark => ("pull_request_review_comment", Some("comment")),
            Self::Comment => ("issue_comment", Some("comment")),
            Self::CheckRun => ("check_run", Some("check_run")),
            Self::Status => ("status", None),
            Self::Pull => ("pull_request", Some("pull_request")),
            Self::Job => ("workflow_job", Some("workflow_job")),
        }
    }

    /// The path of the API, and the answer that has this one thing.
    fn answer(self, thing: &Value) -> (&'static str, Value) {
        match self {
            Self::Review => ("/repos/*/*/pulls/*/reviews", json!([thing])),
            Self::Remark => ("/repos/*/*/pulls/*/comments", json!([thing])),
            Self::Comment => ("/repos/*/*/issues/*/comments", json!([thing])),
            Self::CheckRun => ("/repos/*/*/commits/*/check-runs", json!({"total_count": 1, "check_runs": [thing]})),
            Self::Status => ("/repos/*/*/commits/*/statuses", json!([thing])),
            Self::Pull => ("/repos/*/*/pulls/*", thing.clone()),
            Self::Job => ("/repos/*/*/actions/jobs/*", thing.clone()),
        }
    }

    async fn read(self, forge: &Forge, head: &Sha) -> Result<(), String> {
        let pull = PullNumber(1);
        let read = match self {
            Self::Review => forge.reviews(pull).all().await.map(drop),
            Self::Remark => forge.reviews(pull).remarks().await.map(drop),
            Self::Comment => forge.comments().of(IssueNumber(1)).await.map(drop),
            Self::CheckRun | Self::Status => forge.head_checks(head).all().await.map(drop),
            Self::Pull => forge.pulls().get(pull).await.map(drop),
            Self::Job => forge.failed_job(1).run().await.map(drop),
        };
        read.map_err(|error| error.to_string())
    }
}

/// The payload, and it once more for each of its members that may be null or new.
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
    let examples = read(folder.join("webhooks-examples/api.github.com/index.json"));
    let scenario = "fixtures/scenarios/api.github.com/create-status/normalized-fixture.json";
    let recorded = read(folder.join(scenario));
    let world = World::fixing().start().await;
    let forge = world.bot(Access::ReadOnly);
    let head = Sha::from("0000000000000000000000000000000000000001");
    let mut tried = BTreeMap::new();
    for kind in Kind::ALL {
        let (event, member) = kind.event();
        let sent = examples.as_array().unwrap().iter().filter(|example| example["name"] == event);
        let sent = sent.flat_map(|example| example["examples"].as_array().unwrap());
        let mut things: Vec<Value> =
            sent.map(|payload| member.map_or(payload, |member| &payload[member]).clone()).collect();
        if matches!(kind, Kind::Status) {
            let answers = recorded.as_array().unwrap().iter().filter_map(|call| call["response"].as_array());
            things.extend(answers.flatten().cloned());
        }
        assert!(things.len() > 2, "{event} has no examples");
        for thing in things {
            for (what, variant) in variants(&thing) {
                world.forge.heal();
                let mut answers = vec![kind.answer(&variant)];
                // Both are read together.
                match kind {
                    Kind::CheckRun => answers.push(("/repos/*/*/commits/*/statuses", json!([]))),
                    Kind::Status => answers.push(("/repos/*/*/commits/*/check-runs", json!({"check_runs": []}))),
                    Kind::Review | Kind::Remark | Kind::Comment | Kind::Pull | Kind::Job => {}
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
                if let Err(error) = kind.read(&forge, &head).await {
                    panic!("{kind:?} {what}: {error}\n{variant:#}");
                }
                *tried.entry(event).or_insert(0) += 1;
            }
        }
    }
    let all: usize = tried.values().sum();
    assert!(all > 300, "{tried:?}");
    world.leave();
}
