//! A real model server, llama.cpp's, with a tiny model that knows nothing: its streams, counts, grammars and refusals
//! are read correctly. With a small real model: a run ends honestly and within its limits, no matter what the model
//! says. The quality of a model is not tested here.
//!
//! These tests run if `HOB_MODEL_SERVER_DIR` names the folder in which `scripts/model_server.py` installed it, as in
//! CI. Elsewhere each says that it is skipped.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use hob_agent::{
    AgentParts, Registry,
    model::{
        Memoized, Message, ModelClient, ModelError, ModelReply, ModelRequest, Models, Stop, Tool, ToolCall, ToolResult,
    },
};
use hob_config::{AgentSettings, ModelAccess, ModelSettings, PriceSettings, Speech};
use hob_domain::{FailureClass, Outcome};
use hob_process::Program;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

use crate::harness::skipped;

/// Both interfaces, which this server has.
const BOTH: [&str; 2] = ["openai/tiny", "anthropic/tiny"];
/// The key that the server wants.
const KEY: &str = "key-of-a-test";

/// The server while it runs; it is gone with this.
struct Server {
    address: String,
    _process: Child,
}

/// The folder of its installation. A folder that is named must have it.
fn installed() -> Option<PathBuf> {
    let Some((_, folder)) = std::env::vars_os().find(|(name, _)| name == "HOB_MODEL_SERVER_DIR") else {
        skipped(
            "no real model server; `python3 scripts/model_server.py install FOLDER`, then set \
             HOB_MODEL_SERVER_DIR=FOLDER",
        );
        return None;
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    assert!(folder.join(".installed").is_file(), "no model server in {}", folder.display());
    Some(folder)
}

impl Server {
    /// `None` if it is not installed.
    async fn start(context: u32) -> Option<Self> {
        Self::start_with(context, &[]).await
    }

    async fn start_with(context: u32, flags: &[&str]) -> Option<Self> {
        let folder = installed()?;
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts/model_server.py");
        let python = Program::of_hob(folder.join("bin/python"), &hob_config::child_environment());
        let python = python.env("MODEL_SERVER_KEY", KEY).arg(script).arg("serve").arg(&folder);
        let mut process = python.arg("--context").arg(context.to_string()).args(flags).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.next_line().await.unwrap().unwrap_or_default();
        Some(Self { address, _process: process })
    }

    fn access(&self, openai_key: &str) -> ModelAccess {
        ModelAccess {
            anthropic_key: Some(KEY.into()),
            anthropic_base_url: Some(self.address.clone()),
            openai_key: Some(openai_key.to_owned().into()),
            openai_base_url: Some(format!("{}/v1", self.address)),
        }
    }

    fn client(&self, name: &str, max_output_tokens: u32) -> Arc<dyn ModelClient> {
        Models::new(settings(max_output_tokens), self.access(KEY)).client(&name.parse().unwrap()).unwrap()
    }
}

/// Further requests for a turn whose reply cannot be used; what they cost counts, too.
const RETRIES: u32 = 2;

fn settings(max_output_tokens: u32) -> ModelSettings {
    ModelSettings { max_output_tokens, retries: RETRIES, backoff: Duration::ZERO, ..ModelSettings::default() }
}

fn tools() -> Memoized<Vec<Tool>> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "from": { "type": "integer" } },
        "required": ["path", "from"],
        "additionalProperties": false,
    });
    vec![Tool { name: "read".into(), description: "Reads a file.".into(), schema }].into()
}

async fn ask(
    client: &dyn ModelClient,
    messages: &[Message],
    tools: &Memoized<Vec<Tool>>,
) -> Result<ModelReply, ModelError> {
    let messages: Vec<_> = messages.iter().cloned().map(Memoized::from).collect();
    client
        .complete(&ModelRequest {
            system: "The rules.",
            messages: &messages,
            tools,
            turn: 1,
            funds: None,
            strain: hob_domain::Strain::Usual,
            rest: Default::default(),
        })
        .await
}

fn user(text: &str) -> Message {
    Message::user(text)
}

