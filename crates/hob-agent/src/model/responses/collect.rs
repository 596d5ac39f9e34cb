//! Builds a reply from the events of a response. Unknown kinds of events are ignored.

use hob_egress::{Bill, ServiceTier};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::model::{
    ModelError, ModelReply, Stop, ToolCall, Usage, Verbatim,
    classify::stream_error,
    collect::Collect,
    lenient::{lenient, text, tokens},
    responses::patches,
};

/// The interface's own tool for commands.
const LOCAL_SHELL: &str = "local_shell";
/// Items one reply may have.
const ITEMS_MAX: usize = 256;

/// The parts of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The items, each as it came, with its place.
    items: Vec<(u64, Box<RawValue>)>,
    usage: Usage,
    tier: ServiceTier,
    stop: Option<Stop>,
}

#[derive(Deserialize)]
struct StreamEvent {
    #[serde(rename = "type", default)]
    kind: String,
    output_index: Option<u64>,
    item: Option<Box<RawValue>>,
    response: Option<Response>,
    error: Option<Value>,
    /// Says `response` where the event is the whole answer, of a server that does not stream.
    #[serde(default, deserialize_with = "lenient")]
    object: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Counted>,
    #[serde(default, deserialize_with = "lenient")]
    service_tier: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Details>,
    /// `completed`, or why it is not.
    #[serde(default, deserialize_with = "text")]
    status: String,
    output: Option<Vec<Box<RawValue>>>,
}

#[derive(Deserialize)]
struct Details {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default, deserialize_with = "tokens")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "tokens")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
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
        content: Value,
    },
    FunctionCall {
        #[serde(default, deserialize_with = "text")]
        call_id: String,
        #[serde(default, deserialize_with = "text")]
        name: String,
        /// A text; from some servers an object.
        #[serde(default, deserialize_with = "text")]
        arguments: String,
    },
    CustomToolCall {
        #[serde(default, deserialize_with = "text")]
        call_id: String,
        #[serde(default, deserialize_with = "text")]
        name: String,
        #[serde(default, deserialize_with = "text")]
        input: String,
    },
    ApplyPatchCall {
        #[serde(default, deserialize_with = "text")]
        call_id: String,
        operation: Value,
    },
    /// A command of the interface's own tool, by a model that was trained on it: `action.command`.
    LocalShellCall {
        #[serde(default, deserialize_with = "text")]
        call_id: String,
        action: Value,
    },
    /// Commands of its successor: `action.commands`.
    ShellCall {
        #[serde(default, deserialize_with = "text")]
        call_id: String,
        action: ShellAction,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct ShellAction {
    commands: Vec<String>,
    timeout_ms: Option<u64>,
}

/// A part of a message.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    #[serde(alias = "text")]
    OutputText {
        #[serde(default, deserialize_with = "text")]
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(other)]
    Other,
}

/// What the items of a reply say.
#[derive(Default)]
struct Said {
    text: String,
    refusal: String,
    calls: Vec<ToolCall>,
    /// Whether an item is one that an answer of ours cannot follow.
    is_foreign: bool,
}

impl Said {
    fn add(&mut self, item: &RawValue) -> Result<(), ModelError> {
        let garbage = |error: serde_json::Error| ModelError::Garbage(error.to_string());
        match serde_json::from_str(item.get()).map_err(garbage)? {
            Item::Message { content: Value::String(more) } => self.text.push_str(&more),
            Item::Message { content } => {
                for part in Option::<Vec<Part>>::deserialize(content).map_err(garbage)?.into_iter().flatten() {
                    match part {
                        Part::OutputText { text: more } => self.text.push_str(&more),
                        Part::Refusal { refusal: more } => self.refusal.push_str(&more),
                        Part::Other => {}
                    }
                }
            }
            Item::FunctionCall { call_id: id, name, arguments } => self.calls.push(ToolCall { id, name, arguments }),
            Item::CustomToolCall { call_id, name, input } => self.calls.push(ToolCall::of_text(call_id, name, input)),
            Item::ApplyPatchCall { call_id: id, operation } => {
                self.calls.push(ToolCall {
                    id,
                    name: patches::NAME.to_owned(),
                    arguments: patches::arguments(&operation),
                });
            }
            Item::LocalShellCall { call_id: id, action } => {
                self.is_foreign = true;
                let arguments = json!({ "action": action }).to_string();
                self.calls.push(ToolCall { id, name: LOCAL_SHELL.to_owned(), arguments });
            }
            Item::ShellCall { call_id, action } => {
                self.is_foreign = true;
                self.calls.extend(action.commands.iter().map(|command| {
                    let arguments = json!({ "command": command, "timeout_ms": action.timeout_ms }).to_string();
                    ToolCall { id: call_id.clone(), name: LOCAL_SHELL.to_owned(), arguments }
                }));
            }
            Item::Other => {}
        }
        Ok(())
    }
}

