//! What people say to Hob on an issue and on its pull request.
//!
//! # Flow
//! [`Conversation`] reads each list of comments and reviews at most once in a stage. [`Inbox`] finds the messages that a
//! look seeks, and whether their authors are authorized. [`hob_domain::follow`] is the rule of what each leads to. With
//! the lease, [`take_effect()`] writes that to the ledger, and [`give_receipts`] shows it on the comment.
//!
//! # Guarantees
//! Only messages of authorized accounts lead to anything. A command takes effect in the ledger before its comment gets
//! the receipt.

mod conversation;
mod read;
mod receipts;
mod response;
mod take_effect;

pub(crate) use conversation::Conversation;
pub(crate) use read::Inbox;
pub(crate) use receipts::give_receipts;
pub(crate) use response::{Response, response};
pub(crate) use take_effect::{follow_rules, take_effect};
