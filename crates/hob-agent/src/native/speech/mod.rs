//! How a model says what it wants done: by the tool calls of its interface, or by JSON in its words. Both become calls.

#[cfg(test)]
mod corpus;
mod dialect;
mod json;
mod understood;

pub(super) use dialect::Dialect;
pub(super) use understood::Understood;
