//! OpenAI's responses.

use serde_json::{Value, json};

use crate::{
    INPUT_TOKENS, OUTPUT_TOKENS,
    tool::{Offer, Turn},
    wire::{
        Event, Reply,
        reply::{TOTAL_TOKENS, pieces},
    },
};

/// The separator between the name of a server and that of its tool.
const SPACE: char = '/';

pub(super) fn offers(body: &Value) -> Vec<Offer> {
    let list = |value: &Value| value["tools"].as_array().cloned().unwrap_or_default();
    let offer = |space: &str, tool: &Value| {
        let name = format!("{space}{}", tool["name"].as_str()?);
        (tool["type"] == "function").then(|| Offer { name, schema: tool["parameters"].clone() })
    };
    let mut offers = Vec::new();
    for tool in list(body) {
        offers.extend(offer("", &tool));
        // Those of a server have a name in front, which the call names by itself.
        if let (true, Some(space)) = (tool["type"] == "namespace", tool["name"].as_str()) {
            offers.extend(list(&tool).iter().filter_map(|inner| offer(&format!("{space}{SPACE}"), inner)));
        }
    }
    offers
}

pub(super) fn events(reply: &Reply) -> Vec<Event> {
    let mut number = 0;
    let mut events = Vec::new();
    let mut add = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        data["sequence_number"] = number.into();
        number += 1;
        events.push(Event::named(name, &data));
    };
    let begun =
        json!({ "id": id(reply), "object": "response", "status": "in_progress", "model": reply.model, "output": [] });
    add("response.created", json!({ "response": begun }));
    let done = item(reply);
    let mut started = done.clone();
    started["status"] = "in_progress".into();
    match &reply.turn {
        Turn::Text(text) => {
            started["content"] = json!([]);
            add("response.output_item.added", json!({ "output_index": 0, "item": started }));
            let at = json!({ "item_id": done["id"], "output_index": 0, "content_index": 0 });
            let with = |key: &str, value: Value| {
                let mut data = at.clone();
                data[key] = value;
                data
            };
            let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
            add("response.content_part.added", with("part", part("")));
            for piece in pieces(text) {
                add("response.output_text.delta", with("delta", piece.into()));
            }
            add("response.output_text.done", with("text", text.as_str().into()));
            add("response.content_part.done", with("part", part(text)));
        }
        Turn::Call { arguments, .. } => {
            started["arguments"] = "".into();
            add("response.output_item.added", json!({ "output_index": 0, "item": started }));
            for piece in pieces(arguments) {
                add(
                    "response.function_call_arguments.delta",
                    json!({ "item_id": done["id"], "output_index": 0, "delta": piece }),
                );
            }
            add(
                "response.function_call_arguments.done",
                json!({ "item_id": done["id"], "output_index": 0, "arguments": arguments }),
            );
        }
    }
    add("response.output_item.done", json!({ "output_index": 0, "item": done }));
    add("response.completed", json!({ "response": whole(reply) }));
    events
}

pub(super) fn whole(reply: &Reply) -> Value {
    json!({
        "id": id(reply), "object": "response", "created_at": 0, "status": "completed", "model": reply.model,
        "output": [item(reply)],
        "usage": {
            "input_tokens": INPUT_TOKENS, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": OUTPUT_TOKENS, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": TOTAL_TOKENS,
        },
    })
}

fn item(reply: &Reply) -> Value {
    match &reply.turn {
        Turn::Text(text) => json!({
            "type": "message", "id": format!("msg_{}", reply.number), "status": "completed", "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Turn::Call { name, arguments } => {
            let (space, name) =
                name.split_once(SPACE).map_or((None, name.as_str()), |(space, name)| (Some(space), name));
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{}", reply.number), "status": "completed",
                "call_id": format!("call_{}", reply.number), "name": name, "arguments": arguments,
            });
            if let Some(space) = space {
                item["namespace"] = space.into();
            }
            item
        }
    }
}

fn id(reply: &Reply) -> String {
    format!("resp_{}", reply.number)
}
