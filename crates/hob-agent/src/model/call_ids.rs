//! Ids of calls as every service takes them, each once in a conversation: a fallback may be another vendor's.

use std::{borrow::Cow, collections::BTreeSet};

use sha2::{Digest, Sha256};

use crate::model::{Memoized, Message, ModelReply};

/// Characters of an id at most: OpenAI's chat completions refuse longer ones.
const MAX: usize = 40;

/// Makes the ids of a reply's calls plain, and different from each other and from those of `messages`.
///
/// Reasoning that holds the old ids would not fit the answers any more, and is left out then.
pub(super) fn settle(reply: &mut ModelReply, messages: &[Memoized<Message>], turn: u32) {
    if reply.calls.is_empty() {
        return;
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    for message in messages {
        if let Message::Assistant { calls, .. } = &**message {
            used.extend(calls.iter().map(|call| call.id.clone()));
        }
    }
    let mut is_changed = false;
    for (index, call) in reply.calls.iter_mut().enumerate() {
        if !is_plain(&call.id) || used.contains(&call.id) {
            is_changed = true;
            let mut number = index + 1;
            call.id = format!("call_{turn}_{number}");
            while used.contains(&call.id) {
                number += 1;
                call.id = format!("call_{turn}_{number}");
            }
        }
        used.insert(call.id.clone());
    }
    if is_changed {
        reply.verbatim = reply.verbatim.take().filter(|verbatim| !verbatim.holds_calls());
    }
}

/// An id as every service takes it: itself, or a digest of it. Transcripts of before may have others.
pub(super) fn plain_id(id: &str) -> Cow<'_, str> {
    if is_plain(id) {
        return Cow::Borrowed(id);
    }
    let digest = Sha256::digest(id);
    Cow::Owned(digest.iter().take(16).fold("call_".to_owned(), |id, byte| format!("{id}{byte:02x}")))
}

fn is_plain(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !id.is_empty() && id.len() <= MAX && id.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Stop, ToolCall, Usage, Verbatim};

    fn reply(ids: &[&str], of: &str) -> ModelReply {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "shell".into(), arguments: "{}".into() };
        let (text, calls) = (String::new(), ids.iter().map(call).collect());
        let verbatim = Verbatim::new(of, "{}".to_owned());
        ModelReply { text, calls, verbatim, stop: Stop::Finished, usage: Usage::default() }
    }

    fn ids(reply: &ModelReply) -> Vec<&str> {
        reply.calls.iter().map(|call| call.id.as_str()).collect()
    }

    #[test]
    fn ids_are_short_plain_and_each_there_once() {
        let long = "x".repeat(41);
        let said = |calls| Message::Assistant { text: String::new(), calls, verbatim: None };
        let messages = [said(reply(&["a", "call_3_2"], "").calls).into()];
        let mut good = reply(&["toolu_01A", "call-2"], "anthropic/claude");
        settle(&mut good, &messages, 3);
        assert_eq!((ids(&good), good.verbatim.is_some()), (vec!["toolu_01A", "call-2"], true));
        let mut bad = reply(&["a", "b", "b", "", "x:y", &long], "anthropic/claude");
        settle(&mut bad, &messages, 3);
        assert_eq!(ids(&bad), ["call_3_1", "b", "call_3_3", "call_3_4", "call_3_5", "call_3_6"]);
        assert!(bad.verbatim.is_none(), "it has the old ids");
        let mut chat = reply(&["a", "a"], "chat/qwen");
        settle(&mut chat, &messages, 3);
        assert_eq!((ids(&chat), chat.verbatim.is_some()), (vec!["call_3_1", "call_3_3"], true));
        assert_eq!(plain_id("toolu_01A"), "toolu_01A");
        assert_eq!((plain_id(&long).len(), plain_id("x:y") == plain_id("x/y")), (37, false));
    }
}
