//! What people ask Hob for in comments, whose words count, and what the ledger remembers of it.

pub(crate) mod agent_words;
pub(crate) mod command;
pub(crate) mod command_log;
pub(crate) mod message;
pub(crate) mod named_numbers;
pub(crate) mod said_in;
pub(crate) mod short_words;
pub(crate) mod trust;
