//! What people ask of an issue from outside a run: pauses and ends, asked for and done.

use serde::{Deserialize, Serialize};

use crate::{Login, Timestamp};

/// What a person asks of an issue from outside, such as with `hob pause`, whichever worker has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Put the issue back and leave it alone until it is resumed.
    Pause,
    /// End the work for good, as `/hob cancel` does.
    Terminate,
}

impl Control {
    /// The verb of a sentence.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Terminate => "end",
        }
    }
}

/// A request to the holder of the lease. It stays in the ledger, beside the lease, until it is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is asked.
    pub control: Control,
    /// Who asked.
    pub by: Login,
    /// When, by the forge's clock.
    pub at: Timestamp,
    /// Why; may be empty.
    #[serde(default)]
    pub reason: String,
}

impl Request {
    /// The pause that the request asks for, as of `now`.
    pub fn pause(self, now: Timestamp) -> Pause {
        Pause { by: self.by, since: now, reason: self.reason }
    }
}

/// A stop until further notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Who stopped it.
    pub by: Login,
    /// Since when.
    pub since: Timestamp,
    /// Why; may be empty.
    #[serde(default)]
    pub reason: String,
}

/// What a person asked of the issue from outside, and whether that was done. A later request takes the place of an earlier
/// one: what is to end need not be paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controlled {
    /// What was asked.
    pub what: Control,
    /// Who asked.
    pub by: Login,
    /// When, by the forge's clock: when it was asked, then when it was done.
    pub at: Timestamp,
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether it was done. A pause that was done lasts until the issue is resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub obeyed: bool,
}

impl From<Request> for Controlled {
    fn from(Request { control, by, at, reason }: Request) -> Self {
        Self { what: control, by, at, reason, obeyed: false }
    }
}

impl From<Pause> for Controlled {
    fn from(Pause { by, since, reason }: Pause) -> Self {
        Self { what: Control::Pause, by, at: since, reason, obeyed: true }
    }
}

impl Controlled {
    /// The end of the work, as it was done; `deed` says how, and is empty after a command.
    pub(crate) fn ended(by: Login, deed: String, at: Timestamp) -> Self {
        Self { what: Control::Terminate, by, at, reason: deed, obeyed: true }
    }

    /// Who ended the work, if somebody did.
    pub fn ended_by(&self) -> Option<&Login> {
        match self.what {
            Control::Terminate => self.obeyed.then_some(&self.by),
            Control::Pause => None,
        }
    }

    /// What is still to be done.
    pub fn request(&self) -> Option<Request> {
        let Self { what: control, by, at, reason, obeyed } = self.clone();
        (!obeyed).then_some(Request { control, by, at, reason })
    }

    /// The pause that lasts.
    pub fn pause(&self) -> Option<Pause> {
        let Self { what, by, at: since, reason, obeyed } = self.clone();
        match what {
            Control::Pause => obeyed.then_some(Pause { by, since, reason }),
            Control::Terminate => None,
        }
    }
}
