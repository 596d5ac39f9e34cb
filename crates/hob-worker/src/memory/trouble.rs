//! Trouble of a repository that keeps Hob from working and only its maintainers can fix, as this worker last found it:
//! it is reported where they look, and nothing begins meanwhile.

use hob_domain::Sha;
use parking_lot::{Mutex, MutexGuard};

/// The repository's troubles.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The tip of the base branch at which `.github/hob.toml` cannot be used, and why.
    settings: Option<(Sha, String)>,
    /// Why the trigger label cannot be relied on.
    trigger: Option<String>,
}

impl Trouble {
    /// Notes that the repository's settings cannot be used at this tip.
    pub(crate) fn note_settings(&self, tip: &Sha, why: String) {
        self.known().settings = Some((tip.clone(), why));
    }

    /// Why nothing can begin at this tip; `None` if nothing is known against it.
    pub(crate) fn of_settings(&self, tip: &Sha) -> Option<String> {
        let mut known = self.known();
        // A fix of the file moves the branch.
        if known.settings.as_ref().is_some_and(|(broken, _)| broken != tip) {
            known.settings = None;
        }
        known.settings.as_ref().map(|(_, why)| why.clone())
    }

    /// Notes the state of the trigger label; returns whether that is news.
    pub(crate) fn note_trigger(&self, why: Option<String>) -> bool {
        let mut known = self.known();
        let is_news = known.trigger != why;
        known.trigger = why;
        is_news
    }

    /// All of it, a sentence each.
    pub(crate) fn all(&self) -> Vec<String> {
        let known = self.known();
        known.settings.iter().map(|(_, why)| why.clone()).chain(known.trigger.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_settings_count_until_the_branch_moves() {
        let (broken, fixed) = (Sha::from("a"), Sha::from("b"));
        let trouble = Trouble::default();
        assert_eq!(trouble.of_settings(&broken), None);
        trouble.note_settings(&broken, "line 3".to_owned());
        assert_eq!(trouble.of_settings(&broken), Some("line 3".to_owned()));
        assert_eq!(trouble.of_settings(&fixed), None);
        assert_eq!(trouble.of_settings(&broken), None, "it is forgotten");
    }

    #[test]
    fn a_trigger_that_cannot_be_relied_on_is_news_once() {
        let (trouble, why) = (Trouble::default(), || Some("it is gone".to_owned()));
        assert_eq!([None, why(), why(), None].map(|known| trouble.note_trigger(known)), [false, true, false, true]);
        trouble.note_settings(&Sha::from("a"), "line 3".to_owned());
        trouble.note_trigger(why());
        assert_eq!(trouble.all(), ["line 3", "it is gone"]);
    }
}
