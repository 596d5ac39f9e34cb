//! Faults on purpose: the answers a real forge and network give on a bad day, at chosen calls or at random with a seed.
//!
//! A fault matches by method and path and counts the calls it matches; the first fault that is due happens. `Date` and
//! the rate limit stay right on every answer that the fault makes itself.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use globset::{GlobBuilder, GlobMatcher};
use http::response::Parts;
use serde::Deserialize;

use crate::names::Login;

/// The most former answers that are kept for stale reads.
const REMEMBERED_MAX: usize = 1_000;

/// One fault: the requests it matches, its time and its effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The method it matches; `None` matches any.
    #[serde(default)]
    pub method: Option<String>,
    /// The path it matches, a glob in which `*` stops at a slash and `**` does not: below `/api/v3` for the API,
    /// `/OWNER/REPO.git/…` for git.
    pub path: String,
    /// The account it matches; `None` matches all callers, anonymous ones too.
    #[serde(default)]
    pub login: Option<Login>,
    /// The matching calls at which it happens.
    #[serde(default)]
    pub when: When,
    /// The effect.
    pub what: What,
}

/// The calls at which a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Every one.
    #[default]
    Always,
    /// This one only, counted from 1.
    Call(u64),
    /// This many of the first ones.
    First(u64),
    /// At random, the same on every run with this seed.
    Random {
        /// Calls in a hundred.
        percent: u8,
        /// The seed of the sequence.
        seed: u64,
    },
}

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// This answer instead of the real one; the request has no effect.
    Answer {
        /// The status.
        status: u16,
        /// Headers beside the usual ones.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The `message` of the body.
        #[serde(default)]
        message: String,
    },
    /// This answer with this body instead of the real one; the request has no effect.
    Raw {
        /// The status.
        status: u16,
        /// Headers beside the usual ones; the type of the content is JSON unless one says otherwise.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The body, as it is sent.
        body: String,
    },
    /// The connection ends, and the request has no effect.
    DropBefore,
    /// The request has its effect, and the connection ends without an answer.
    DropAfter,
    /// The answer comes after this many milliseconds.
    Delay(u64),
    /// The answer's body ends half way, and the connection with it.
    Truncate,
    /// The answer that the same request got the last time; 404 if there was none.
    Stale,
}

/// Faults that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InvalidFault {
    /// Not a JSON list of faults.
    #[error("read the list of faults")]
    Json(#[from] serde_json::Error),
    /// A path that is not a glob.
    #[error("read the path of a fault")]
    Path(#[from] globset::Error),
}

impl Fault {
    /// Reads a JSON list of faults.
    ///
    /// # Errors
    /// [`InvalidFault`] if it is not one, or a path is not a glob.
    pub fn parse(json: &[u8]) -> Result<Vec<Self>, InvalidFault> {
        let faults: Vec<Self> = serde_json::from_slice(json)?;
        for fault in &faults {
            glob(&fault.path)?;
        }
        Ok(faults)
    }
}

fn glob(path: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(path).literal_separator(true).build()?.compile_matcher())
}

/// A fault that waits for its calls.
#[derive(Debug)]
struct Planned {
    fault: Fault,
    /// `None` if its path is not a glob, so that nothing matches it.
    path: Option<GlobMatcher>,
    calls: u64,
}

impl Planned {
    fn new(fault: Fault) -> Self {
        Self { path: glob(&fault.path).ok(), fault, calls: 0 }
    }

    fn matches(&self, method: &str, path: &str, login: Option<&Login>) -> bool {
        self.fault.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
            && self.fault.login.as_ref().is_none_or(|wanted| login.is_some_and(|login| login.is(wanted)))
            && self.path.as_ref().is_some_and(|glob| glob.is_match(path))
    }
}

impl When {
    fn is_now(self, call: u64) -> bool {
        match self {
            Self::Always => true,
            Self::Call(wanted) => call == wanted,
            Self::First(many) => call <= many,
            Self::Random { percent, seed } => scattered(seed.wrapping_add(call)) % 100 < u64::from(percent),
        }
    }
}

/// A request as far as its answer depends on it: address and account.
pub(super) type Question = (String, Option<Login>);

/// The faults of a forge, with how often each has matched.
#[derive(Debug, Default)]
pub(super) struct Faults {
    planned: Mutex<Vec<Planned>>,
    remembered: Mutex<HashMap<Question, (Parts, Bytes)>>,
}

impl Faults {
    /// Adds a fault.
    pub(super) fn add(&self, fault: Fault) {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).push(Planned::new(fault));
    }

    /// Removes all faults.
    pub(super) fn clear(&self) {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The faults of this call, and whether its answer is worth remembering.
    pub(super) fn strike(&self, method: &str, path: &str, login: Option<&Login>) -> (Option<What>, bool) {
        let (mut struck, mut remember) = (None, false);
        for planned in self.planned.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if planned.matches(method, path, login) {
                planned.calls += 1;
                remember |= planned.fault.what == What::Stale;
                if struck.is_none() && planned.fault.when.is_now(planned.calls) {
                    struck = Some(planned.fault.what.clone());
                }
            }
        }
        (struck, remember)
    }

    /// The answer that the same request got the time before.
    pub(super) fn former(&self, question: &Question) -> Option<(Parts, Bytes)> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(question).cloned()
    }

    /// Stores an answer for stale reads, while there is room.
    pub(super) fn remember(&self, question: Question, parts: Parts, body: Bytes) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() < REMEMBERED_MAX || remembered.contains_key(&question) {
            remembered.insert(question, (parts, body));
        }
    }
}

/// A number that looks random, always the same for the same one (the finaliser of SplitMix64).
fn scattered(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_from_json() {
        let text = br#"[
            {"method": "POST", "path": "/repos/*/*/git/refs", "when": {"call": 2}, "what": "drop_after"},
            {"path": "/repos/**", "login": "hob", "when": {"random": {"percent": 10, "seed": 7}},
             "what": {"answer": {"status": 429, "headers": {"retry-after": "3"}}}}
        ]"#;
        let faults: Vec<_> = Fault::parse(text).unwrap().into_iter().map(Planned::new).collect();
        let hob = Login::from("hob");
        assert!(faults[0].matches("post", "/repos/a/b/git/refs", None));
        assert!(!faults[0].matches("GET", "/repos/a/b/git/refs", None));
        assert!(!faults[0].matches("POST", "/repos/a/b/c/git/refs", None));
        assert!(
            faults[1].matches("GET", "/repos/a/b/c", Some(&hob)) && !faults[1].matches("GET", "/repos/a/b/c", None)
        );
        assert!(Fault::parse(br#"[{"path": "/x", "what": "explode"}]"#).is_err());
    }

    #[test]
    fn chance_is_the_same_on_every_run() {
        let when = When::Random { percent: 25, seed: 3 };
        let hits: Vec<u64> = (1..=1_000).filter(|call| when.is_now(*call)).collect();
        assert!((200..300).contains(&hits.len()), "{}", hits.len());
        assert_eq!(hits, (1..=1_000).filter(|call| when.is_now(*call)).collect::<Vec<_>>());
    }
}
