//! Edits of a text as values. See the README for the normal form.

mod edit;
mod error;
mod history;

pub use edit::{Edit, Step};
pub use error::EditError;
pub use history::History;
