//! The form of the answer to each call of a reply.
//!
//! - Guarantees: an answer has the form of its call as that goes back. A call whose reply is no longer verbatim is one of a function,
//!   and so is its answer: also at a resumed session, and after another vendor's model gave the reply.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::Message;

/// A call as it goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallForm {
    /// Of a function.
    Function,
    /// Of a custom tool, whose input is a plain text.
    Custom,
    /// Of the interface's own tool for patches.
    Patch,
}

/// An item of a reply, as far as it says whose answer it wants.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    call_id: String,
}

/// The forms of the calls in a message, as it goes back to the model `of`, by their ids; those of functions are left out.
pub(super) fn forms(said: Option<&Message>, of: &str) -> BTreeMap<String, CallForm> {
    let Some(Message::Assistant { verbatim: Some(verbatim), .. }) = said else { return BTreeMap::new() };
    let items = verbatim.by(of).and_then(|items| serde_json::from_str(&format!("[{items}]")).ok());
    let items: Vec<Item> = items.unwrap_or_default();
    let form = |item: Item| match item.kind.as_str() {
        "custom_tool_call" => Some((item.call_id, CallForm::Custom)),
        "apply_patch_call" => Some((item.call_id, CallForm::Patch)),
        _ => None,
    };
    items.into_iter().filter_map(form).collect()
}
