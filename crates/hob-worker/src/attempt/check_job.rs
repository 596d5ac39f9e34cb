//! What checks are run for: a checkout with the repository's rules.

use hob_config::RepositorySettings;
use hob_domain::{CheckResult, IssueNumber, Lesson, Lessons};
use hob_workspace::Checkout;
use parking_lot::Mutex;

/// What checks are run for.
#[derive(Clone, Copy)]
pub(super) struct CheckJob<'a> {
    pub(super) issue: IssueNumber,
    pub(super) rules: &'a RepositorySettings,
    pub(super) checkout: &'a Checkout,
    /// The facts about the repository that are learned.
    pub(super) lessons: &'a Mutex<Lessons>,
    /// Each run of a check on the base.
    pub(super) base_runs: &'a Mutex<Vec<CheckResult>>,
}

impl CheckJob<'_> {
    pub(super) fn number(&self) -> IssueNumber {
        self.issue
    }

    /// Notes a fact about the repository.
    pub(super) fn learn(&self, lesson: Option<Lesson>) {
        if let Some(lesson) = lesson {
            let mut lessons = self.lessons.lock();
            *lessons = std::mem::take(&mut *lessons).and(lesson);
        }
    }
}
