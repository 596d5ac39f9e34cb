//! Text of others made harmless and short: for a model, a comment, a terminal or a log. Pure, and below all of Hob's
//! other crates.

mod author;
mod drawn;
mod html;
mod imports;
mod inert;
mod job_log;
pub mod markup;
mod redaction;
mod rendered;
mod secrets;
mod text;
pub mod yaml;

pub use author::{Place, authored, own_words};
pub use drawn::Drawing;
pub use imports::imports;
pub use inert::{inert, inert_line, inert_within};
pub use job_log::failing_part;
pub use markup::count;
pub use redaction::{KnownSecrets, Redaction};
pub use rendered::{Rendered, push_page, rendered};
pub use secrets::{SecretKind, secrets_in, value_without_tokens, without_tokens};
pub use text::{
    clip, clip_middle, push_fenced, quiet, shortened, terminal, title, visible, with_escapes, without_comments,
    without_invisible, without_switches,
};
