//! `[profiles]`: where profiles are, and what a repository's own may choose; `[routing]`: how the profile of an issue
//! is found.

use hob_domain::RoutingRules;
use serde::{Deserialize, Serialize};

/// The section `[profiles]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileSettings {
    /// A folder of profiles; empty for none.
    pub folder: String,
    /// The models that a repository's profiles may choose.
    pub models: Vec<String>,
    /// The most files that are read, not counting Hob's own.
    pub max: usize,
}

/// The section `[routing]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingSettings {
    /// Whether the router chooses a profile by the text if no person chose one.
    pub enabled: bool,
    /// The confidence above which a profile is chosen, from 0 to 1.
    pub confidence: f32,
    /// The complexity above which a profile is chosen, from 1 to 10.
    pub complexity: u8,
    /// How much higher the confidence in another profile must be for a switch after a new message.
    pub switch: f32,
    /// The model that is asked if the router is unsure; empty for none.
    pub model: String,
}

impl RoutingSettings {
    /// The thresholds, as the router knows them.
    pub fn rules(&self) -> RoutingRules {
        RoutingRules { confidence: self.confidence, complexity: self.complexity, switch: self.switch }
    }
}
