//! The forge's current temper: the moods that are on, their draws, and the objects that are too new to be seen.
//!
//! # Guarantees
//! A draw follows from the seed, the mood, its subject, and the number of earlier draws about it: concurrent requests
//! change nothing.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use chrono::TimeDelta;
use sha2::{Digest, Sha256};

use super::moods::{Mood, Moods};
use crate::names::Timestamp;

/// The most things that are counted or remembered; then all of them are forgotten.
const REMEMBERED_MAX: usize = 100_000;

/// A number that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Draw(u64);

impl Draw {
    /// One of these.
    pub(super) fn among<T: Copy>(self, choices: &[T]) -> Option<T> {
        let count = u64::try_from(choices.len()).ok().filter(|count| *count > 0)?;
        usize::try_from((self.0 >> 32) % count).ok().and_then(|index| choices.get(index)).copied()
    }

    /// Whether it is below this many of a hundred.
    fn is_within(self, percent: u8) -> bool {
        self.0 % 100 < u64::from(percent)
    }
}

/// The moods that are on, and what they need to know.
#[derive(Debug, Default)]
pub(super) struct Temper {
    /// One bit a mood, so that a forge without moods pays nothing.
    on: AtomicU32,
    drawn: Mutex<Drawn>,
}

#[derive(Debug, Default)]
struct Drawn {
    moods: Moods,
    /// The number of draws about each thing.
    asked: HashMap<(Mood, String), u64>,
    /// The time at which each thing was made.
    made: HashMap<(Mood, String), Timestamp>,
}

fn bit(mood: Mood) -> u32 {
    1 << mood as u8
}

impl Temper {
    /// Replaces the moods, and restarts their draws.
    pub(super) fn set(&self, moods: Moods) {
        let on = moods.on().map(bit).fold(0, |all, one| all | one);
        *self.lock() = Drawn { moods, ..Drawn::default() };
        self.on.store(on, Ordering::Relaxed);
    }

    /// Begins the draws again.
    pub(super) fn forget(&self) {
        let mut drawn = self.lock();
        (drawn.asked, drawn.made) = (HashMap::new(), HashMap::new());
    }

    /// Does something while no mood is on.
    pub(super) fn calmly<T>(&self, work: impl FnOnce() -> T) -> T {
        let on = self.on.swap(0, Ordering::Relaxed);
        let done = work();
        self.on.store(on, Ordering::Relaxed);
        done
    }

    /// Whether this mood is on.
    pub(super) fn is(&self, mood: Mood) -> bool {
        self.on.load(Ordering::Relaxed) & bit(mood) != 0
    }

    /// Draws about `what`, another number each time. `None` if the mood is off.
    pub(super) fn draw(&self, mood: Mood, what: &str) -> Option<Draw> {
        if !self.is(mood) {
            return None;
        }
        let mut drawn = self.lock();
        if drawn.asked.len() >= REMEMBERED_MAX {
            drawn.asked.clear();
        }
        let asked = drawn.asked.entry((mood, what.to_owned())).or_default();
        *asked += 1;
        let asked = *asked;
        Some(number(drawn.moods.seed(), mood, what, asked))
    }

    /// The same; `None` also if this draw does not hit.
    pub(super) fn hits(&self, mood: Mood, what: &str) -> Option<Draw> {
        let draw = self.draw(mood, what)?;
        draw.is_within(self.lock().moods.percent()).then_some(draw)
    }

    /// The permanent draw about `what`; `None` if it does not hit.
    pub(super) fn always_hits(&self, mood: Mood, what: &str) -> Option<Draw> {
        if !self.is(mood) {
            return None;
        }
        let drawn = self.lock();
        let draw = number(drawn.moods.seed(), mood, what, 0);
        draw.is_within(drawn.moods.percent()).then_some(draw)
    }

    /// Remembers when `what` was made.
    pub(super) fn note(&self, mood: Mood, what: String, now: Timestamp) {
        if !self.is(mood) {
            return;
        }
        let mut drawn = self.lock();
        if drawn.made.len() >= REMEMBERED_MAX {
            drawn.made.clear();
        }
        drawn.made.insert((mood, what), now);
    }

    /// Whether `what` was made within this time.
    pub(super) fn is_fresh(&self, mood: Mood, what: &str, lag: TimeDelta, now: Timestamp) -> bool {
        self.is(mood) && self.lock().made.get(&(mood, what.to_owned())).is_some_and(|made| now - *made < lag)
    }

    fn lock(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number that looks random, always the same for the same things.
fn number(seed: u64, mood: Mood, what: &str, asked: u64) -> Draw {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(asked.to_be_bytes());
    hash.update(mood.name());
    hash.update([0]);
    hash.update(what);
    Draw(hash.finalize().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temper(seed: u64) -> Temper {
        let temper = Temper::default();
        temper.set(Moods::new([Mood::RefLag], seed));
        temper
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let hits = |seed| {
            let temper = temper(seed);
            (0..1_000).map(|_| temper.hits(Mood::RefLag, "a")).collect::<Vec<_>>()
        };
        assert_eq!(hits(1), hits(1));
        assert_ne!(hits(1), hits(2));
        assert!((150..250).contains(&hits(1).iter().flatten().count()), "20 of a hundred");
    }

    #[test]
    fn a_draw_does_not_depend_on_what_else_is_asked() {
        let (alone, busy) = (temper(3), temper(3));
        for round in 0..100 {
            busy.draw(Mood::RefLag, "b");
            assert_eq!(alone.draw(Mood::RefLag, "a"), busy.draw(Mood::RefLag, "a"), "{round}");
        }
    }

    #[test]
    fn a_mood_that_is_off_draws_and_remembers_nothing() {
        let (temper, now) = (temper(3), Timestamp::UNIX_EPOCH);
        assert_eq!(temper.draw(Mood::Tags, "a"), None);
        temper.note(Mood::Tags, "a".to_owned(), now);
        assert!(!temper.is_fresh(Mood::Tags, "a", TimeDelta::seconds(1), now));
        temper.note(Mood::RefLag, "a".to_owned(), now);
        assert!(temper.is_fresh(Mood::RefLag, "a", TimeDelta::seconds(1), now + TimeDelta::milliseconds(999)));
        assert!(!temper.is_fresh(Mood::RefLag, "a", TimeDelta::seconds(1), now + TimeDelta::seconds(1)));
        temper.set(Moods::default());
        assert_eq!(temper.draw(Mood::RefLag, "a"), None);
    }
}
