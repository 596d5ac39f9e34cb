//! What runs an agent: one of Hob's own backends, or another agent's command line that Hob knows.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of program that works on an issue.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BackendKind {
    /// Hob's own loop over a model.
    #[default]
    Native,
    /// Any program that edits the folder.
    Command,
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// Fixed steps, no model.
    Recipe,
    /// Another agent's command line that Hob knows.
    Adapter(AdapterName),
}

/// The command lines that Hob knows how to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterName {
    /// Anthropic's Claude Code.
    Claude,
    /// OpenAI's Codex.
    Codex,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Google's Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// aider.
    Aider,
    /// pi.
    Pi,
    /// mini-swe-agent.
    MiniSweAgent,
}

impl AdapterName {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Gemini,
        Self::Opencode,
        Self::Aider,
        Self::Pi,
        Self::MiniSweAgent,
    ];

    /// The name in settings; an agent of this name needs no settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Aider => "aider",
            Self::Pi => "pi",
            Self::MiniSweAgent => "mini-swe-agent",
        }
    }
}

impl std::fmt::Display for AdapterName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a backend's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a backend; the backends are native, command, acp, recipe, {known}", known = AdapterName::ALL.map(AdapterName::as_str).join(", "))]
pub struct UnknownBackend(String);

impl FromStr for AdapterName {
    type Err = UnknownBackend;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| UnknownBackend(text.to_owned()))
    }
}

impl TryFrom<String> for BackendKind {
    type Error = UnknownBackend;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "native" => Ok(Self::Native),
            "command" => Ok(Self::Command),
            "acp" => Ok(Self::Acp),
            "recipe" => Ok(Self::Recipe),
            other => other.parse().map(Self::Adapter),
        }
    }
}

impl From<BackendKind> for String {
    fn from(backend: BackendKind) -> Self {
        match backend {
            BackendKind::Native => "native".to_owned(),
            BackendKind::Command => "command".to_owned(),
            BackendKind::Acp => "acp".to_owned(),
            BackendKind::Recipe => "recipe".to_owned(),
            BackendKind::Adapter(name) => name.as_str().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_is_read_as_it_is_written() {
        let own = [BackendKind::Native, BackendKind::Command, BackendKind::Acp, BackendKind::Recipe];
        for backend in own.into_iter().chain(AdapterName::ALL.map(BackendKind::Adapter)) {
            assert_eq!(BackendKind::try_from(String::from(backend)), Ok(backend));
        }
        let error = BackendKind::try_from("claud".to_owned()).unwrap_err().to_string();
        assert!(error.contains("`claud` is not a backend") && error.contains("claude, codex"), "{error}");
    }
}
