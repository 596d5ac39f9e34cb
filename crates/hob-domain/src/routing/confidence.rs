//! How sure the router is: how likely it is that the issue is any profile's by how much they have in common, times how
//! likely it is this one rather than the best other one. `lab/measure/routing_fit.py` fits the constants.

use serde::{Deserialize, Serialize};

/// The constants, fitted on the tuning parts of `lab/routing`.
const BIAS: f32 = -4.31;
const BY_STRENGTH: f32 = 1.80;
const BY_LEAD: f32 = 5.29;
const BY_SHARE: f32 = 2.80;
const BY_RIVAL: f32 = 0.79;

/// Added to scores before they are divided, so that little against nothing is not certain.
const DAMPING: f32 = 0.7;
/// A larger lead than this adds nothing.
const LEAD_MAX: f32 = 2.5;

/// How a profile compares with an issue and with the other profiles.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// How much the profile and the issue have in common: the logarithm of one more than the score.
    pub strength: f32,
    /// The logarithm of how much more that is than with the best other profile; negative if another one has more.
    pub lead: f32,
    /// The logarithm of how much more that is than what speaks for a field that no profile has.
    pub rival: f32,
    /// The part of what the issue says about any topic that is the profile's, from 0 to 1.
    pub share: f32,
}

impl Likeness {
    /// From a profile's score, the best score of the others, what the words of the issue could have counted, and the score of
    /// a field that no profile has.
    pub(super) fn new(score: f32, other: f32, known: f32, rival: f32) -> Self {
        let ahead = |of: f32| ((score + DAMPING) / (of + DAMPING)).ln().clamp(-LEAD_MAX, LEAD_MAX);
        let (lead, rival) = (ahead(other), ahead(rival));
        let share = (score / (known + DAMPING)).clamp(0.0, 1.0);
        Self { strength: score.ln_1p(), lead, rival, share }
    }

    /// How sure it is that the issue is this profile's, from 0 to 1.
    pub fn confidence(self) -> f32 {
        self.some_fits() * logistic(BY_LEAD * self.lead)
    }

    /// Whether this profile is likelier than none.
    pub fn is_choice(self) -> bool {
        self.confidence() >= 1.0 - self.some_fits()
    }

    fn some_fits(self) -> f32 {
        logistic(BIAS + BY_STRENGTH * self.strength + BY_SHARE * self.share + BY_RIVAL * self.rival)
    }
}

fn logistic(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}
