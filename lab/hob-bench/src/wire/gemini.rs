//! Gemini's `generateContent` and `streamGenerateContent`.

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
    let declared = tools.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    let offer = |function: &Value| {
        let schema = ["parametersJsonSchema", "parameters"].iter().find_map(|key| function.get(key));
        Some(Offer { name: function["name"].as_str()?.to_owned(), schema: schema.cloned().unwrap_or_default() })
    };
    declared.filter_map(offer).collect()
}

pub(super) fn events(reply: &Reply) -> Vec<Event> {
    let parts: Vec<Value> = match &reply.turn {
        // A call always comes in one piece; words before it give the stream a middle.
        Turn::Call { .. } => [json!({ "text": "Next " }), json!({ "text": "step." }), part(reply)].to_vec(),
        Turn::Text(text) => pieces(text).into_iter().map(|piece| json!({ "text": piece })).collect(),
    };
    let last = parts.len() - 1;
    let chunk = |(at, part): (usize, Value)| {
        let mut chunk = json!({
            "candidates": [{ "content": { "role": "model", "parts": [part] }, "index": 0 }],
            "modelVersion": reply.model, "responseId": format!("r{}", reply.number),
        });
        if at == last {
            chunk["candidates"][0]["finishReason"] = "STOP".into();
            chunk["usageMetadata"] = usage();
        }
        Event::data(&chunk)
    };
    parts.into_iter().enumerate().map(chunk).collect()
}

pub(super) fn whole(reply: &Reply) -> Value {
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": [part(reply)] }, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": usage(), "modelVersion": reply.model, "responseId": format!("r{}", reply.number),
    })
}

fn part(reply: &Reply) -> Value {
    match &reply.turn {
        Turn::Text(text) => json!({ "text": text }),
        Turn::Call { name, arguments } => {
            let args = serde_json::from_str(arguments).unwrap_or_else(|_broken| json!(arguments));
            json!({ "functionCall": { "name": name, "args": args, "id": format!("call{}", reply.number) } })
        }
    }
}

fn usage() -> Value {
    json!({
        "promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS, "totalTokenCount": TOTAL_TOKENS,
    })
}
