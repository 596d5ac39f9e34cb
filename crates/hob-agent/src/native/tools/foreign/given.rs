//! The arguments of a call, taken one by one.

use serde_json::{Map, Value};

/// An argument that cannot be obeyed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}`: {why}")]
pub(in crate::native::tools) struct Unfit {
    name: String,
    why: String,
}

impl Unfit {
    pub(super) fn new(name: &str, why: impl Into<String>) -> Self {
        Self { name: name.to_owned(), why: why.into() }
    }
}

/// The arguments of a call: those that were not looked at yet, and those of Hob's own tool so far.
pub(super) struct Given {
    left: Map<String, Value>,
    own: Map<String, Value>,
}

impl Given {
    /// All arguments; `null` is none.
    pub(super) fn new(mut arguments: Map<String, Value>) -> Self {
        arguments.retain(|_, value| !value.is_null());
        Self { left: arguments, own: Map::new() }
    }

    /// Takes the first of `names` that is there, with its name.
    pub(super) fn take<'n>(&mut self, names: &[&'n str]) -> Option<(&'n str, Value)> {
        names.iter().find_map(|name| self.left.remove(*name).map(|value| (*name, value)))
    }

    /// Whether there is an argument `name` that was not taken yet.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// Whether the own tool has the argument `own`.
    pub(super) fn sets(&self, own: &str) -> bool {
        self.own.contains_key(own)
    }

    /// Adds an argument that was inside another one, or that is left out if it says nothing.
    pub(super) fn put_back(&mut self, name: &str, value: Value) {
        self.left.insert(name.to_owned(), value);
    }

    /// Sets an argument of the own tool.
    pub(super) fn set(&mut self, own: &str, value: impl Into<Value>) {
        self.own.insert(own.to_owned(), value.into());
    }

    /// Passes an argument on as it is, under its own name.
    pub(super) fn pass(&mut self, own: &str, names: &[&str]) {
        if let Some((_, value)) = self.take(names) {
            self.set(own, value);
        }
    }

    /// Passes a number on.
    pub(super) fn pass_number(&mut self, own: &str, names: &[&str]) -> Result<(), Unfit> {
        if let Some(number) = self.number(names)? {
            self.set(own, number);
        }
        Ok(())
    }

    /// Passes a truth value on.
    pub(super) fn pass_flag(&mut self, own: &str, names: &[&str]) -> Result<(), Unfit> {
        if let Some(flag) = self.flag(names)? {
            self.set(own, flag);
        }
        Ok(())
    }

    /// Takes a whole number that is not negative; it may be a text.
    pub(super) fn number(&mut self, names: &[&str]) -> Result<Option<u64>, Unfit> {
        let Some((name, value)) = self.take(names) else { return Ok(None) };
        whole(&value).map(Some).ok_or_else(|| Unfit::new(name, "a whole number that is not negative is expected"))
    }

    /// Takes a truth value; it may be a text.
    pub(super) fn flag(&mut self, names: &[&str]) -> Result<Option<bool>, Unfit> {
        let Some((name, value)) = self.take(names) else { return Ok(None) };
        match &value {
            Value::Bool(flag) => Ok(Some(*flag)),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            _ => Err(Unfit::new(name, "`true` or `false` is expected")),
        }
    }

    /// Takes a text.
    pub(super) fn text(&mut self, names: &[&str]) -> Result<Option<String>, Unfit> {
        match self.take(names) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text)),
            Some((name, _)) => Err(Unfit::new(name, "a text is expected")),
        }
    }

    /// Takes texts: a list, or only one.
    pub(super) fn texts(&mut self, names: &[&str]) -> Result<Option<Vec<String>>, Unfit> {
        let Some((name, value)) = self.take(names) else { return Ok(None) };
        texts(&value).map(Some).ok_or_else(|| Unfit::new(name, "a list of texts is expected"))
    }

    /// Drops words that are for a reader.
    pub(super) fn drop_words(&mut self, names: &[&str]) {
        names.iter().for_each(|name| drop(self.left.remove(*name)));
    }

    /// Takes a truth value that has to be `holds`; `why` says why the other one is refused.
    pub(super) fn must_be(&mut self, name: &str, holds: bool, why: &str) -> Result<(), Unfit> {
        match self.flag(&[name])? {
            Some(flag) if flag != holds => Err(Unfit::new(name, why)),
            Some(_) | None => Ok(()),
        }
    }

    /// The arguments of the own tool, with those that nothing took: the tool refuses them by their names.
    pub(super) fn finish(self) -> Result<Map<String, Value>, Unfit> {
        let Self { left, mut own } = self;
        for (name, value) in left {
            if own.contains_key(&name) {
                return Err(Unfit::new(&name, "it is given under another name, too"));
            }
            own.insert(name, value);
        }
        Ok(own)
    }
}

/// A whole number that is not negative, or its text.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e15).contains(float))?;
            format!("{float:.0}").parse().ok()
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A list of texts, or one text.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(list) => list.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
