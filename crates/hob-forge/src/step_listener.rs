//! Who hears of each step in issues' ledgers, once it is written.

use std::{fmt, sync::Arc};

use hob_domain::Record;

/// The callback, which must not block for long.
type Tell = dyn Fn(Option<&Record>, &Record, &str) + Send + Sync;

/// Hears the record before, `None` for the first, the one after, and the sentence about the step.
#[derive(Clone, Default)]
pub struct StepListener(Option<Arc<Tell>>);

impl StepListener {
    /// Calls `tell`.
    pub fn new(tell: impl Fn(Option<&Record>, &Record, &str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(super) fn tell(&self, before: Option<&Record>, after: &Record, sentence: &str) {
        if let Some(tell) = &self.0 {
            tell(before, after, sentence);
        }
    }
}

impl fmt::Debug for StepListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepListener").finish_non_exhaustive()
    }
}
