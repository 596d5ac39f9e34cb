//! A run of 100 turns at each interface, as strict as its vendor's reference: parallel calls, errors, a picture, ids that a service
//! gives twice, and a window that is too small for all of it.

use std::collections::BTreeSet;

use hob_config::{AgentSettings, ModelAccess, ModelSettings, OpenAiInterface};
use serde_json::{Value, json};

use super::*;
use crate::models::{
    Answer, Server,
    strict::{PAIRS, refused_by_chat, refused_by_messages, refused_by_responses},
};

const TURNS: usize = 100;

/// An interface with what it is strict about.
struct Service {
    model: &'static str,
    interface: OpenAiInterface,
    /// What is answered before anything else.
    first: Option<&'static str>,
    /// What answers a patch.
    answers: &'static str,
    stream: fn(&[Call]) -> String,
    refused: fn(&str, &Value) -> Vec<String>,
    /// The ids of the calls and of the answers in a request.
    ids: fn(&Value) -> (Vec<String>, Vec<String>),
}

/// A call of a reply.
struct Call {
    id: String,
    name: &'static str,
    arguments: Value,
}

/// The calls of a turn. Services give the ids of one turn again in the next.
fn calls(turn: usize) -> Vec<Call> {
    let call = |number: usize, name, arguments| Call { id: format!("call_{number}"), name, arguments };
    let lines = |from: usize| json!({ "path": "a.txt", "from": from, "to": from + 20 });
    match turn % 5 {
        _ if turn > TURNS => vec![call(0, "done", json!({ "summary": "ok" }))],
        0 => vec![call(0, "read", lines(turn)), call(1, "read", lines(turn + 5)), call(2, "list", json!({}))],
        1 => vec![call(0, "shell", json!({ "command": format!("seq {turn} {}", turn + 400) }))],
        2 => vec![call(0, "read", json!({ "path": format!("missing-{turn}") })), call(1, "read", lines(turn))],
        3 => {
            let path = format!("new-{turn}.txt");
            vec![
                call(0, "write", json!({ "path": path, "text": "x\n" })),
                call(1, "no_such_tool", json!({ "turn": turn })),
            ]
        }
        _ if turn == 4 => vec![call(0, "read", json!({ "path": "a.png" }))],
        _ => {
            let patch = format!("*** Begin Patch\n*** Add File: patched-{turn}.txt\n+{turn}\n*** End Patch");
            // An id of its own: with one of before, a reply would not go back as it came.
            vec![Call { id: format!("call_of_{turn}"), ..call(0, "apply_patch", json!({ "patch": patch })) }]
        }
    }
}

fn chat(calls: &[Call]) -> String {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
            json!({ "index": index, "id": call.id, "type": "function", "function": function })
        })
        .collect();
    let choice = json!({ "choices": [{ "delta": { "tool_calls": calls }, "finish_reason": "tool_calls" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 0, "completion_tokens": 9 } });
    format!("data: {choice}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}

/// Patches by the interface's own tool.
fn responses(calls: &[Call]) -> String {
    responses_with(calls, |call, patch| {
        let (path, diff) = patch.split_once("*** Add File: ").unwrap().1.split_once('\n').unwrap();
        let operation = json!({ "type": "create_file", "path": path, "diff": diff.lines().next().unwrap() });
        json!({ "type": "apply_patch_call", "id": "apc", "call_id": call.id, "status": "completed", "operation": operation })
    })
}

/// Patches by a custom tool.
fn custom(calls: &[Call]) -> String {
    responses_with(
        calls,
        |call, patch| json!({ "type": "custom_tool_call", "id": "ctc", "call_id": call.id, "name": call.name, "input": patch }),
    )
}

/// Patches as `patched` writes them; and each reply with reasoning that goes back unchanged.
fn responses_with(calls: &[Call], patched: fn(&Call, &str) -> Value) -> String {
    let item = |call: &Call| match call.arguments["patch"].as_str() {
        Some(patch) => patched(call, patch),
        None => {
            json!({ "type": "function_call", "id": "fc", "call_id": call.id, "name": call.name, "arguments": call.arguments.to_string() })
        }
    };
    let reasoning = json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gA==" });
    let items = std::iter::once(reasoning).chain(calls.iter().map(item)).enumerate();
    let done: String = items
        .map(|(index, item)| {
            let event = json!({ "type": "response.output_item.done", "output_index": index, "item": item });
            format!("data: {event}\n\n")
        })
        .collect();
    let usage = json!({ "input_tokens": 0, "output_tokens": 9 });
    let completed = json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } });
    format!("{done}data: {completed}\n\n")
}

