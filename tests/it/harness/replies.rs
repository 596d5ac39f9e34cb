//! Recorded replies, for a native agent without a model.

use std::fs;

use hob_config::{AgentSettings, BackendKind};
use serde_json::{Value, json};

/// The model's replies, in each session from its beginning.
pub(crate) struct Replies(tempfile::TempDir);

impl Replies {
    pub(crate) fn none() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The native agent that gets them.
    pub(crate) fn agent(&self) -> AgentSettings {
        let model = Some(format!("cassette/{}", self.file().display()));
        // One `done` is enough, except where the last look is tested.
        AgentSettings { backend: BackendKind::Native, model, last_look: false, ..AgentSettings::default() }
    }

    /// A session begins with these.
    pub(crate) fn are(&self, replies: &Value) {
        fs::write(self.file(), json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    }

    /// The session goes on with these.
    pub(crate) fn then(&self, replies: &Value) {
        let mut cassette: Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        let said = cassette["replies"].as_array_mut().unwrap();
        said.extend(replies.as_array().unwrap().iter().cloned());
        self.are(&cassette["replies"]);
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("replies.json")
    }
}
