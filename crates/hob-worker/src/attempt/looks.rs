//! What the second pair of eyes said in one attempt.

use hob_domain::{ChangeText, Diff, Finding, SecondLook, Spend};

/// The looks at the work of one attempt.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// What they said; none: there was none.
    pub(super) look: Option<SecondLook>,
    /// How many there were.
    pub(super) count: u32,
    /// What they took.
    pub(super) taken: Spend,
    /// The work that went back last, and what its author said of it.
    pub(super) sent_back: Option<(Diff, ChangeText)>,
}

impl Looks {
    /// What the author has to look at.
    pub(super) fn for_author(&self) -> Vec<Finding> {
        let look = self.look.as_ref().filter(|_| self.sent_back.is_some());
        look.into_iter().flat_map(|look| look.findings.high()).cloned().collect()
    }
}