fn messages(calls: &[Call]) -> String {
    let mut events = vec![json!({ "type": "message_start", "message": { "usage": { "input_tokens": 0 } } })];
    for (index, call) in calls.iter().enumerate() {
        let block = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let delta = json!({ "type": "input_json_delta", "partial_json": call.arguments.to_string() });
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
    );
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// The texts at `key` of those elements of a list whose `kind` is one of `kinds`.
fn texts(list: &Value, kind: &str, kinds: &[&str], key: &str) -> Vec<String> {
    let of_kind = list.as_array().unwrap().iter().filter(|one| kinds.iter().any(|wanted| one[kind] == **wanted));
    of_kind.map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

fn of_chat(body: &Value) -> (Vec<String>, Vec<String>) {
    let said = body["messages"].as_array().unwrap().iter();
    let called: Vec<Value> = said.flat_map(|said| said["tool_calls"].as_array().cloned().unwrap_or_default()).collect();
    (
        texts(&Value::from(called), "type", &["function"], "id"),
        texts(&body["messages"], "role", &["tool"], "tool_call_id"),
    )
}

fn of_responses(body: &Value) -> (Vec<String>, Vec<String>) {
    let of = |kinds: [&str; 3]| texts(&body["input"], "type", &kinds, "call_id");
    (of(PAIRS.map(|(call, _)| call)), of(PAIRS.map(|(_, output)| output)))
}

fn of_messages(body: &Value) -> (Vec<String>, Vec<String>) {
    let said = body["messages"].as_array().unwrap().iter();
    let blocks: Value = said.flat_map(|said| said["content"].as_array().unwrap().clone()).collect();
    (texts(&blocks, "type", &["tool_use"], "id"), texts(&blocks, "type", &["tool_result"], "tool_use_id"))
}

/// The messages of a request, each as text; marks for the cache are no part of them.
fn said(body: &Value) -> Vec<String> {
    let list = body.get("input").unwrap_or(&body["messages"]).as_array().unwrap();
    list.iter().map(|one| one.to_string().replace(r#""cache_control":{"type":"ephemeral"},"#, "")).collect()
}

/// Runs 100 turns; the requests.
async fn run(service: &Service) -> Vec<Value> {
    let turns = (1..=TURNS + 1).map(|turn| Answer::Stream((service.stream)(&calls(turn))));
    let first = service.first.map(|refusal| Answer::Status(400, &[], refusal));
    let server = Server::start(first.into_iter().chain(turns)).await;
    let agent =
        AgentSettings { context_tokens: Some(24_000), last_look: false, recent_errors: 0, ..AgentSettings::default() };
    let model = ModelSettings {
        default: Some(service.model.into()),
        openai_interface: Some(service.interface),
        retries: 0,
        ..ModelSettings::default()
    };
    let access = ModelAccess {
        openai_base_url: Some(format!("{}/v1", server.base)),
        anthropic_base_url: Some(server.base.clone()),
        ..ModelAccess::default()
    };
    let agents = [("native".to_owned(), agent)].into();
    let registry = Registry::new(AgentParts { agents, model, access, ..AgentParts::default() }).unwrap();
    let lines: String =
        (1..=200).map(|line| format!("line {line} of a file that is longer than one answer\n")).collect();
    let bench = Bench::new(&[("a.txt", &lines)]);
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0\0\0\0\0".to_vec();
    png.extend([0; 20]);
    fs::write(bench.path().join("a.png"), png).unwrap();
    let report = bench.run(&registry.get("native").unwrap()).await;
    assert_eq!(report.outcome, Outcome::done("ok"), "{}", service.model);
    assert_eq!(bench.read("patched-99.txt"), "99\n", "{}", service.model);
    server.bodies()
}

#[tokio::test]
async fn a_hundred_turns_stay_valid_at_each_interface_and_are_found_in_its_cache() {
    use OpenAiInterface::{Chat, Responses};
    let service = |model, interface, stream, refused, ids| Service {
        model,
        interface,
        first: None,
        answers: "",
        stream,
        refused,
        ids,
    };
    let lacks_patches =
        r#"{"error":{"message":"Invalid value: 'apply_patch'. Supported values are: 'function', 'custom'."}}"#;
    for service in [
        Service {
            answers: "apply_patch_call_output",
            ..service("openai/gpt-6-sol", Responses, responses, refused_by_responses, of_responses)
        },
        Service {
            first: Some(lacks_patches),
            answers: "custom_tool_call_output",
            ..service("openai/gpt-6-sol", Responses, custom, refused_by_responses, of_responses)
        },
        service("openai/gpt-5.1", Chat, chat, refused_by_chat, of_chat),
        service("openai/gemini-3.8-flash", Chat, chat, refused_by_chat, of_chat),
        service("anthropic/claude-opus-5-5", Chat, messages, refused_by_messages, of_messages),
    ] {
        let bodies = run(&service).await.split_off(usize::from(service.first.is_some()));
        assert_eq!(bodies.len(), TURNS + 1);
        let (mut anew, mut seen, mut has_picture, mut has_answer) = (0, Vec::new(), false, false);
        for (turn, body) in bodies.iter().enumerate() {
            let at = format!("{} turn {turn}", service.model);
            let name = service.model.split_once('/').unwrap().1;
            assert_eq!((service.refused)(name, body), [""; 0], "{at}: {body}");
            let (called, answered) = (service.ids)(body);
            assert_eq!(called, answered, "{at}: an answer for each call");
            assert_eq!(called.iter().collect::<BTreeSet<_>>().len(), called.len(), "{at}: ids that are there twice");
            has_picture |= body.to_string().contains("iVBORw0KGgo");
            has_answer |= body.to_string().contains(service.answers);
            let now = said(body);
            anew += usize::from(!now.starts_with(&seen));
            seen = now;
        }
        assert!(has_picture && has_answer, "{} {}", service.model, service.answers);
        // What is left out is left out in large pieces: the rest of the requests begin as the one before.
        assert!((2..=12).contains(&anew), "{}: {anew} of {TURNS}", service.model);
    }
}
