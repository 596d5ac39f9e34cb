//! What people ask Hob for in comments, and what the ledger remembers of it.

pub(crate) mod agent_words;
pub(crate) mod command;
pub(crate) mod command_log;
