//! Reasoning goes back to its own service unchanged: over many turns, over the death of a process, and to no other.

use std::{collections::BTreeMap, sync::Mutex};

use axum::{
    Json, Router,
    response::{IntoResponse, Response},
};
use hob_config::{AgentSettings, Effort, ModelAccess, ModelSettings, OpenAiInterface};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{sessions::Sitting, *};

const TURNS: usize = 100;
/// The turn in which the process dies.
const DIES: usize = 50;

/// A vendor's way to write and to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vendor {
    Messages,
    Responses,
}

/// A service that refuses anything that differs from what it wrote.
struct Strict {
    vendor: Vendor,
    /// Its reasoning in each turn, by the id of the call in it.
    issued: Mutex<BTreeMap<String, Vec<Value>>>,
    requests: Mutex<Vec<Value>>,
    refused: Mutex<Vec<String>>,
    /// The turn in which it forgets how to read its earlier messages, and refuses all of them.
    forgets_at: Option<usize>,
    hangs: Notify,
}

impl Strict {
    /// The elements of a request that are its own words.
    fn own(&self, request: &Value) -> Vec<Vec<Value>> {
        match self.vendor {
            Vendor::Messages => {
                let said = request["messages"].as_array().unwrap().iter().filter(|said| said["role"] == "assistant");
                said.map(|said| said["content"].as_array().unwrap().clone()).collect()
            }
            Vendor::Responses => {
                let (mut turns, mut turn) = (Vec::new(), Vec::new());
                for item in request["input"].as_array().unwrap() {
                    if !matches!(item["type"].as_str(), Some("reasoning" | "message" | "function_call")) {
                        continue;
                    }
                    turn.push(item.clone());
                    if item["type"] == "function_call" {
                        turns.push(std::mem::take(&mut turn));
                    }
                }
                turns
            }
        }
    }

    fn id(turn: &[Value]) -> Option<&str> {
        let call = turn.iter().find(|one| matches!(one["type"].as_str(), Some("tool_use" | "function_call")))?;
        call["id"].as_str().filter(|id| id.starts_with("toolu")).or_else(|| call["call_id"].as_str())
    }

    /// Why a request is refused.
    fn refusal(&self, request: &Value) -> Option<String> {
        let issued = self.issued.lock().unwrap();
        for turn in self.own(request) {
            let Some(wrote) = Self::id(&turn).and_then(|id| issued.get(id)) else { continue };
            if self.forgets_at.is_some_and(|at| issued.len() >= at) {
                let is_thought = |one: &Value| matches!(one["type"].as_str(), Some("thinking" | "reasoning"));
                if turn.iter().any(is_thought) {
                    return Some("Invalid `signature` in `thinking` block".to_owned());
                }
            } else if *wrote != turn {
                return Some(format!("`thinking` blocks cannot be modified: {turn:?}, not {wrote:?}"));
            }
        }
        let asks = match self.vendor {
            Vendor::Messages => {
                request["thinking"]["type"] == "adaptive" && request["output_config"]["effort"] == "high"
            }
            Vendor::Responses => {
                request["store"] == false
                    && request["include"] == json!(["reasoning.encrypted_content"])
                    && request["reasoning"]["effort"] == "high"
            }
        };
        (!asks).then(|| "no reasoning is asked for".to_owned())
    }

    /// A turn with its reasoning: two thoughts, one of which only the service can read, words, a call.
    fn turn(&self, number: usize) -> Vec<Value> {
        let (id, arguments) = (format!("{number:04}"), json!({ "command": format!("echo {number}") }));
        let (name, arguments) =
            if number > TURNS { ("done", json!({ "summary": "ok" })) } else { ("shell", arguments) };
        match self.vendor {
            Vendor::Messages => vec![
                json!({ "type": "thinking", "thinking": format!("Step {number} — “next”."), "signature": format!("sig+/{number}==") }),
                json!({ "type": "redacted_thinking", "data": format!("Em{number}AB==") }),
                json!({ "type": "text", "text": format!("I do {number}.") }),
                json!({ "type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": arguments }),
            ],
            Vendor::Responses => vec![
                json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [], "encrypted_content": format!("gAAA{number}==") }),
                json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed", "phase": "commentary",
                    "content": [{ "type": "output_text", "text": format!("I do {number}."), "annotations": [] }] }),
                json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "status": "completed",
                    "name": name, "arguments": arguments.to_string() }),
            ],
        }
    }

    fn stream(&self, turn: &[Value]) -> String {
        let mut events = Vec::new();
        match self.vendor {
            Vendor::Messages => {
                events.push(json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10 } } }));
                for (index, block) in turn.iter().enumerate() {
                    let (mut start, mut deltas) = (block.clone(), Vec::new());
                    match block["type"].as_str().unwrap() {
                        "thinking" => {
                            (start["thinking"], start["signature"]) = (json!(""), json!(""));
                            deltas.push(json!({ "type": "thinking_delta", "thinking": block["thinking"] }));
                            deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
                        }
                        "text" => {
                            start["text"] = json!("");
                            deltas.push(json!({ "type": "text_delta", "text": block["text"] }));
                        }
                        "tool_use" => {
                            start["input"] = json!({});
                            deltas.push(
                                json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }),
                            );
                        }
                        _ => {}
                    }
                    events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
                    let deltas = deltas
                        .into_iter()
                        .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }));
                    events.extend(deltas);
                }
                events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 5 } }));
                events.push(json!({ "type": "message_stop" }));
            }
            Vendor::Responses => {
                for (index, item) in turn.iter().enumerate() {
                    events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
                }
                let usage =
                    json!({ "input_tokens": 10, "input_tokens_details": { "cached_tokens": 4 }, "output_tokens": 5 });
                events.push(json!({ "type": "response.completed", "response": { "usage": usage } }));
            }
        }
        events.iter().map(|event| format!("data: {event}\n\n")).collect()
    }

    async fn answer(&self, request: Value) -> Response {
        self.requests.lock().unwrap().push(request.clone());
        if let Some(why) = self.refusal(&request) {
            self.refused.lock().unwrap().push(why.clone());
            let error = json!({ "error": { "type": "invalid_request_error", "message": why } });
            return (http::StatusCode::BAD_REQUEST, Json(error)).into_response();
        }
        let number = self.issued.lock().unwrap().len() + 1;
        let turn = self.turn(number);
        self.issued.lock().unwrap().insert(Self::id(&turn).unwrap().to_owned(), turn.clone());
        if number == DIES {
            self.hangs.notify_one();
        }
        self.stream(&turn).into_response()
    }
}

