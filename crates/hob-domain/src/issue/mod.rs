//! The life of an issue: its record, its lease, why it is blocked, and each change that its record may go through.

pub(crate) mod answer;
#[cfg(test)]
pub(crate) mod as_version_1;
pub(crate) mod audit;
pub(crate) mod block_code;
pub(crate) mod blocked;
pub(crate) mod command_effect;
pub(crate) mod control;
#[cfg(test)]
mod conversation_table;
pub(crate) mod effect;
pub(crate) mod ending;
pub(crate) mod failure_words;
pub(crate) mod follow;
pub(crate) mod following;
pub(crate) mod label_fights;
pub(crate) mod lease;
pub(crate) mod notify_event;
pub(crate) mod notify_rules;
pub(crate) mod outage;
pub(crate) mod persons_work;
pub(crate) mod plan_approval;
pub(crate) mod record;
pub(crate) mod record_message;
pub(crate) mod record_parts;
pub(crate) mod record_v1;
#[cfg(test)]
mod record_versions;
pub(crate) mod reply;
pub(crate) mod status_rules;
pub(crate) mod stopped;
pub(crate) mod traces;
pub(crate) mod transition;
pub(crate) mod unblocking;
pub(crate) mod unwritten;