/// A call whose arguments match the tool's schema.
fn is_well_formed(call: &ToolCall) -> bool {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    !call.id.is_empty() && call.name == "read" && arguments["path"].is_string() && arguments["from"].is_number()
}

#[tokio::test]
async fn calls_and_tokens_are_read_from_a_real_stream_and_its_prompt_cache_hits() {
    let Some(server) = Server::start(8_192).await else { return };
    for name in BOTH {
        let client = server.client(name, 2_000);
        let mut messages = vec![user("Read the first file, from its first line to its last one.")];
        let first = ask(client.as_ref(), &messages, &tools()).await.unwrap();
        assert!(!first.calls.is_empty() && first.calls.iter().all(is_well_formed), "{name}: {first:?}");
        assert_eq!((first.stop, first.text.trim()), (Stop::Finished, ""), "{name}");
        assert!(first.usage.input > 100 && first.usage.output > 10, "{name}: {:?}", first.usage);
        let results = first.calls.iter();
        let results = results.map(|call| ToolResult::of_text(&call.id, "Its text.")).collect();
        messages.push(Message::Assistant { text: first.text, calls: first.calls, verbatim: first.verbatim });
        messages.push(Message::Results { results });
        let second = ask(client.as_ref(), &messages, &tools()).await.unwrap().usage;
        assert!(second.input > first.usage.input, "{name}: {second:?}");
        let cached = first.usage.input / 2..second.input;
        assert!(cached.contains(&second.cached_input), "{name}: {second:?}");
    }
}

#[tokio::test]
async fn a_real_reply_that_reaches_the_limit_of_tokens_is_told() {
    let Some(server) = Server::start(8_192).await else { return };
    for name in BOTH {
        let reply =
            ask(server.client(name, 8).as_ref(), &[user("Say something.")], &Memoized::default()).await.unwrap();
        assert_eq!((reply.stop, reply.usage.output), (Stop::Length, 8), "{name}: {reply:?}");
        assert!(!reply.text.is_empty() && reply.calls.is_empty(), "{name}: {reply:?}");
    }
}

#[tokio::test]
async fn what_a_real_server_refuses_is_told_apart() {
    let Some(server) = Server::start(1_024).await else { return };
    for name in BOTH {
        let long = user(&"word ".repeat(1_000));
        let error = ask(server.client(name, 100).as_ref(), &[long], &tools()).await.unwrap_err();
        assert!(error.is_too_long() && error.failure() == FailureClass::Permanent, "{name}: {error}");
    }
    let models = Models::new(settings(100), server.access("another-key"));
    let client = models.client(&BOTH[0].parse().unwrap()).unwrap();
    let error = ask(client.as_ref(), &[user("Hello.")], &tools()).await.unwrap_err();
    assert!(matches!(error, ModelError::Status { status: 401, failure: FailureClass::Misconfigured, .. }), "{error}");
    let client = server.client(BOTH[0], 100);
    drop(server);
    let error = ask(client.as_ref(), &[user("Hello.")], &tools()).await.unwrap_err();
    assert_eq!(error.failure(), FailureClass::Transient { retry_after: None }, "{error}");
}

