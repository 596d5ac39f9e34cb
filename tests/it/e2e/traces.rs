//! Traces of the real program, as a collector gets them.

use std::fs;

use hob_domain::{IssueNumber, trace_id};
use opentelemetry_proto::tonic::{collector::trace::v1::ExportTraceServiceRequest, trace::v1::span::SpanKind};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Collector, Gate, Model, PYTHON, Replies, Traced, World, billed, needs, repo, spans_of};

use super::outages::asking;

/// The variable that switches traces on.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// An agent whose model costs money, although it is on this machine.
const PRICED: &str = "[agents.native-fixer]\nbackend = 'native'\n[testing.agents.native-fixer]\nlast_look = false\n\
    [model.prices.'openai/scripted']\ninput = 10\noutput = 100\n";
/// A text that must be in no trace.
const CANARY: &str = "canary-5fK2pQ9x";

/// The one span of this name.
fn one<'a>(spans: &'a [Traced], name: &str) -> &'a Traced {
    let all: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    let [one] = all[..] else { panic!("{} spans `{name}` in {spans:#?}", all.len()) };
    one
}

/// The names of spans, each below its parent's.
fn tree(spans: &[Traced]) -> String {
    fn below(spans: &[Traced], parent: &str, depth: usize, tree: &mut String) {
        for span in spans.iter().filter(|span| span.parent == parent) {
            tree.push_str(&format!("{}{}\n", "  ".repeat(depth), span.name));
            below(spans, &span.id, depth + 1, tree);
        }
    }
    let mut tree = String::new();
    below(spans, "", 0, &mut tree);
    assert_eq!(tree.lines().count(), spans.len(), "a parent is missing: {spans:#?}");
    tree
}

fn id_of(world: &World, issue: u64, attempt: u32) -> String {
    trace_id(&world.forge.server_url(), &repo(), IssueNumber(issue), attempt)
}

