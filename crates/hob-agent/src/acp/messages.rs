//! The protocol's messages, as far as Hob uses them.

use std::ffi::OsStr;

use hob_process::Environment;
use serde::Deserialize;
use serde_json::{Value, json};

/// The version of the protocol.
pub(super) const VERSION: u64 = 1;
/// The mode of a session in which an agent asks before it acts.
const ASKING: &str = "default";
/// The code of an error of an agent that wants a login first.
pub(super) const AUTH_REQUIRED: i64 = -32_000;
/// The codes of answers to a request that is not known, and to one that cannot be read.
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;

/// A message from an agent.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    /// A number in answers to Hob, anything in requests of the agent.
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    pub(super) error: Option<Failure>,
}

/// An error of an agent, in whichever form it comes: one that is not read would leave Hob waiting for an answer.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
pub(super) struct Failure {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl From<Value> for Failure {
    fn from(mut error: Value) -> Self {
        let code = error["code"].as_i64().unwrap_or_default();
        let data = error.get_mut("data").map(Value::take).filter(|data| !data.is_null());
        let message = error["message"].as_str().or(error.as_str()).map(str::to_owned);
        Self { code, message: message.unwrap_or_else(|| error.to_string()), data }
    }
}

/// The answer to `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hello {
    pub(super) protocol_version: u64,
    pub(super) agent_info: Option<Info>,
    #[serde(default)]
    auth_methods: Vec<AuthMethod>,
}

#[derive(Debug, Deserialize)]
struct AuthMethod {
    id: String,
    /// The variables that it reads, if it says so.
    #[serde(default)]
    vars: Vec<Variable>,
}

#[derive(Debug, Deserialize)]
struct Variable {
    name: String,
}

impl Hello {
    /// The way to sign in with a key of the `environment`, which needs nobody. Version 1 of the protocol has no kind for it: agents
    /// say it in the method's id, such as `gemini-api-key`, and some name the variables.
    pub(super) fn sign_in_by_key(&self, environment: &Environment) -> Option<&str> {
        let is_set = |variable: &Variable| environment.contains_key(OsStr::new(&variable.name));
        let is_by_key = |method: &&AuthMethod| {
            method.id.to_ascii_lowercase().replace(['-', '_'], "").contains("apikey") && method.vars.iter().all(is_set)
        };
        self.auth_methods.iter().find(is_by_key).map(|method| method.id.as_str())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Info {
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
}

/// The answer to `session/new`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) config_options: Vec<Choice>,
    /// How an agent offers models that has no option for them.
    models: Option<Models>,
    modes: Option<Modes>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Models {
    available_models: Vec<Model>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    model_id: String,
}

/// Who decides what the agent may do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Modes {
    current_mode_id: String,
    available_modes: Vec<Mode>,
}

#[derive(Debug, Deserialize)]
struct Mode {
    id: String,
}

impl Opened {
    /// The models of an agent that has no option for them.
    pub(super) fn models(&self) -> Vec<&str> {
        let models = self.models.iter().flat_map(|models| &models.available_models);
        models.map(|model| model.model_id.as_str()).collect()
    }

    /// The mode that asks the client for each permission, if another one is on. The protocol has no kind for it; agents call it
    /// `default`.
    pub(super) fn asking_mode(&self) -> Option<&str> {
        let modes = self.modes.as_ref().filter(|modes| modes.current_mode_id != ASKING)?;
        modes.available_modes.iter().map(|mode| mode.id.as_str()).find(|id| *id == ASKING)
    }
}

/// What can be chosen for a session.
#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    pub(super) id: String,
    #[serde(default)]
    pub(super) category: Option<String>,
    #[serde(default)]
    options: Vec<Offer>,
}

/// A value, or a group of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Offer {
    One { value: String },
    Group { options: Vec<Self> },
}

impl Choice {
    /// The values that it takes.
    pub(super) fn values(&self) -> Vec<&str> {
        fn all<'a>(offers: &'a [Offer], into: &mut Vec<&'a str>) {
            for offer in offers {
                match offer {
                    Offer::One { value } => into.push(value),
                    Offer::Group { options } => all(options, into),
                }
            }
        }
        let mut values = Vec::new();
        all(&self.options, &mut values);
        values
    }
}

/// The part of a `session/update` that says what it is about.
#[derive(Debug, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(super) enum Update {
    AgentMessageChunk {
        content: Content,
    },
    ToolCall(Called),
    /// Of a call that may not have been told before.
    #[serde(rename = "tool_call_update")]
    Called(Called),
    Plan {
        entries: Vec<Entry>,
    },
    #[serde(rename = "usage_update")]
    Usage {
        cost: Option<Cost>,
    },
    /// Its thoughts, the results of its tools, and what an editor would show beside them.
    #[serde(other)]
    Other,
}

/// What is told of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Called {
    pub(super) tool_call_id: String,
    pub(super) title: Option<String>,
    /// What it does: `read`, `edit`, `execute` and the like. The protocol has no name of a tool.
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Content {
    /// `None` if it is not a text.
    pub(super) text: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) content: String,
    #[serde(default)]
    pub(super) status: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    pub(super) currency: String,
}

/// A `session/request_permission`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Permission {
    tool_call: Call,
    options: Vec<PermissionOption>,
}

#[derive(Debug, Deserialize)]
struct Call {
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    kind: String,
}

impl Permission {
    /// The outcome. `all`: a sandbox holds what the agent does.
    pub(super) fn outcome(&self, all: bool) -> Value {
        let is_harmless = matches!(self.tool_call.kind.as_deref(), Some("read" | "edit" | "search" | "think"));
        // Once rather than always, which an agent may note in its own settings.
        let wanted = if all || is_harmless { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let of_kind = |kind| self.options.iter().find(|option| option.kind == kind);
        // Some agents have kinds of their own, such as `allow_session`.
        let of_sort =
            || self.options.iter().find(|option| option.kind.split('_').next() == wanted[0].split('_').next());
        match wanted.into_iter().find_map(of_kind).or_else(of_sort) {
            Some(option) => json!({ "outcome": "selected", "optionId": option.option_id }),
            None => cancelled(),
        }
    }
}

/// The outcome of a request in a run that is being ended.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": "cancelled" })
}

/// A request of Hob's.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification of Hob's.
pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// An answer to a request of the agent's.
pub(super) fn answer(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The answer to a request that Hob does not know: it offers no files and no terminals.
pub(super) fn not_offered(id: &Value, method: &str) -> Value {
    refusal(id, METHOD_NOT_FOUND, &format!("`{method}` is not offered"))
}

/// The answer to a request that Hob cannot read.
pub(super) fn unreadable(id: &Value, why: &serde_json::Error) -> Value {
    refusal(id, INVALID_PARAMS, &why.to_string())
}

fn refusal(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
