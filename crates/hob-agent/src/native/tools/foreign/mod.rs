//! Calls in the words of other agents, as calls of Hob's own tools: models call what they were trained on.
//!
//! - Flow: the name says which tool is meant (`names`), its arguments become those of Hob's own (`commands`, `files`,
//!   `finds`, `plans`), and what is left goes along, so that the tool itself refuses it by its name.
//! - Guarantees: each argument is obeyed or refused. Only words for a reader, such as a description of the command, have
//!   no effect. `null` counts as absent; numbers and truth values may be texts.
//! - Sources, read 2026-11: openai/codex `codex-rs/tools/src/local_tool.rs`, `apply_patch_tool.rs`, `plan_tool.rs`,
//!   `view_image.rs`; google-gemini/gemini-cli `packages/core/src/tools/definitions` at 5411f113; OpenHands
//!   `openhands/agenthub/codeact_agent/tools` at 156d0686; SWE-agent/mini-swe-agent
//!   `src/minisweagent/models/utils/actions_toolcall.py` at a83fcae8; Claude Code's in the types of the package
//!   `@anthropic-ai/claude-agent-sdk`.

mod commands;
#[cfg(test)]
mod corpus;
mod files;
mod finds;
mod given;
mod names;
mod own_call;
mod plans;

pub(super) use given::Unfit;
pub(super) use names::{Meaning, meant, tool_of};
pub(super) use own_call::{OwnCall, own_call};
