//! OpenAI's chat completions.

use serde_json::{Value, json};

use crate::{
    INPUT_TOKENS, OUTPUT_TOKENS,
    tool::{Offer, Turn},
    wire::{
        Event, Reply,
        reply::{TOTAL_TOKENS, pieces},
    },
};

pub(super) fn offers(body: &Value) -> Vec<Offer> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let offer = |tool: &Value| {
        let function = &tool["function"];
        Some(Offer { name: function["name"].as_str()?.to_owned(), schema: function["parameters"].clone() })
    };
    tools.filter_map(offer).collect()
}

pub(super) fn events(reply: &Reply) -> Vec<Event> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        Event::data(&json!({
            "id": id(reply), "object": "chat.completion.chunk", "created": 0, "model": reply.model, "choices": [choice],
        }))
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": null }), None)];
    match &reply.turn {
        Turn::Text(text) => {
            events.extend(pieces(text).into_iter().map(|piece| chunk(json!({ "content": piece }), None)));
        }
        Turn::Call { name, arguments } => {
            let call = |function: Value, id: Option<String>| {
                let mut call = json!({ "index": 0, "function": function });
                if let Some(id) = id {
                    call["id"] = id.into();
                    call["type"] = "function".into();
                }
                chunk(json!({ "tool_calls": [call] }), None)
            };
            events.push(call(json!({ "name": name, "arguments": "" }), Some(call_id(reply))));
            events.extend(pieces(arguments).into_iter().map(|piece| call(json!({ "arguments": piece }), None)));
        }
    }
    events.push(chunk(json!({}), Some(finish(&reply.turn))));
    events.push(Event::data(&json!({
        "id": id(reply), "object": "chat.completion.chunk", "created": 0, "model": reply.model, "choices": [],
        "usage": usage(),
    })));
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

pub(super) fn whole(reply: &Reply) -> Value {
    let message = match &reply.turn {
        Turn::Text(text) => json!({ "role": "assistant", "content": text }),
        Turn::Call { name, arguments } => {
            let function = json!({ "name": name, "arguments": arguments });
            let call = json!({ "id": call_id(reply), "type": "function", "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
    };
    json!({
        "id": id(reply), "object": "chat.completion", "created": 0, "model": reply.model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish(&reply.turn) }],
        "usage": usage(),
    })
}

fn finish(turn: &Turn) -> &'static str {
    match turn {
        Turn::Text(_) => "stop",
        Turn::Call { .. } => "tool_calls",
    }
}

fn id(reply: &Reply) -> String {
    format!("chatcmpl-{}", reply.number)
}

fn call_id(reply: &Reply) -> String {
    format!("call_{}", reply.number)
}

fn usage() -> Value {
    json!({ "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": TOTAL_TOKENS })
}
