//! Attempts, how they end, and what the prisoner is told of what it is after.

use std::{collections::BTreeMap, io, path::PathBuf};

use serde_json::{Value, json};

use crate::{kernel, processes, reads, sockets, supervised, writes};

/// How an attempt ended, with the reason.
pub(crate) enum Outcome {
    Held(String),
    Through(String),
    NotHere(String),
}

/// An attempt's name and its end.
pub(crate) type Attempt = (&'static str, Outcome);

impl Outcome {
    /// Whoever gets something got through.
    pub(crate) fn of<T>(result: io::Result<T>) -> Self {
        match result {
            Ok(_) => Self::Through("it succeeded".to_owned()),
            Err(error) => Self::Held(error.to_string()),
        }
    }

    /// Whoever finds it so got through.
    pub(crate) fn when(through: bool, found: impl Into<String>) -> Self {
        if through { Self::Through(found.into()) } else { Self::Held(found.into()) }
    }

    pub(crate) fn not_here(why: &str) -> Self {
        Self::NotHere(why.to_owned())
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let (result, why) = match self {
            Self::Held(why) => ("held", why),
            Self::Through(why) => ("got through", why),
            Self::NotHere(why) => ("not applicable here", why),
        };
        json!({ "name": name, "result": result, "why": why })
    }
}

/// What there is outside, as the guard made it.
pub(crate) struct Told(BTreeMap<String, String>);

impl Told {
    pub(crate) fn of(words: &[&str]) -> Self {
        let pairs = words.iter().filter_map(|word| word.split_once('='));
        Self(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.get(key).unwrap()
    }

    /// A file that the guard has in a folder beside the prisoner's.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        PathBuf::from(self.text("outside")).join(name)
    }

    /// A process outside, which has an environment, an open file and a folder.
    pub(crate) fn pid(&self) -> i32 {
        self.text("pid").parse().unwrap()
    }

    pub(crate) fn port(&self, key: &str) -> u16 {
        self.text(key).parse().unwrap()
    }
}

/// Makes all attempts.
pub(crate) fn all(told: &Told) -> Value {
    // Before anything is opened here.
    let inherited = processes::inherited();
    let groups = [
        ("files: read", reads::attempts(told)),
        ("files: write", writes::attempts(told)),
        ("processes", processes::attempts(told, inherited)),
        ("network and services", sockets::attempts(told)),
        ("what a supervisor does", supervised::attempts(told)),
        ("kernel", kernel::attempts(told)),
    ];
    let attempts = groups.iter().flat_map(|(group, attempts)| {
        attempts.iter().map(move |(name, outcome)| {
            let mut attempt = outcome.json(name);
            attempt["group"] = json!(group);
            attempt
        })
    });
    json!({ "attempts": attempts.collect::<Vec<_>>() })
}
