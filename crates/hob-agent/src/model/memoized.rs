//! A value that keeps its JSON once it is written, so that a request costs only its new parts.

use std::{borrow::Cow, ops::Deref, sync::OnceLock};

use serde::{Serialize, Serializer};

/// A value with its JSON for the model that was asked first. The value cannot change any more, so that JSON stays the
/// same.
#[derive(Debug, Default, Clone)]
pub struct Memoized<T> {
    value: T,
    written: OnceLock<(Box<str>, Box<str>)>,
}

impl<T> Memoized<T> {
    /// The JSON for the model `of`, its interface included, which `write` makes the first time. For another model it is
    /// made each time: it may differ, because signed parts are sent only to the service that signed them.
    pub(super) fn json(&self, of: &str, write: impl Fn(&T) -> String) -> Cow<'_, str> {
        let (whose, json) = self.written.get_or_init(|| (of.into(), write(&self.value).into_boxed_str()));
        if **whose == *of { Cow::Borrowed(json) } else { Cow::Owned(write(&self.value)) }
    }
}

impl<T> From<T> for Memoized<T> {
    fn from(value: T) -> Self {
        Self { value, written: OnceLock::new() }
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
