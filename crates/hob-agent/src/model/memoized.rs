//! A value that keeps its JSON once it was written, so that a request costs what is new in it.

use std::{ops::Deref, sync::OnceLock};

use serde::{Serialize, Serializer};

/// A value with its JSON as each interface wants it. The value cannot change any more, so its JSON is always the same.
#[derive(Debug, Default, Clone)]
pub struct Memoized<T> {
    value: T,
    anthropic: OnceLock<Box<str>>,
    openai: OnceLock<Box<str>>,
    responses: OnceLock<Box<str>>,
}

impl<T> Memoized<T> {
    /// The JSON for Anthropic's interface, written by `write` the first time.
    pub(super) fn anthropic(&self, write: impl FnOnce(&T) -> String) -> &str {
        self.anthropic.get_or_init(|| write(&self.value).into_boxed_str())
    }

    /// The JSON for the responses interface, written by `write` the first time.
    pub(super) fn responses(&self, write: impl FnOnce(&T) -> String) -> &str {
        self.responses.get_or_init(|| write(&self.value).into_boxed_str())
    }

    /// The JSON for the chat completions interface, written by `write` the first time.
    pub(super) fn openai(&self, write: impl FnOnce(&T) -> String) -> &str {
        self.openai.get_or_init(|| write(&self.value).into_boxed_str())
    }
}

impl<T> From<T> for Memoized<T> {
    fn from(value: T) -> Self {
        Self { value, anthropic: OnceLock::new(), openai: OnceLock::new(), responses: OnceLock::new() }
    }
}

impl<T> Deref for Memoized<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Serialize> Serialize for Memoized<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
