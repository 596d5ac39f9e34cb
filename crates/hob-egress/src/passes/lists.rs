//! The lists that all vendors share, and the table of each path.

use crate::{
    passes::{anthropic::MESSAGES, google::GENERATE, openai},
    paths::Ask,
    shape::Shape,
    vendor::Api,
};

/// The shape of a request's body.
pub(crate) fn body(api: Api, ask: Ask) -> &'static Shape {
    match (api, ask) {
        (Api::Anthropic, _) => &MESSAGES,
        (Api::OpenAi, Ask::Responses) => &openai::RESPONSES,
        (Api::OpenAi, Ask::Embeddings) => &openai::EMBEDDINGS,
        (Api::OpenAi, Ask::Completions) => &openai::COMPLETIONS,
        (Api::OpenAi, Ask::Messages) => &openai::CHAT,
        (Api::Gemini, _) => &GENERATE,
    }
}

/// Headers that pass. Content type, encoding and sign-in are Hob's own.
pub(crate) const HEADERS: [&str; 5] = ["accept", "user-agent", "x-app", "anthropic-version", "anthropic-beta"];

/// Beta flags of Anthropic's that pass. None lets the service reach the network, nor bills another model or speed. Each is in the
/// list of Anthropic's client (`anthropic` 2.14.0 of PyPI, `types/anthropic_beta_param.py`) or in the programs of Claude Code
/// 2.1.197 and of `claude-agent-acp` 0.101.
pub(crate) const BETAS: [&str; 29] = [
    "advanced-tool-use-2025-11-20",
    "cache-diagnosis-2026-04-07",
    "claude-code-20250219",
    "computer-use-2025-01-24",
    "computer-use-2025-11-24",
    "context-1m-2025-08-07",
    "context-hint-2026-04-09",
    "context-management-2025-06-27",
    "effort-2025-11-24",
    "extended-cache-ttl-2025-04-11",
    "fine-grained-tool-streaming-2025-05-14",
    "interleaved-thinking-2025-05-14",
    "mid-conversation-output-config-2026-07-01",
    "mid-conversation-system-2026-04-07",
    "mid-conversation-tool-changes-2026-07-01",
    "oauth-2025-04-20",
    "output-128k-2025-02-19",
    "per-turn-control-2026-07-01",
    "prompt-caching-2024-07-31",
    "prompt-caching-scope-2026-01-05",
    "redact-thinking-2026-02-12",
    "structured-outputs-2025-11-13",
    "structured-outputs-2025-12-15",
    "task-budgets-2026-03-13",
    "thinking-display-updates-2026-08-18",
    "thinking-token-count-2026-05-13",
    "token-counting-2024-11-01",
    "token-efficient-tools-2025-02-19",
    "tool-search-tool-2025-10-19",
];

/// Parts of a query that pass.
pub(crate) const QUERIES: [&str; 9] =
    ["after", "after_id", "alt", "before_id", "beta", "limit", "order", "pageSize", "pageToken"];
