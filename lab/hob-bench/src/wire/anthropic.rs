//! Anthropic's messages.

use serde_json::{Value, json};

use crate::{
    INPUT_TOKENS, OUTPUT_TOKENS,
    tool::{Offer, Turn},
    wire::{Event, Reply, reply::pieces},
};

pub(super) fn offers(body: &Value) -> Vec<Offer> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let offer =
        |tool: &Value| Some(Offer { name: tool["name"].as_str()?.to_owned(), schema: tool["input_schema"].clone() });
    tools.filter_map(offer).collect()
}

pub(super) fn events(reply: &Reply) -> Vec<Event> {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        Event::named(name, &data)
    };
    let mut begun = whole(reply);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"] = usage(1);
    let (block, deltas): (Value, Vec<Value>) = match &reply.turn {
        Turn::Text(text) => (
            json!({ "type": "text", "text": "" }),
            pieces(text).into_iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect(),
        ),
        Turn::Call { name, arguments } => (
            json!({ "type": "tool_use", "id": call_id(reply), "name": name, "input": {} }),
            pieces(arguments)
                .into_iter()
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                .collect(),
        ),
    };
    let mut events = vec![
        event("message_start", json!({ "message": begun })),
        event("content_block_start", json!({ "index": 0, "content_block": block })),
    ];
    events.extend(deltas.into_iter().map(|delta| event("content_block_delta", json!({ "index": 0, "delta": delta }))));
    events.push(event("content_block_stop", json!({ "index": 0 })));
    let end = json!({ "stop_reason": stop(&reply.turn), "stop_sequence": null });
    events.push(event("message_delta", json!({ "delta": end, "usage": usage(OUTPUT_TOKENS) })));
    events.push(event("message_stop", json!({})));
    events
}

pub(super) fn whole(reply: &Reply) -> Value {
    let block = match &reply.turn {
        Turn::Text(text) => json!({ "type": "text", "text": text }),
        Turn::Call { name, arguments } => {
            // Arguments that a fault broke stay broken: they are not an object.
            let input = serde_json::from_str(arguments).unwrap_or_else(|_broken| json!(arguments));
            json!({ "type": "tool_use", "id": call_id(reply), "name": name, "input": input })
        }
    };
    json!({
        "id": format!("msg_{}", reply.number), "type": "message", "role": "assistant", "model": reply.model,
        "content": [block], "stop_reason": stop(&reply.turn), "stop_sequence": null, "usage": usage(OUTPUT_TOKENS),
    })
}

fn call_id(reply: &Reply) -> String {
    format!("toolu_{:04}", reply.number)
}

fn stop(turn: &Turn) -> &'static str {
    match turn {
        Turn::Text(_) => "end_turn",
        Turn::Call { .. } => "tool_use",
    }
}

fn usage(output: u64) -> Value {
    json!({
        "input_tokens": INPUT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": output,
    })
}
