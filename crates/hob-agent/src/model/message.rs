//! Requests to a model and its replies, in types of our own.

use std::borrow::Cow;

use hob_domain::Strain;
pub use hob_egress::{ServiceTier, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::{Funds, Memoized, ModelError, Verbatim};

/// A language model.
#[async_trait::async_trait]
pub trait ModelClient: Send + Sync {
    /// Asks for the next reply. Dropping the future ends the request.
    ///
    /// # Errors
    /// [`ModelError`] once the retries that can help are used up.
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError>;

    /// The tokens that the model takes in, as its service lists them; `None` if it lists nothing that can be read.
    async fn listed_window(&self) -> Option<u64> {
        None
    }
}

/// One request. From one turn to the next `messages` usually only grows, so that a service's prompt cache hits.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ModelRequest<'a> {
    /// The instructions of the system role: Hob's own text, never anything from an issue or a repository.
    pub system: &'a str,
    /// The conversation so far.
    pub messages: &'a [Memoized<Message>],
    /// The tools the model may call.
    pub tools: &'a Memoized<Vec<Tool>>,
    /// The conversation's turn, from 1: one more than the number of replies so far, including those no longer in
    /// `messages`.
    pub turn: u32,
    /// The money for it; `None` if nobody counts.
    #[serde(skip)]
    pub funds: Option<Funds<'a>>,
    /// How hard the work is.
    #[serde(skip)]
    pub strain: Strain,
    /// How long it may take until the next one.
    #[serde(skip)]
    pub rest: Rest,
}

/// How long a conversation may rest between two requests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Less than a service's cache keeps it by itself: five minutes of Anthropic's.
    #[default]
    Short,
    /// Longer, as a check takes so long.
    Long,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A message of Hob's.
    User {
        /// The text.
        text: String,
        /// Pictures that belong to it; the text says which they are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Picture>,
    },
    /// A message of the model's.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
        /// The message as its service wrote it, if it must be sent back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verbatim: Option<Verbatim>,
    },
    /// The tools' answers to the message before, one for each call.
    Results {
        /// The answers, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Hob's words without a picture.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// A picture as the services take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

impl Picture {
    /// The picture as a data address.
    pub(in crate::model) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}

/// The replacement of a picture for a model that does not take any.
pub(in crate::model) const UNSEEN: &str = "[a picture, which this model cannot see]";

/// A tool the model may call.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its effect, for the model.
    pub description: Cow<'static, str>,
    /// The JSON schema of its arguments.
    pub schema: serde_json::Value,
}

/// A call the model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, unique in the conversation.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text that may be broken.
    pub arguments: String,
}

/// The argument that has the text of a custom tool's call.
pub(crate) const TEXT: &str = "input";

impl ToolCall {
    /// The call of a custom tool, whose input is a plain text. One that is an object all the same has the arguments.
    pub(crate) fn of_text(id: String, name: String, input: String) -> Self {
        let is_object = serde_json::from_str::<Map<String, Value>>(&input).is_ok();
        let arguments = if is_object { input } else { json!({ TEXT: input }).to_string() };
        Self { id, name, arguments }
    }

    /// The text, if that is all that it has.
    pub(crate) fn text(&self) -> Option<String> {
        let mut given: Map<String, Value> = serde_json::from_str(&self.arguments).ok()?;
        match given.remove(TEXT).filter(|_| given.is_empty())? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// The answer of a tool.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The answer.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// Pictures that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Picture>,
}

impl ToolResult {
    /// A text alone.
    pub fn of_text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), ..Self::default() }
    }

    /// The same, of a call that failed.
    pub fn of_error(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::of_text(id, text) }
    }

    /// The text, which says what a model that does not see misses.
    pub(in crate::model) fn text(&self, sees: bool) -> Cow<'_, str> {
        match sees || self.images.is_empty() {
            true => Cow::Borrowed(&self.text),
            false => Cow::Owned(format!("{}\n{UNSEEN}", self.text)),
        }
    }

    /// The pictures for a model that sees.
    pub(in crate::model) fn images(&self, sees: bool) -> &[Picture] {
        if sees { &self.images } else { &[] }
    }
}

/// One reply of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// Its words; may be empty.
    pub text: String,
    /// The tools it calls, in order.
    pub calls: Vec<ToolCall>,
    /// The reply as its service wrote it, if it must be sent back unchanged.
    pub verbatim: Option<Verbatim>,
    /// Why it stopped.
    pub stop: Stop,
    /// The tokens that the request cost.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It finished, or waits for its tools.
    Finished,
    /// Its reply reached the limit of tokens.
    Length,
    /// It, or its service, refused to answer.
    Refused,
}
