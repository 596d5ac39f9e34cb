//! One step of an investigation, as whoever watches is shown it.

use serde::Serialize;

use crate::{
    Impact,
    investigation::{CaseProgress, Confidence},
};

/// Who allowed an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// Nobody had to: its impact is low enough.
    ByItself,
    /// A person, now or before, or whoever started Hob with `--auto-approve`.
    Approved,
    /// It waits for a person; the run ends.
    Waits,
    /// It did not run.
    Refused,
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ByItself => "by itself",
            Self::Approved => "approved",
            Self::Waits => "waits for a person",
            Self::Refused => "refused",
        })
    }
}

impl Iteration {
    /// Which iteration it belongs to, as `2 of 250`.
    pub fn place(&self) -> String {
        let of = self.max.map(|max| format!(" of {max}")).unwrap_or_default();
        format!("{}{of}", self.number)
    }
}

/// One action of an investigation, with what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Iteration {
    /// The iteration it belongs to, from 1, of those that count for this run.
    pub number: u32,
    /// How many there may be; none: any number.
    pub max: Option<u32>,
    /// What the agent thought.
    pub thought: String,
    /// How sure it was; none: the action only looks.
    pub confidence: Option<Confidence>,
    /// The action in a line.
    pub action: String,
    /// What it may do.
    pub impact: Impact,
    /// Who allowed it.
    pub approval: Allowed,
    /// What came of it, or why it did not run.
    pub effect: String,
    /// How far the case is.
    pub progress: CaseProgress,
}
