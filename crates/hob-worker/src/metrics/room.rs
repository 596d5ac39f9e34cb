//! How many series the metrics have: names from outside are counted by themselves as far as there is room for them.
//!
//! # Guarantees
//! One repository has at most 200 series, however its agents, models and profiles are called, and each further repository adds less
//! than that. Names beyond the room are counted together.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use hob_domain::RepoName;
use parking_lot::Mutex;

use crate::metrics::named::Labels;

/// Series with names, for each repository; the others have words of Hob's own, whose number is known.
const SERIES_A_REPOSITORY: usize = 38;
/// Repositories that are told apart.
const REPOSITORIES_MAX: usize = 200;
/// Characters of a name.
const NAME_MAX: usize = 64;
/// The name that replaces every name beyond the room.
const OTHER: &str = "other";

/// The room of one process.
#[derive(Debug, Default)]
pub(crate) struct Room {
    repositories: Mutex<BTreeSet<RepoName>>,
    taken: AtomicUsize,
    sums: AtomicBool,
}

impl Room {
    /// Leaves the label `repository` away from now on: what is counted is the sum over all repositories.
    pub(super) fn sum(&self) {
        self.sums.store(true, Ordering::Relaxed);
    }

    /// The label of a repository. `None` if it is left away.
    pub(super) fn repository(&self, repo: &RepoName) -> Option<String> {
        let mut known = self.repositories.lock();
        if known.len() < REPOSITORIES_MAX {
            known.insert(repo.clone());
        }
        if self.sums.load(Ordering::Relaxed) {
            return None;
        }
        Some(if known.contains(repo) { repo.to_string() } else { OTHER.to_owned() })
    }

    /// The labels of a series of a repository.
    pub(super) fn labels(&self, repo: &RepoName, of_series: Labels) -> Labels {
        self.repository(repo).map(|name| ("repository", name)).into_iter().chain(of_series).collect()
    }

    /// Takes room for this many series, if there is as much left.
    fn takes(&self, series: usize) -> bool {
        let most = SERIES_A_REPOSITORY * self.repositories.lock().len().max(1);
        let taken = |taken: usize| (taken + series <= most).then_some(taken + series);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }
}

/// The names that a metric has in its labels, `N` of them together.
#[derive(Debug)]
pub(super) struct Names<const N: usize> {
    room: Arc<Room>,
    /// The series that names add.
    series: usize,
    known: Mutex<BTreeSet<([String; N], &'static str)>>,
}

impl<const N: usize> Names<N> {
    /// Names that add this many series each time.
    pub(super) fn new(room: &Arc<Room>, series: usize) -> Self {
        Self { room: Arc::clone(room), series, known: Mutex::default() }
    }

    /// The names as they are counted in the series with this word, which is Hob's own.
    pub(super) fn of(&self, names: [&str; N], word: &'static str) -> [String; N] {
        let names = names.map(|name| name.chars().take(NAME_MAX).collect::<String>());
        let mut known = self.known.lock();
        if known.contains(&(names.clone(), word)) {
            return names;
        }
        if !self.room.takes(self.series) {
            return std::array::from_fn(|_| OTHER.to_owned());
        }
        known.insert((names.clone(), word));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement M9: a label has few values, no matter which names repositories use.
    #[test]
    fn names_beyond_the_room_are_one() {
        let room = Arc::new(Room::default());
        let pairs = Names::new(&room, SERIES_A_REPOSITORY / 2);
        let counted = |pair: [&str; 2]| pairs.of(pair, "").join(" ");
        assert_eq!([["a", "b"], ["a", "c"], ["b", "a"], ["a", "b"]].map(counted), ["a b", "a c", "other other", "a b"]);
        // Metrics share the room.
        assert_eq!(Names::new(&room, 1).of(["x"], ""), ["other"]);
        for repo in ["o/a", "o/b"] {
            room.repository(&repo.parse().unwrap());
        }
        assert_eq!(counted(["b", "a"]), "b a", "another repository brings room of its own");
    }

    #[test]
    fn a_repository_is_named_unless_sums_are_wanted() {
        let (room, repo) = (Room::default(), "o/n".parse().unwrap());
        let series = || vec![("end", "merged".to_owned())];
        assert_eq!(room.labels(&repo, series())[0], ("repository", "o/n".to_owned()));
        room.sum();
        assert_eq!(room.labels(&repo, series()), series());
        let many = Room::default();
        let names = (0..REPOSITORIES_MAX + 5).map(|n| format!("o/n{n}").parse().unwrap());
        let labels: BTreeSet<_> = names.map(|repo| many.repository(&repo)).collect();
        assert_eq!(labels.len(), REPOSITORIES_MAX + 1);
    }
}
