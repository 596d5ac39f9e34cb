//! The memory of the dashboard's page, so that workers that render it differently do not overwrite each other for ever.

use std::sync::{Mutex, PoisonError};

/// The page that this worker rendered when it last drew it, or found it drawn.
#[derive(Debug, Default)]
pub(super) struct LastPage(Mutex<Option<String>>);

impl LastPage {
    /// Whether it is that page.
    pub(super) fn is(&self, digest: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(digest)
    }

    /// Remembers the page by its digest.
    pub(super) fn set(&self, digest: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
    }
}