/// The service, and an agent that asks it.
async fn strict(vendor: Vendor, forgets_at: Option<usize>) -> (Arc<Strict>, Arc<dyn AgentBackend>) {
    let service = Arc::new(Strict {
        vendor,
        issued: Mutex::default(),
        requests: Mutex::default(),
        refused: Mutex::default(),
        forgets_at,
        hangs: Notify::new(),
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let shared = Arc::clone(&service);
    let app = Router::new().fallback(move |Json(request): Json<Value>| {
        let service = Arc::clone(&shared);
        async move { service.answer(request).await }
    });
    let app = app.layer(axum::extract::DefaultBodyLimit::max(64 << 20));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let name = if vendor == Vendor::Messages { "anthropic/claude-sonnet-5-5" } else { "openai/gpt-6-sol" };
    let model = ModelSettings {
        default: Some(name.into()),
        openai_interface: Some(OpenAiInterface::Responses),
        retries: 0,
        ..ModelSettings::default()
    };
    let access = ModelAccess {
        openai_base_url: Some(format!("{base}/v1")),
        anthropic_base_url: Some(base),
        ..ModelAccess::default()
    };
    let settings = AgentSettings { effort: Some(Effort::High), ..AgentSettings::default() };
    let agents = [("a".to_owned(), settings)].into();
    let parts = AgentParts { agents, model, access, ..AgentParts::default() };
    (service, Registry::new(parts).unwrap().get("a").unwrap())
}

#[tokio::test]
async fn reasoning_is_whole_over_a_hundred_turns_and_the_death_of_the_process() {
    for vendor in [Vendor::Messages, Vendor::Responses] {
        let (sitting, (service, agent)) = (Sitting::new(), strict(vendor, None).await);
        tokio::select! {
            _ = sitting.run(agent.as_ref()) => panic!("it is not done yet"),
            () = service.hangs.notified() => {}
        }
        let report = sitting.run(agent.as_ref()).await;
        assert_eq!(report.outcome, Outcome::done("ok"), "{vendor:?}");
        assert_eq!(*service.refused.lock().unwrap(), Vec::<String>::new(), "{vendor:?}");
        let requests = service.requests.lock().unwrap();
        let thoughts = service.own(requests.last().unwrap()).into_iter().flatten();
        let thoughts = thoughts.filter(|one| matches!(one["type"].as_str(), Some("thinking" | "reasoning"))).count();
        // The turn in which the process died may be one that was not whole.
        assert!((TURNS - 1..=TURNS).contains(&thoughts), "{vendor:?}: {thoughts} thoughts came back");
    }
}

#[tokio::test]
async fn a_service_that_does_not_take_its_reasoning_back_is_asked_without_it() {
    for vendor in [Vendor::Messages, Vendor::Responses] {
        let (sitting, (service, agent)) = (Sitting::new(), strict(vendor, Some(TURNS - 3)).await);
        assert_eq!(sitting.run(agent.as_ref()).await.outcome, Outcome::done("ok"), "{vendor:?}");
        assert_eq!(service.refused.lock().unwrap().len(), 4, "once for each turn that it refuses: {vendor:?}");
        let noted = |event: &SessionEvent| matches!(event, SessionEvent::Noted { text } if text.contains("without its earlier reasoning"));
        assert!(sitting.events().iter().any(noted), "{vendor:?}");
    }
}
