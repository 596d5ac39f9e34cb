//! Replays a session: the same calls to the same tools, without a model.
//!
//! - Flow: the replies of the transcript replace the model's; each call is run as it was, by the same rules, and its
//!   answer is compared with the one in the transcript.
//! - Guarantees: no MCP server is started or asked: the answers of their tools are those of the transcript.
//! - Caveats: an answer with a time or a random number in it differs each time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use hob_config::MCP_PREFIX;

use crate::{
    model::{ModelClient, ModelError, ModelReply, ModelRequest, Stop, ToolCall, Usage},
    session::{Line, SessionEvent},
};

/// The replies of a transcript, in place of the model.
pub struct Replayed(Mutex<VecDeque<ModelReply>>);

/// A call whose answer has changed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The turn it was in.
    pub turn: u32,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: String,
    /// The answer in the transcript.
    pub before: String,
    /// The answer now; `None` if it was not run.
    pub now: Option<String>,
}

/// Two transcripts, compared.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Comparison {
    /// Calls with the same answer.
    pub same: usize,
    /// Calls of MCP servers' tools, which were not made again.
    pub not_repeated: usize,
    /// The calls with another answer.
    pub differences: Vec<Difference>,
}

impl Replayed {
    /// The replies in `lines`, without those that ended a run which was resumed later.
    pub fn new(lines: &[Line]) -> Self {
        let mut replies: VecDeque<ModelReply> = VecDeque::new();
        let mut ends = false;
        for line in lines {
            match &line.event {
                SessionEvent::Replied { text, .. } => {
                    ends = true;
                    replies.push_back(ModelReply {
                        text: text.clone(),
                        calls: Vec::new(),
                        verbatim: None,
                        stop: Stop::Finished,
                        usage: Usage::default(),
                    });
                }
                SessionEvent::Action { id, tool, arguments } => {
                    if let Some(reply) = replies.back_mut() {
                        let (name, arguments) = (tool.clone(), arguments.clone());
                        reply.calls.push(ToolCall { id: id.clone(), name, arguments });
                    }
                }
                SessionEvent::Turned { .. } => ends = false,
                SessionEvent::Started { .. } => {
                    if std::mem::take(&mut ends) {
                        replies.pop_back();
                    }
                }
                SessionEvent::Asked { .. }
                | SessionEvent::Spending { .. }
                | SessionEvent::Progress { .. }
                | SessionEvent::Noted { .. }
                | SessionEvent::Told { .. }
                | SessionEvent::Result { .. }
                | SessionEvent::Ended { .. } => {}
            }
        }
        Self(Mutex::new(replies))
    }
}

#[async_trait::async_trait]
impl ModelClient for Replayed {
    async fn complete(&self, _request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        let reply = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        reply.ok_or_else(|| ModelError::Cassette("the transcript ends here".to_owned()))
    }
}

/// Compares the answers in `before` with those in `now`.
pub fn compare(before: &[Line], now: &[Line]) -> Comparison {
    let answers = |lines: &[Line]| -> Vec<(String, String)> {
        let results = lines.iter().filter_map(|line| {
            if let SessionEvent::Result { id, text, .. } = &line.event {
                Some((id.clone(), text.clone()))
            } else {
                None
            }
        });
        results.collect()
    };
    let now: BTreeMap<String, String> = answers(now).into_iter().collect();
    let (mut comparison, mut turn, mut called) = (Comparison::default(), 0, BTreeMap::new());
    for line in before {
        match &line.event {
            SessionEvent::Replied { turn: this, .. } => turn = *this,
            SessionEvent::Action { id, tool, arguments } => {
                called.insert(id, (tool, arguments));
            }
            SessionEvent::Result { id, text, .. } => {
                let Some((tool, arguments)) = called.get(id) else { continue };
                let answer = now.get(id);
                if tool.starts_with(MCP_PREFIX) && answer.is_some() {
                    comparison.not_repeated += 1;
                } else if answer == Some(text) {
                    comparison.same += 1;
                } else {
                    let (tool, arguments) = ((*tool).clone(), (*arguments).clone());
                    let (before, now) = (text.clone(), answer.cloned());
                    comparison.differences.push(Difference { turn, tool, arguments, before, now });
                }
            }
            SessionEvent::Started { .. }
            | SessionEvent::Progress { .. }
            | SessionEvent::Noted { .. }
            | SessionEvent::Told { .. }
            | SessionEvent::Asked { .. }
            | SessionEvent::Spending { .. }
            | SessionEvent::Turned { .. }
            | SessionEvent::Ended { .. } => {}
        }
    }
    comparison
}
