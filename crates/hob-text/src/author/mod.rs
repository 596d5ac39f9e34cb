//! Which part of a comment its author wrote, and not somebody whom it quotes, answers or forwards.

mod mail;
mod own;
mod phrases;

pub use own::{Place, authored, own_words};
