//! What came of one task: a line of the results.

use serde::{Deserialize, Serialize};

/// A task that was tried to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The task's name.
    pub task: String,
    /// Which attempt at the task, from 1.
    #[serde(default = "first")]
    pub attempt: u32,
    /// Whether its tests give the full reward.
    pub solved: bool,
    /// What its tests gave; none: they wrote no reward.
    pub reward: Option<f64>,
    /// How the agent ended: `done`, `nothing_to_do`, `question`, `approval_needed`, `hand_off` or `failed`.
    pub outcome: String,
    /// The limit that ended the agent; none: it ended by itself.
    pub limit: Option<LimitKind>,
    /// What the agent, or the tests, said last.
    pub why: String,
    /// US dollars.
    pub usd: f64,
    /// Tokens sent, cached ones included.
    pub input_tokens: u64,
    /// Of them those that the service had cached.
    pub cached_tokens: u64,
    /// Tokens produced.
    pub output_tokens: u64,
    /// The agent's turns; 0: it tells none.
    pub turns: u32,
    /// Seconds that the agent took.
    pub seconds: f64,
    /// Bytes of its change as a patch.
    pub patch_bytes: u64,
    /// The agent's session.
    pub session: String,
}

/// The attempt of a line that an earlier Hob wrote.
fn first() -> u32 {
    1
}

/// A limit that ends an agent which is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Its time.
    Time,
    /// Its money.
    Money,
    /// Its tokens.
    Tokens,
    /// Its turns.
    Turns,
    /// Another one: failed actions, repeats, output.
    Other,
}

impl LimitKind {
    /// The limit that the sentence of a failed run names, as Hob's own sentences do: by its setting.
    pub fn named_in(reason: &str) -> Option<Self> {
        let names = |words: &[&str]| words.iter().any(|word| reason.contains(word));
        Some(match () {
            () if names(&["ran out of time"]) => Self::Time,
            () if names(&["the budget of the run is spent", "the budget of the attempt is spent"]) => Self::Money,
            () if names(&["the tokens of "]) && names(&["used up"]) => Self::Tokens,
            () if names(&["(`max_iterations`)"]) => Self::Turns,
            () if names(&["`consecutive_errors`", "`recent_errors`", "`identical_calls`", "`max_output`"])
                || names(&["`failed_commands."]) =>
            {
                Self::Other
            }
            () => return None,
        })
    }
}
