//! `[profiles]`: where profiles are looked for, and what those of a repository may choose; `[routing]`: how one is found.

use hob_domain::RoutingRules;
use serde::{Deserialize, Serialize};

/// The section `[profiles]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSettings {
    /// A folder of profiles; empty: none.
    pub folder: String,
    /// The models that a repository's profiles may choose.
    pub models: Vec<String>,
    /// How many files are read at most, beside Hob's own.
    pub max: usize,
}

/// The section `[routing]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingSettings {
    /// Whether the profile of an issue is found by its text where nobody chose one.
    pub enabled: bool,
    /// The confidence above which a profile is chosen, from 0 to 1.
    pub confidence: f32,
    /// The complexity above which one is chosen, from 1 to 10.
    pub complexity: u8,
    /// How much higher the confidence in another profile has to be at a new message.
    pub switch: f32,
    /// The model that is asked where the router has a hunch and is not sure; empty: none.
    pub model: String,
}

impl RoutingSettings {
    /// The thresholds, as the router knows them.
    pub fn rules(&self) -> RoutingRules {
        RoutingRules { confidence: self.confidence, complexity: self.complexity, switch: self.switch }
    }
}
