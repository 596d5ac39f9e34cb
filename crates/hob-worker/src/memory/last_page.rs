//! The memory of the dashboard's page, so that workers that render it differently do not overwrite each other for ever.

use parking_lot::Mutex;

/// The page that this worker rendered when it last drew it, or found it drawn.
#[derive(Debug, Default)]
pub(crate) struct LastPage(Mutex<Option<String>>);

impl LastPage {
    /// Whether it is that page.
    pub(crate) fn is(&self, digest: &str) -> bool {
        self.0.lock().as_deref() == Some(digest)
    }

    /// Remembers the page by its digest.
    pub(crate) fn set(&self, digest: String) {
        *self.0.lock() = Some(digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_page_is_known() {
        let page = LastPage::default();
        assert!(!page.is("a"));
        page.set("a".to_owned());
        page.set("b".to_owned());
        assert!(page.is("b") && !page.is("a"));
    }
}
