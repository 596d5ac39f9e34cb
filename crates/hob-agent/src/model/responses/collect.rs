//! Builds a reply from the events of a response. Unknown kinds of events are ignored.

use std::collections::BTreeMap;

use hob_egress::{Bill, ServiceTier};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::model::{
    ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim, classify::stream_error, http::Collect, responses::patches,
};

/// Items one reply may have.
const ITEMS_MAX: usize = 256;

/// The parts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The items, each as it came.
    items: BTreeMap<u64, Box<RawValue>>,
    usage: Usage,
    tier: ServiceTier,
    stop: Option<Stop>,
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type")]
    kind: String,
    output_index: Option<u64>,
    item: Option<Box<RawValue>>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    usage: Option<Counted>,
    service_tier: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    input_tokens_details: Option<InputDetails>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

/// The content of an item, unless it is for the service alone.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    Message {
        #[serde(default)]
        content: Vec<Part>,
    },
    FunctionCall {
        #[serde(default)]
        call_id: String,
        name: String,
        /// A text; from some servers an object.
        #[serde(default)]
        arguments: Value,
    },
    CustomToolCall {
        #[serde(default)]
        call_id: String,
        name: String,
        #[serde(default)]
        input: String,
    },
    ApplyPatchCall {
        #[serde(default)]
        call_id: String,
        operation: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    OutputText {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(other)]
    Other,
}

impl Collected {
    fn ends(&mut self, response: Option<Response>, stop: Stop) {
        self.stop = Some(stop);
        let Some(Response { usage, service_tier, .. }) = response else { return };
        self.tier = ServiceTier::named(service_tier.as_deref().unwrap_or_default());
        if let Some(Counted { input_tokens: input, output_tokens: output, input_tokens_details: details }) = usage {
            let of = |count: fn(&InputDetails) -> Option<u64>| details.as_ref().and_then(count).unwrap_or(0);
            let cached_input = of(|details| details.cached_tokens).min(input);
            let cache_write = of(|details| details.cache_write_tokens).min(input - cached_input);
            self.usage = Usage { input, cached_input, cache_write, output };
        }
    }
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        let garbage = |error: serde_json::Error| ModelError::Garbage(error.to_string());
        let event: StreamEvent = serde_json::from_str(data).map_err(garbage)?;
        match event.kind.as_str() {
            "response.output_item.done" => {
                let (Some(index), Some(item)) = (event.output_index, event.item) else {
                    return Err(ModelError::Garbage("an item without its place".to_owned()));
                };
                self.items.insert(index, item);
                if self.items.len() > ITEMS_MAX {
                    return Err(ModelError::Garbage(format!("it has more than {ITEMS_MAX} items")));
                }
            }
            "response.completed" => self.ends(event.response, Stop::Finished),
            "response.incomplete" => {
                let reason = event.response.as_ref().and_then(|response| response.incomplete_details.as_ref());
                let filtered = reason.and_then(|why| why.reason.as_deref()) == Some("content_filter");
                self.ends(event.response, if filtered { Stop::Refused } else { Stop::Length });
            }
            "response.failed" => {
                let error = event.response.and_then(|response| response.error).unwrap_or_default();
                return Err(stream_error(&error));
            }
            "error" => {
                let error: Value = serde_json::from_str(data).map_err(garbage)?;
                return Err(stream_error(error.get("error").unwrap_or(&error)));
            }
            _other => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn is_counted(&self) -> bool {
        self.usage != Usage::default()
    }

    fn bill(&self) -> Bill {
        Bill { tier: self.tier, ..Bill::default() }
    }

    fn finish(self, of: &str, _sent: usize) -> Result<ModelReply, ModelError> {
        let Some(mut stop) = self.stop else { return Err(ModelError::Cut) };
        let (mut text, mut refusal, mut calls) = (String::new(), String::new(), Vec::new());
        for item in self.items.values() {
            match serde_json::from_str(item.get()).map_err(|error| ModelError::Garbage(error.to_string()))? {
                Item::Message { content } => content.into_iter().for_each(|part| match part {
                    Part::OutputText { text: more } => text.push_str(&more),
                    Part::Refusal { refusal: more } => refusal.push_str(&more),
                    Part::Other => {}
                }),
                Item::FunctionCall { call_id: id, name, arguments } => {
                    let arguments = match arguments {
                        Value::Null => String::new(),
                        Value::String(text) => text,
                        whole => whole.to_string(),
                    };
                    calls.push(ToolCall { id, name, arguments });
                }
                Item::CustomToolCall { call_id, name, input } => calls.push(ToolCall::of_text(call_id, name, input)),
                Item::ApplyPatchCall { call_id: id, operation } => {
                    calls.push(ToolCall {
                        id,
                        name: patches::NAME.to_owned(),
                        arguments: patches::arguments(&operation),
                    });
                }
                Item::Other => {}
            }
        }
        if !refusal.is_empty() {
            (text, stop) = (refusal, Stop::Refused);
        }
        let json: Vec<&str> = self.items.values().map(|item| item.get()).collect();
        // The service does not accept an item back that was cut off.
        let verbatim = if stop == Stop::Finished { Verbatim::new(of, json.join(",")) } else { None };
        Ok(ModelReply { text, calls, verbatim, stop, usage: self.usage })
    }
}
