//! The conditional cache: `GET` answers with their `ETag`, so that a repeated read costs no quota.
//!
//! One connection has one identity, so the address is the whole key; if an address is read as several types, the last
//! one is kept. An answer stays for an hour after its last use: polls read the same addresses in a circle, and a bound
//! smaller than the circle would keep none of them. At the bound in bytes, which only more than a thousand repositories
//! reach, answers in use stay and new ones are not kept, so that a part of the circle is still free. Only the fields
//! that Hob reads are kept, about a tenth of a body.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hob_domain::Timestamp;

use crate::reply::Links;

/// How long an answer stays after its last use: longer than any pause between two polls.
const KEPT: Duration = Duration::from_secs(3_600);

/// The most bytes of answers: enough for 1,400 repositories with six waiting issues each, whose ledgers are most of it. A ledger that
/// finds no room is read by itself in each poll, though one query had told them all.
const CAPACITY: usize = 32 << 20;

/// Approximate overhead of the tables for one answer, in bytes: its part of their nodes, and of the allocator's four
/// pieces.
const ENTRY: usize = 256;

/// An answer that can be revalidated with its tag.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    /// The type that it was read as.
    pub(super) kind: &'static str,
    pub(super) etag: String,
    /// The JSON of the fields that were read.
    pub(super) body: Vec<u8>,
    pub(super) links: Links,
}

impl Cached {
    /// The approximate bytes that this answer of `path` takes.
    fn weight(&self, path: &str) -> usize {
        ENTRY + path.len() + self.etag.len() + self.links.bytes() + self.body.len()
    }
}

/// An answer, and its position in the order of use.
#[derive(Debug)]
struct Used {
    position: u64,
    answer: Cached,
}

/// Trees, which shrink again and grow in small steps; a hash table doubles.
#[derive(Debug, Default)]
struct Entries {
    entries: BTreeMap<Arc<str>, Used>,
    /// The paths in the order of their last use, with its time.
    used: BTreeMap<u64, (Timestamp, Arc<str>)>,
    uses: u64,
    bytes: usize,
}

impl Entries {
    fn get(&mut self, path: &str, now: Timestamp) -> Option<Cached> {
        let entry = self.entries.get_mut(path)?;
        self.uses += 1;
        let (_, path) = self.used.remove(&entry.position)?;
        entry.position = self.uses;
        self.used.insert(self.uses, (now, path));
        Some(entry.answer.clone())
    }

    fn take(&mut self, path: &str) -> Option<Cached> {
        let Used { position, answer } = self.entries.remove(path)?;
        self.used.remove(&position);
        self.bytes -= answer.weight(path);
        Some(answer)
    }

    /// Removes the least recently used answer if its last use was before `before`.
    fn take_oldest(&mut self, before: Timestamp) -> bool {
        let oldest = self.used.first_key_value().filter(|(_, (at, _))| *at < before);
        let Some(path) = oldest.map(|(_, (_, path))| Arc::clone(path)) else { return false };
        self.take(&path).is_some()
    }

    fn put(&mut self, path: &str, answer: Cached, now: Timestamp) {
        let is_new = self.take(path).is_none();
        while self.take_oldest(now - KEPT) {}
        let weight = answer.weight(path);
        // A changed list is the most valuable entry: it is read at each poll.
        while !is_new && self.bytes + weight > CAPACITY && self.take_oldest(Timestamp::MAX_UTC) {}
        if self.bytes + weight > CAPACITY {
            return;
        }
        self.uses += 1;
        self.bytes += weight;
        let path: Arc<str> = path.into();
        self.used.insert(self.uses, (now, Arc::clone(&path)));
        self.entries.insert(path, Used { position: self.uses, answer });
    }
}

/// The answers kept so far.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Entries>);

impl Cache {
    pub(super) fn get(&self, path: &str, now: Timestamp) -> Option<Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path, now)
    }

    /// Whether there is an answer for `path`; does not count as a use.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.contains_key(path)
    }

    /// Removes the answer for `path`.
    pub(super) fn forget(&self, path: &str) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take(path));
    }

    pub(super) fn put(&self, path: &str, mut answer: Cached, now: Timestamp) {
        if answer.body.len() <= CAPACITY / 4 {
            answer.body.shrink_to_fit();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).put(path, answer, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    /// An answer of `len` bytes.
    fn answer(tag: &str, len: usize) -> Cached {
        Cached { kind: "", etag: tag.to_owned(), body: vec![b' '; len], links: Links::default() }
    }

    /// How many of `count` answers were found when each is read in turn and stored if it is missing.
    fn hits_of_a_round(cache: &Cache, count: usize, len: usize, now: i64) -> usize {
        let mut hits = 0;
        for path in (0..count).map(|n| n.to_string()) {
            match cache.get(&path, at(now)) {
                Some(_) => hits += 1,
                None => cache.put(&path, answer("e", len), at(now)),
            }
        }
        hits
    }

    #[test]
    fn what_is_read_in_a_circle_stays_up_to_the_bound_and_a_part_of_it_beyond() {
        // As many answers as a thousand repositories with six waiting issues each: of those, ledgers are the longest.
        let (cache, count) = (Cache::default(), 1_000 * 9);
        assert_eq!(hits_of_a_round(&cache, count, 2_300, 0), 0);
        assert_eq!(hits_of_a_round(&cache, count, 2_300, 300), count);
        let (cache, count) = (Cache::default(), 20);
        for round in 0..3 {
            hits_of_a_round(&cache, count, CAPACITY / 10, round);
        }
        assert_eq!(hits_of_a_round(&cache, count, CAPACITY / 10, 3), 9);
    }

    #[test]
    fn what_nobody_asked_for_within_an_hour_makes_room() {
        let cache = Cache::default();
        for n in 0..9 {
            cache.put(&n.to_string(), answer("e", CAPACITY / 10), at(0));
        }
        assert!(cache.get("0", at(3_000)).is_some());
        cache.put("late", answer("e", CAPACITY / 10), at(3_601));
        let kept: Vec<String> = cache.0.lock().unwrap().entries.keys().map(ToString::to_string).collect();
        assert_eq!(kept, ["0", "late"]);
        cache.put("big", answer("e", CAPACITY / 2), at(3_601));
        assert!(cache.get("big", at(3_601)).is_none());
    }

    #[test]
    fn an_answer_takes_the_place_of_the_one_before_it_whatever_room_there_is() {
        let cache = Cache::default();
        for n in 0..10 {
            cache.put(&n.to_string(), answer("a", CAPACITY / 10 - 10_000), at(0));
        }
        cache.put("5", answer("b", CAPACITY / 5), at(1));
        assert_eq!(cache.get("5", at(1)).unwrap().etag, "b");
        let entries = cache.0.lock().unwrap();
        let kept: usize = entries.entries.iter().map(|(path, entry)| entry.answer.weight(path)).sum();
        assert_eq!((entries.entries.len(), entries.used.len(), entries.bytes), (9, 9, kept));
        assert!(kept <= CAPACITY);
    }

    #[test]
    fn an_answer_comes_back_as_it_was() {
        let cache = Cache::default();
        let links = Links { next: Some("page 2".to_owned()), ..Links::default() };
        cache.put("list", Cached { links: links.clone(), ..answer("e", 100) }, at(0));
        let back = cache.get("list", at(0)).unwrap();
        assert_eq!((back.etag.as_str(), back.body, back.links), ("e", vec![b' '; 100], links));
        cache.put("nothing", answer("n", 0), at(0));
        assert!(cache.get("nothing", at(0)).unwrap().body.is_empty());
    }
}
