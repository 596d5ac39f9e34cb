//! What the status comment shows in addition to the record.

use crate::{Budgets, Checklist};

/// The contents of the status comment in addition to the record.
#[derive(Debug, Clone)]
pub struct StatusRules<'a> {
    /// The trigger label.
    pub trigger: &'a str,
    /// The label of a blocked issue.
    pub blocked: &'a str,
    /// The budgets in the settings.
    pub budgets: Budgets,
    /// The share of the budget at which people are warned.
    pub soft: f64,
    /// The repository's page on the forge.
    pub repo_url: &'a str,
    /// The progress of the agent that works now, if it reports any.
    pub checklist: Option<&'a Checklist>,
}
