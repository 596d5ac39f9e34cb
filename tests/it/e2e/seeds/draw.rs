//! The choices of a seed: each is drawn from the seed and a question, so that a seed is the same on every run.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The choices of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw(pub(super) u64);

impl Draw {
    /// A number below `of`.
    pub(super) fn below(self, of: u64, question: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0, question).hash(&mut hasher);
        hasher.finish() % of
    }

    /// Like [`Draw::below`], for a count.
    pub(super) fn count(self, of: usize, question: &str) -> usize {
        usize::try_from(self.below(u64::try_from(of).unwrap(), question)).unwrap()
    }

    /// One of `choices`.
    pub(super) fn one<T: Copy>(self, choices: &[T], question: &str) -> T {
        choices[self.count(choices.len(), question)]
    }
}
