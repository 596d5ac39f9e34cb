//! The forms of a model's requests: the tool calls of its interface, or JSON in its words. Both become calls.

#[cfg(test)]
mod corpus;
mod dialect;
mod forms;
mod json;
mod pythonic;
mod understood;
mod words;

pub(super) use dialect::Dialect;
pub(super) use understood::Understood;