#[tokio::test]
async fn a_run_on_a_real_server_falls_over_from_a_refused_key_and_ends_plainly() {
    let Some(server) = Server::start(16_384).await else { return };
    let price = PriceSettings { input: 1.0, ..PriceSettings::default() };
    let model = ModelSettings {
        default: Some(BOTH[0].into()),
        fallback: vec![BOTH[1].into()],
        prices: [(BOTH[1].into(), price)].into(),
        ..settings(1_000)
    };
    let tools = ["read", "list", "search"].map(str::to_owned).into();
    let agent = AgentSettings { tools, max_iterations: Some(6), ..AgentSettings::default() };
    let parts = AgentParts {
        agents: [("looker".into(), agent)].into(),
        model,
        access: server.access("another-key"),
        ..AgentParts::default()
    };
    let agent = Registry::new(parts).unwrap().get("looker").unwrap();
    let mut bench = crate::agents::Bench::new(&[("a", "text\n")]);
    bench.request.time = Duration::from_secs(300);
    let (report, replies) = bench.run_heard(&agent).await;
    // The model draws its calls at random: any end is right that says what it is.
    let said = match &report.outcome {
        Outcome::Done { summary, .. } => summary,
        Outcome::NothingToDo { reason } => reason,
        Outcome::Question { question } => question,
        Outcome::Failed { reason, failure: FailureClass::Permanent | FailureClass::NeedsHuman } => reason,
        other @ (Outcome::Failed { .. } | Outcome::ApprovalNeeded { .. } | Outcome::HandOff(_)) => panic!("{other:?}"),
    };
    assert!(!said.is_empty());
    assert!(report.spend.input_tokens > 1_000 && report.spend.output_tokens > 0, "{report:?}");
    assert_eq!(report.spend.usd_micros, report.spend.input_tokens);
    assert!(replies.iter().all(|(model, _)| model == BOTH[1]), "{replies:?}");
    assert!(replies.iter().skip(1).all(|(_, cached)| *cached > 1_000), "{replies:?}");
    let switches = bench.said().into_iter().filter(|line| line.contains("`anthropic/tiny` answers now")).count();
    assert_eq!(switches, 1);
}

/// A model of 135 million weights can solve next to nothing. What it must not do is end a run as done without a change, or never.
#[tokio::test]
async fn a_small_real_model_ends_honestly_and_within_its_limits() {
    const TURNS: u32 = 6;
    let Some(server) = Server::start_with(8_192, &["--small"]).await else { return };
    let agent = AgentSettings { max_iterations: Some(TURNS), speech: Speech::Json, ..AgentSettings::default() };
    let model = ModelSettings { default: Some(BOTH[0].into()), ..settings(200) };
    let parts = AgentParts {
        agents: [("small".into(), agent)].into(),
        model,
        access: server.access(KEY),
        ..AgentParts::default()
    };
    let agent = Registry::new(parts).unwrap().get("small").unwrap();
    for task in [
        "Write the word hello to the file hello.txt",
        "The file a.txt says text: make it say other",
        "Delete the file a.txt",
        "Add a README.md with one sentence",
        "How many files are in the folder? Write the number to count.txt",
    ] {
        let mut bench = crate::agents::Bench::new(&[("a.txt", "text\n")]);
        bench.request.time = Duration::from_secs(300);
        (bench.request.title, bench.request.body) = (task.to_owned(), task.to_owned());
        bench.request.brief = format!("Work on this task.\n\n{task}.\n");
        let before = bench.files();
        let (report, replies) = bench.run_heard(&agent).await;
        let changed = bench.files() != before;
        match &report.outcome {
            Outcome::Done { summary, .. } => assert!(changed && !summary.is_empty(), "{task}: {report:?}"),
            Outcome::NothingToDo { reason: said } | Outcome::Question { question: said } => {
                assert!(!said.is_empty(), "{task}: {report:?}");
            }
            Outcome::Failed { reason, failure } => {
                assert!(!reason.is_empty() && *failure != FailureClass::Cancelled, "{task}: {report:?}");
            }
            other @ (Outcome::ApprovalNeeded { .. } | Outcome::HandOff(_)) => panic!("{task}: {other:?}"),
        }
        assert!(!replies.is_empty() && replies.len() <= TURNS as usize, "{task}: {replies:?}");
        assert!(report.spend.output_tokens <= u64::from(TURNS * (1 + RETRIES)) * 200, "{task}: {report:?}");
    }
}

#[test]
fn ci_installs_the_server_before_the_tests() {
    let ci = fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    assert!(ci.contains("\n    python3 scripts/model_server.py install \"$HOB_MODEL_SERVER_DIR\"\n"));
    // What is done, after all functions.
    let (_, steps) = ci.rsplit_once("\ntools\n").unwrap();
    let at = |part: &str| steps.find(part).unwrap_or_else(|| panic!("`.ci/run` lacks `{part}`"));
    assert!(at("\nexport HOB_MODEL_SERVER_DIR=") < at("\ndownloads "));
    assert!(at("\nwait \"$downloading\"") < at("\n  tests\n"));
}