impl Collected {
    /// Takes an item. A place that came before is that of another item, as some servers count.
    fn item(&mut self, place: Option<u64>, item: Box<RawValue>) -> Result<(), ModelError> {
        if item.get() == "null" {
            return Ok(());
        }
        let last = self.items.iter().map(|(place, _)| *place).max();
        let next = last.map_or(0, |last| last + 1);
        let place = place.filter(|place| self.items.iter().all(|(other, _)| other != place)).unwrap_or(next);
        self.items.push((place, item));
        match self.items.len() > ITEMS_MAX {
            true => Err(ModelError::Garbage(format!("it has more than {ITEMS_MAX} items"))),
            false => Ok(()),
        }
    }

    fn ends(&mut self, response: Option<Response>, stop: Stop) -> Result<(), ModelError> {
        self.stop = Some(stop);
        let Some(Response { usage, service_tier, output, status, incomplete_details, error }) = response else {
            return Ok(());
        };
        self.tier = ServiceTier::named(service_tier.as_deref().unwrap_or_default());
        if let Some(Counted { input_tokens: input, output_tokens: output, input_tokens_details: details }) = usage {
            let of = |count: fn(&InputDetails) -> Option<u64>| details.as_ref().and_then(count).unwrap_or(0);
            let cached_input = of(|details| details.cached_tokens).min(input);
            let cache_write = of(|details| details.cache_write_tokens).min(input - cached_input);
            self.usage = Usage { input, cached_input, cache_write, output };
        }
        match status.as_str() {
            "failed" => return Err(failed(error)),
            "cancelled" => return Err(ModelError::Cut),
            "incomplete" => self.stop = Some(Stop::Length),
            _ => {}
        }
        if incomplete_details.and_then(|details| details.reason).as_deref() == Some("content_filter") {
            self.stop = Some(Stop::Refused);
        }
        // Some servers send the items with the end only.
        let whole = output.filter(|_| self.items.is_empty()).unwrap_or_default();
        whole.into_iter().try_for_each(|item| self.item(None, item))
    }
}

/// The error of a response that failed.
fn failed(error: Option<Value>) -> ModelError {
    stream_error(&error.filter(|error| !error.is_null()).unwrap_or_else(|| "no reason was given".into()))
}

impl Collect for Collected {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
        let garbage = |error: serde_json::Error| ModelError::Garbage(error.to_string());
        let event: StreamEvent = serde_json::from_str(data).map_err(garbage)?;
        match event.kind.as_str() {
            "response.output_item.done" => event.item.map_or(Ok(()), |item| self.item(event.output_index, item)),
            "response.completed" | "response.done" => self.ends(event.response, Stop::Finished),
            "response.incomplete" => self.ends(event.response, Stop::Length),
            "response.failed" => Err(failed(event.response.and_then(|response| response.error))),
            "response.cancelled" => Err(ModelError::Cut),
            "error" => {
                let error: Value = serde_json::from_str(data).map_err(garbage)?;
                Err(stream_error(error.get("error").unwrap_or(&error)))
            }
            _ if event.object.as_deref() == Some("response") => {
                self.ends(Some(serde_json::from_str(data).map_err(garbage)?), Stop::Finished)
            }
            _ => match event.error.filter(|error| !error.is_null()) {
                Some(error) => Err(stream_error(&error)),
                None => Ok(()),
            },
        }
    }

    fn done(&mut self) {
        if !self.items.is_empty() {
            self.stop.get_or_insert(Stop::Finished);
        }
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

    fn finish(mut self, of: &str, _sent: usize) -> Result<ModelReply, ModelError> {
        let Some(mut stop) = self.stop else { return Err(ModelError::Cut) };
        self.items.sort_by_key(|(place, _)| *place);
        let mut said = Said::default();
        self.items.iter().try_for_each(|(_, item)| said.add(item))?;
        let Said { mut text, refusal, calls, is_foreign } = said;
        if !refusal.is_empty() {
            (text, stop) = (refusal, Stop::Refused);
        }
        let json: Vec<&str> = self.items.iter().map(|(_, item)| item.get()).collect();
        // The service does not accept an item back that was cut off.
        let goes_back = stop == Stop::Finished && !is_foreign;
        let verbatim = if goes_back { Verbatim::new(of, json.join(",")) } else { None };
        Ok(ModelReply { text, calls, verbatim, stop, usage: self.usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reader::tests::holds;

    #[test]
    fn an_answer_says_the_same_however_it_is_framed_and_cut() {
        holds::<Collected>("responses", 43);
    }
}
