//! How sure the router is: how likely each of the profiles is the issue's, or none of them, by the field that the issue is
//! about and by what it has in common with each. `lab/measure/routing_fit.py` fits the constants.

use serde::{Deserialize, Serialize};

use super::fields::{WordSum, softmax};

/// The constants, fitted on the tuning parts of `lab/routing`.
const BY_FIELD: f32 = 0.97;
const BY_STRENGTH: f32 = 1.78;
const BY_NAMED: f32 = 0.08;
const OF_NONE: f32 = 0.34;
const NONE_BY_KNOWN: f32 = 0.87;
const NONE_BY_RIVAL: f32 = 0.10;

/// Added to scores before their logarithm is taken, so that little against nothing is not certain.
const DAMPING: f32 = 0.7;
/// The chance of a field that nothing speaks for.
const CHANCE_MIN: f32 = 0.01;

/// How a profile compares with an issue.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// How likely the issue is in the profile's field, by the topics that it names, from 0 to 1.
    pub field: f32,
    /// How much the profile and the issue have in common.
    pub score: f32,
    /// The part of the score that is from labels, error patterns and paths.
    pub named: f32,
    /// How sure it is that no profile fits, from 0 to 1.
    pub none: f32,
}

/// What an issue says, independent of a profile.
#[derive(Debug)]
pub(super) struct Common {
    /// How much its terms could have counted for a profile that has all of them.
    pub(super) known: f32,
    /// How much speaks for the likeliest field that no profile has.
    pub(super) rival: f32,
    /// How much it says on each topic.
    pub(super) amounts: Vec<f32>,
    /// What its common words mean.
    pub(super) words: WordSum,
}

impl Common {
    /// The part of what the issue says that has this score, from 0 to 1.
    pub(super) fn part(&self, score: f32) -> f32 {
        (score / (self.known + DAMPING)).clamp(0.0, 1.0)
    }
}

/// How sure it is that the issue is each profile's; sets how sure it is that it is nobody's.
pub(super) fn confidences(profiles: &mut [Likeness], issue: &Common) -> Vec<f32> {
    let chance = |chance: f32| BY_FIELD * (chance + CHANCE_MIN).ln();
    let ln = |score: f32| (score + DAMPING).ln();
    let left = 1.0 - profiles.iter().map(|profile| profile.field).sum::<f32>();
    let none = OF_NONE + chance(left.max(0.0)) + NONE_BY_KNOWN * ln(issue.known) + NONE_BY_RIVAL * ln(issue.rival);
    let of =
        |profile: &Likeness| chance(profile.field) + BY_STRENGTH * ln(profile.score) + BY_NAMED * profile.named.ln_1p();
    let mut found = softmax(profiles.iter().map(of).chain([none]).collect());
    let none = found.pop().unwrap_or_default();
    profiles.iter_mut().for_each(|profile| profile.none = none);
    found
}