#[tokio::test]
async fn an_attempt_is_one_trace_of_its_agent_model_tools_checks_and_push() {
    let (collector, model) = (Collector::start().await, Model::start().await);
    let world = asking(&model).check(&format!("test -f done.txt # {CANARY}")).start().await;
    let issue = world.asks(&format!("Make {CANARY}"), &format!("{CANARY}, please")).await;
    let config = world.dir().join("priced.toml");
    fs::write(&config, PRICED).unwrap();
    let args = ["run", "--once", "--config", config.to_str().unwrap()];
    let ended = world.hob_with(&args, &[(ENDPOINT, &collector.endpoint)]).await;
    assert_eq!(
        (ended.code, world.labels(issue).await),
        (0, vec!["code".to_owned(), "in-review".to_owned()]),
        "{ended:?}"
    );
    let spans = collector.spans();
    insta::assert_snapshot!(tree(&spans), @r"
    attempt
      prepare
      checks base
      checks base
      checks base
      invoke_agent native-fixer
        chat scripted
        execute_tool write
        chat scripted
        execute_tool done
      checks head
      publish
        push
    ");
    assert!(spans.iter().all(|span| span.trace == id_of(&world, issue, 1)), "{spans:#?}");

    let attempt = one(&spans, "attempt");
    let pull = world.pull().await;
    for (name, value) in [
        ("vcs.provider.name", "github"),
        ("vcs.owner.name", "acme"),
        ("vcs.repository.name", "site"),
        ("vcs.repository.url.full", &format!("{}/acme/site", world.forge.server_url())),
        ("vcs.change.id", &pull["number"].to_string()),
        ("vcs.ref.head.revision", pull["head"]["sha"].as_str().unwrap()),
        ("hob.issue.number", &issue.to_string()),
        ("hob.attempt.number", "1"),
        ("hob.attempt.end", "published"),
        ("hob.cost.usd", "0.0004"),
        ("gen_ai.usage.input_tokens", "20"),
    ] {
        assert_eq!(attempt.says(name), value, "{name}: {attempt:#?}");
    }
    assert!(!attempt.attributes.contains_key("trace_id"), "{attempt:#?}");

    let agent = one(&spans, "invoke_agent native-fixer");
    assert_eq!((agent.kind, agent.says("gen_ai.operation.name")), (SpanKind::Internal, "invoke_agent"));
    assert_eq!((agent.says("gen_ai.agent.name"), agent.says("hob.run.outcome")), ("native-fixer", "done"));
    assert_eq!((agent.says("gen_ai.provider.name"), agent.says("gen_ai.request.model")), ("openai", "scripted"));
    assert_eq!((agent.says("hob.cost.usd"), agent.says("gen_ai.usage.output_tokens")), ("0.0004", "2"));
    let session = world.record(issue).await.unwrap().session.unwrap();
    for span in spans.iter().filter(|span| span.name == "chat scripted") {
        assert_eq!((span.kind, span.says("gen_ai.operation.name")), (SpanKind::Client, "chat"));
        assert_eq!((span.says("gen_ai.provider.name"), span.says("gen_ai.request.model")), ("openai", "scripted"));
        assert_eq!((span.says("gen_ai.usage.input_tokens"), span.says("gen_ai.usage.output_tokens")), ("10", "1"));
        assert_eq!((span.says("hob.cost.usd"), span.says("gen_ai.response.finish_reasons")), ("0.0002", "[tool_call]"));
        assert_eq!(span.says("gen_ai.conversation.id"), session.as_str());
    }
    let tool = one(&spans, "execute_tool write");
    assert_eq!((tool.kind, tool.says("gen_ai.operation.name")), (SpanKind::Internal, "execute_tool"));
    assert_eq!((tool.says("gen_ai.tool.name"), tool.says("gen_ai.tool.type")), ("write", "function"));
    let head = one(&spans, "checks head");
    assert_eq!((head.says("hob.checks.run"), head.says("cicd.pipeline.task.run.result")), ("1", "success"));
    let base = spans.iter().find(|span| span.name == "checks base").unwrap();
    assert_eq!((base.says("hob.checks.passed"), base.says("cicd.pipeline.task.run.result")), ("0", "failure"));
    assert!(spans.iter().all(|span| !span.is_error), "{spans:#?}");
    let resource = collector.resource();
    assert_eq!(
        (resource["service.name"].as_str(), resource["service.version"].as_str()),
        ("hob", env!("CARGO_PKG_VERSION"))
    );
    nothing_of_text(&collector, &[CANARY, "done.txt", "please", "token-of-hob"]);
    world.finish().await;
}

/// Fails if a text is in any byte that the collector got.
fn nothing_of_text(collector: &Collector, texts: &[&str]) {
    for (headers, body) in collector.requests() {
        let all = format!("{headers:?} {}", String::from_utf8_lossy(&body));
        for text in texts {
            assert!(!all.contains(text), "`{text}` is in {all}");
        }
    }
}

#[tokio::test]
async fn without_an_endpoint_nothing_is_sent_and_standard_switches_are_obeyed() {
    let collector = Collector::start().await;
    let world = World::fixing().start().await;
    let at = (ENDPOINT, collector.endpoint.as_str());
    for variables in [&[][..], &[at, ("OTEL_SDK_DISABLED", "true")], &[at, ("OTEL_TRACES_EXPORTER", "none")]] {
        world.asks("Make done.txt", "").await;
        assert_eq!(world.hob_with(&["run", "--once"], variables).await.code, 0);
        assert!(collector.requests().is_empty(), "{variables:?}");
    }
    // Commands without an agent have no traces.
    world.hob_with(&["status"], &[at]).await;
    assert!(collector.requests().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_key_in_a_header_goes_to_the_collector_and_to_no_agent_check_or_trace() {
    let collector = Collector::start().await;
    let leak = "env > leaked.txt; echo done > done.txt\n";
    let world = World::fixing().script("fixer", &format!("{leak}{}", billed(r#""outcome":"done""#))).start().await;
    let issue = world.asks("Make done.txt", "").await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &*format!("{}/v1/traces", collector.endpoint)),
        ("OTEL_EXPORTER_OTLP_HEADERS", &format!("Authorization=Bearer%20{CANARY},x-team=acme")),
        ("OTEL_SERVICE_NAME", "hob-of-acme"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    let ended = world.hob_with(&["run", "--once", "-v"], &variables).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let requests = collector.requests();
    assert!(!requests.is_empty());
    for (headers, body) in &requests {
        assert_eq!(headers["authorization"], format!("Bearer {CANARY}"));
        assert_eq!(headers["x-team"], "acme");
        assert!(!String::from_utf8_lossy(body).contains(CANARY));
    }
    let resource = collector.resource();
    assert_eq!(
        (resource["service.name"].as_str(), resource["deployment.environment.name"].as_str()),
        ("hob-of-acme", "test")
    );
    let spans = collector.spans();
    assert_eq!(one(&spans, "invoke_agent fixer").says("hob.cost.usd"), "0.000001");
    assert_eq!(one(&spans, "attempt").says("hob.issue.number"), issue.to_string());
    let leaked = world.content("leaked.txt", "hob/1-make-done-txt").await;
    assert!(leaked.contains("PATH=") && !leaked.contains("OTEL_") && !leaked.contains(CANARY), "{leaked}");
    assert!(!ended.stderr.contains(CANARY), "{ended:?}");
    world.finish().await;
}

/// A worker that is stopped gives an attempt back, and another one goes on with it.
#[tokio::test]
async fn two_workers_that_share_an_attempt_share_its_trace() {
    let collector = Collector::start().await;
    let script = Gate::before(&format!("echo done > done.txt; {}", billed(r#""outcome":"done""#)));
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let variables = [(ENDPOINT, collector.endpoint.as_str())];
    let hob = world.starts_hob_with(&["run"], &variables).await;
    gate.reached().await;
    assert_eq!(hob.ends_by(Signal::INT).await.code, 0);
    let first = collector.spans();
    assert_eq!(one(&first, "attempt").says("hob.attempt.end"), "stopped");

    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    let elsewhere = world.state_dir("elsewhere");
    let args = ["run", &issue.to_string(), "--state-dir", elsewhere.to_str().unwrap()];
    let (ended, ()) = tokio::join!(world.hob_with(&args, &variables), opens);
    assert_eq!(ended.code, 0, "{ended:?}");
    let spans = collector.spans();
    assert!(spans.len() > first.len() && spans.iter().all(|span| span.trace == id_of(&world, issue, 1)), "{spans:#?}");
    let attempts: Vec<_> = spans.iter().filter(|span| span.name == "attempt").collect();
    let [before, after] = attempts[..] else { panic!("{spans:#?}") };
    assert_eq!((before.parent.as_str(), after.parent.as_str(), after.says("hob.attempt.end")), ("", "", "published"));
    assert!(before.says("cicd.worker.id") != after.says("cicd.worker.id") && before.id != after.id, "{spans:#?}");
    world.finish().await;
}

#[tokio::test]
async fn what_failed_is_an_error_with_its_kind_and_another_attempt_is_another_trace() {
    let (collector, model) = (Collector::start().await, Model::start().await);
    let world = asking(&model).start().await;
    let issue = world.asks("Make done.txt", "").await;
    model.is_down(true);
    let variables = [(ENDPOINT, collector.endpoint.as_str())];
    world.hob_with(&["run", "--once"], &variables).await;
    let spans = collector.spans();
    let kinds = |name: &str| -> Vec<String> {
        let all = spans.iter().filter(|span| span.name == name);
        all.map(|span| format!("{} {}", span.is_error, span.says("error.type"))).collect()
    };
    assert_eq!(kinds("chat scripted")[0], "true 503");
    assert_eq!(kinds("invoke_agent native-fixer"), ["true transient"]);
    assert_eq!(kinds("attempt"), ["true transient"]);
    assert_eq!(one(&spans, "attempt").says("hob.attempt.end"), "postponed");
    nothing_of_text(&collector, &["overloaded"]);
    assert!(world.record(issue).await.unwrap().attempts.ever == 0);
    world.leave();
}

#[tokio::test]
async fn a_tool_that_failed_says_how_and_a_name_that_the_model_invented_is_not_told() {
    let (collector, replies) = (Collector::start().await, Replies::none());
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    replies.are(&json!([
        { "calls": [call(CANARY, json!({})), call("read", json!({ "path": "no.txt" }))] },
        { "calls": [call("shell", json!({ "command": "exit 3" }))] },
        { "calls": [call("write", json!({ "path": "done.txt", "content": CANARY }))] },
        { "calls": [call("done", json!({ "summary": CANARY, "title": "Make done.txt" }))] },
    ]));
    let world = World::fixing().agent("native-fixer", replies.agent()).set("agent", "native-fixer").start().await;
    world.asks("Make done.txt", "").await;
    let ended = world.hob_with(&["run", "--once"], &[(ENDPOINT, &collector.endpoint)]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let spans = collector.spans();
    let told = |name: &str| {
        let span = one(&spans, name);
        assert!(!span.says("gen_ai.tool.call.id").is_empty(), "{span:#?}");
        (span.is_error, span.says("error.type"))
    };
    assert_eq!(told("execute_tool _OTHER"), (true, "unknown_tool"));
    assert_eq!(told("execute_tool read"), (true, "file"));
    assert_eq!(told("execute_tool shell"), (true, "exit"));
    assert_eq!(told("execute_tool write"), (false, ""));
    let chat = spans.iter().find(|span| span.name == "chat cassette").unwrap();
    assert_eq!(chat.says("gen_ai.provider.name"), "hob");
    nothing_of_text(&collector, &[CANARY, "no.txt", "exit 3", "replies.json"]);
    world.finish().await;
}

/// A program that speaks as `codex` does: it asks its model, calls a tool of which it tells begin and end, and one of which it tells
/// the end alone.
const CODEX: &str = r#"
import json, re, sys, urllib.request
base = re.search(r'base_url="([^"]+)"', " ".join(sys.argv))[1]
body = {"model": "scripted", "max_tokens": 50, "messages": [{"role": "user", "content": "CANARY"}]}
for model in "scripted", "CANARY, a text and no name":
    asked = urllib.request.Request(base + "/chat/completions", json.dumps(body | {"model": model}).encode(), {"content-type": "application/json"})
    urllib.request.urlopen(asked).read()
def tell(kind, **item):
    print(json.dumps({"type": kind, "item": item}), flush=True)
tell("item.started", id="item_0", type="command_execution", command="echo CANARY", status="in_progress")
tell("item.completed", id="item_0", type="command_execution", command="echo CANARY", exit_code=1, status="failed")
tell("item.completed", id="item_1", type="mcp_tool_call", server="x", tool="CANARY is no name", status="completed")
open("done.txt", "w").write("done")
tell("item.completed", id="item_2", type="agent_message", text="Title: Make done.txt")
"#;

#[tokio::test]
async fn another_program_shows_what_its_model_and_tools_did_and_no_text_of_theirs() {
    needs!(PYTHON);
    let (collector, model) = (Collector::start().await, Model::start().await);
    let program = CODEX.replace("CANARY", CANARY);
    let builder = World::fixing().set("agent", "codex");
    let world = builder.set("testing.model.openai_base_url", &model.base).start().await;
    world.asks("Make done.txt", "").await;
    let config = world.dir().join("priced.toml");
    let prices = "[model.prices.'openai/scripted']\ninput = 10\noutput = 100\n[budget]\ntokens = 100000\n";
    fs::write(&config, format!("[agents.codex]\ncommand = {}\n{prices}", json!([PYTHON, "-c", program]))).unwrap();
    let args = ["run", "--once", "--config", config.to_str().unwrap()];
    let ended = world.hob_with(&args, &[(ENDPOINT, &collector.endpoint)]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let spans = collector.spans();
    let agent = one(&spans, "invoke_agent codex");
    let within: Vec<_> = spans.iter().filter(|span| span.parent == agent.id).map(|span| &*span.name).collect();
    assert_eq!(within, ["chat scripted", "chat _OTHER", "execute_tool shell", "execute_tool _OTHER"], "{spans:#?}");
    let chat = one(&spans, "chat scripted");
    assert_eq!((chat.says("gen_ai.provider.name"), chat.says("gen_ai.request.model")), ("openai", "scripted"));
    assert_eq!((chat.says("gen_ai.usage.input_tokens"), chat.says("hob.cost.usd")), ("10", "0.0002"));
    let tool = one(&spans, "execute_tool shell");
    assert_eq!((tool.is_error, tool.says("gen_ai.tool.call.id")), (true, "item_0"));
    assert!(!one(&spans, "execute_tool _OTHER").is_error);
    nothing_of_text(&collector, &[CANARY]);
    world.finish().await;
}

#[tokio::test]
async fn a_collector_that_is_down_or_silent_or_wrong_costs_nothing_of_the_work() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let collector = Collector::start().await;
    let elsewhere = format!("{}/elsewhere", collector.endpoint);
    let world = World::fixing().start().await;
    for (endpoint, warning) in [
        ("http://127.0.0.1:1", "traces are lost, the work goes on"),
        (&elsewhere, "traces are lost, the work goes on"),
        (&silent, "the last traces are lost"),
        ("no address", "continuing without traces"),
    ] {
        let issue = world.asks("Make done.txt", "").await;
        let ended = world.hob_with(&["run", &issue.to_string()], &[(ENDPOINT, endpoint)]).await;
        assert_eq!((ended.code, world.labels(issue).await.len()), (0, 2), "{endpoint}: {ended:?}");
        assert_eq!(ended.stderr.matches(warning).count(), 1, "{endpoint}: {ended:?}");
    }
    assert!(collector.requests().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_file_gets_the_same_as_lines_without_an_endpoint() {
    let world = World::fixing().start().await;
    let file = world.dir().join("traces.jsonl");
    let args = |issue: u64| ["run".to_owned(), issue.to_string(), "--traces".to_owned(), file.display().to_string()];
    for _ in 0..2 {
        let args = args(world.asks("Make done.txt", "").await);
        assert_eq!(world.hob(&args.each_ref().map(String::as_str)).await.code, 0);
    }
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 2, "a line for each process: {text}");
    let lines = || text.lines().map(|line| serde_json::from_str::<ExportTraceServiceRequest>(line).unwrap());
    let spans = spans_of(lines());
    assert_eq!(spans.iter().filter(|span| span.name == "attempt").count(), 2);
    assert!(
        spans.iter().any(|span| span.name == "invoke_agent fixer" && span.trace == id_of(&world, 1, 1)),
        "{spans:#?}"
    );
    // The specification's names, and ids in hexadecimal.
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let span = &line["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["traceId"], id_of(&world, 1, 1));
    assert!(span["startTimeUnixNano"].is_string() && span["kind"].is_number(), "{span}");
    let refused = world.hob(&["run", "--once", "--traces", "no/such/folder/traces.jsonl"]).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("the traces cannot be written to `no/such/folder/traces.jsonl`"), "{refused:?}");
    world.finish().await;
}
