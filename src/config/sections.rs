//! The sections of the settings that belong to the loop: one struct a section, one field a key. Defaults and the words
//! that explain them stand in `config/default.toml`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    config::duration,
    domain::{Login, Permission},
};

/// `[agent]`: which agent works.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentChoice {
    /// The agent's name.
    pub default: String,
}

/// `[app]`: the GitHub App that Hob signs in as.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppSettings {
    /// The App's id; 0: Hob uses a token.
    pub id: u64,
    /// The installation's id; 0: it is looked up.
    pub installation: u64,
    /// The file with the App's private key.
    pub private_key: String,
}

/// `[forge]`: how the forge is called.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgeSettings {
    /// Time between two writes, in milliseconds.
    pub write_interval_ms: u64,
    /// Writes within a minute; 0: not limited.
    pub writes_per_minute: u32,
    /// Writes within an hour; 0: not limited.
    pub writes_per_hour: u32,
    /// Deadline of a call.
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// How often a read is tried again.
    pub retries: u32,
    /// First pause before a read is tried again.
    #[serde(with = "duration")]
    pub retry_base: Duration,
    /// The longest `retry-after` that is waited out in place.
    #[serde(with = "duration")]
    pub patience: Duration,
    /// The token's account; empty: asked of the forge.
    pub login: String,
}

/// `[identity]`: who Hob's commits are by.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Author and committer.
    pub name: String,
    /// Their address.
    pub email: String,
}

/// `[lease]`: how long a claim lasts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseSettings {
    /// How long a silent worker keeps its claim.
    #[serde(with = "duration")]
    pub duration: Duration,
    /// Margin for clocks that differ.
    #[serde(with = "duration")]
    pub skew: Duration,
}

/// `[ledger]`: where the ledger is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerSettings {
    /// Prefix of the refs, `refs/…/`.
    pub prefix: String,
}

/// `[limits]`: what an issue, an attempt and an hour may take.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Issues at once.
    pub jobs: usize,
    /// Wall time of an attempt.
    #[serde(with = "duration")]
    pub issue_time: Duration,
    /// Issues claimed within an hour.
    pub issues_per_hour: usize,
    /// Attempts before a person is asked.
    pub attempts: u32,
    /// Pause before the second attempt.
    #[serde(with = "duration")]
    pub retry_delay: Duration,
    /// How often failed checks go back to the agent.
    pub check_rounds: u32,
    /// US dollars over an issue's life; 0: not limited.
    pub usd_per_issue: f64,
    /// Bytes of a body that reach the agent.
    pub body_bytes: usize,
}

impl Limits {
    /// The money an issue may cost, in millionths of a US dollar; none: not limited.
    pub fn usd_micros_per_issue(&self) -> Option<u64> {
        // Negative and absurd amounts saturate, which is what `as` does for floats.
        (self.usd_per_issue > 0.0).then_some((self.usd_per_issue * 1e6) as u64)
    }
}

/// `[checks]`: how the repository's checks run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSettings {
    /// Deadline of one check.
    #[serde(with = "duration")]
    pub time: Duration,
    /// Bytes kept of one check's output.
    pub output_bytes: usize,
}

/// `[poll]`: how often the forge is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PollSettings {
    /// Time between two polls.
    #[serde(with = "duration")]
    pub interval: Duration,
    /// The longest time between two polls when nothing is found.
    #[serde(with = "duration")]
    pub max_interval: Duration,
}

/// `[publish]`: how work is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishSettings {
    /// Whether pull requests open as drafts.
    pub draft: bool,
}

/// `[trust]`: whose word counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustSettings {
    /// What a person needs.
    pub permission: Permission,
    /// Programs that count.
    pub bots: Vec<Login>,
}
