//! One step of an investigation, as progress shows it.

use serde::Serialize;

use crate::{
    Impact,
    investigation::{CaseProgress, Confidence},
};

/// How an action was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    /// No approval was needed: its impact is low enough.
    ByItself,
    /// A person approved it, now or before, or Hob was started with `--auto-approve`.
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
    /// The iteration's number, as `2 of 250`.
    pub fn place(&self) -> String {
        let of = self.max.map(|max| format!(" of {max}")).unwrap_or_default();
        format!("{}{of}", self.number)
    }
}

/// One action of an investigation and its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Iteration {
    /// The number of its iteration in this run, from 1.
    pub number: u32,
    /// The most iterations. `None` if not limited.
    pub max: Option<u32>,
    /// What the agent thought.
    pub thought: String,
    /// How sure it was. `None` if the action only looks.
    pub confidence: Option<Confidence>,
    /// The action in a line.
    pub action: String,
    /// Its impact.
    pub impact: Impact,
    /// How it was approved.
    pub approval: Allowed,
    /// Its effect, or why it did not run.
    pub effect: String,
    /// How far the case is.
    pub progress: CaseProgress,
}
