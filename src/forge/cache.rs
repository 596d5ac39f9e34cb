//! The conditional cache: complete bodies of `GET` answers with their `ETag`, so that asking again costs no quota.
//!
//! One connection has one identity, so the address is the whole key. Bounded in bytes; what was not asked for the longest
//! time goes first, so that the lists of every poll outlive what was read of finished issues.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

/// Bytes of answers that are kept: the lists of 50 repositories, and what is read of some dozens of issues.
const CAPACITY: usize = 8 << 20;

/// About what the tables cost for one answer, in bytes: two paths' headers, their nodes, and the allocator's part.
const ENTRY: usize = 256;

/// An answer that can be had again with its tag.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub(super) etag: String,
    pub(super) body: Bytes,
    pub(super) next: Option<String>,
}

impl Cached {
    /// About how many bytes it takes to keep this answer of `path`.
    fn weight(&self, path: &str) -> usize {
        let next = self.next.as_ref().map_or(0, String::len);
        ENTRY + 2 * path.len() + self.etag.len() + next + self.body.len()
    }
}

#[derive(Debug, Default)]
struct Shelf {
    /// Each answer with the moment of its last use.
    entries: HashMap<String, (u64, Cached)>,
    /// The paths by that moment.
    used: BTreeMap<u64, String>,
    clock: u64,
    bytes: usize,
}

impl Shelf {
    fn take(&mut self, path: &str) -> Option<Cached> {
        let (moment, answer) = self.entries.remove(path)?;
        self.used.remove(&moment);
        self.bytes -= answer.weight(path);
        Some(answer)
    }

    fn put(&mut self, path: &str, answer: Cached) {
        self.clock += 1;
        self.bytes += answer.weight(path);
        self.used.insert(self.clock, path.to_owned());
        self.entries.insert(path.to_owned(), (self.clock, answer));
    }
}

/// The answers kept so far.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Shelf>);

impl Cache {
    pub(super) fn get(&self, path: &str) -> Option<Cached> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = shelf.take(path)?;
        shelf.put(path, answer.clone());
        Some(answer)
    }

    pub(super) fn put(&self, path: &str, answer: Cached) {
        if answer.body.len() > CAPACITY / 4 {
            return;
        }
        // A body may be a piece of the connection's buffer, which it would keep whole.
        let answer = Cached { body: Bytes::copy_from_slice(&answer.body), ..answer };
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.take(path);
        shelf.put(path, answer);
        while shelf.bytes > CAPACITY {
            let Some((_, oldest)) = shelf.used.pop_first() else { break };
            if let Some((_, gone)) = shelf.entries.remove(&oldest) {
                shelf.bytes -= gone.weight(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_the_longest_makes_room() {
        let cache = Cache::default();
        let answer = |len: usize| Cached { etag: "e".to_owned(), body: Bytes::from(vec![0; len]), next: None };
        for n in 0..20 {
            cache.put(&n.to_string(), answer(CAPACITY / 10));
            assert!(cache.get("0").is_some(), "what each poll asks for stays");
        }
        assert!(cache.get("1").is_none() && cache.get("19").is_some());
        cache.put("big", answer(CAPACITY / 2));
        assert!(cache.get("big").is_none());
    }

    #[test]
    fn an_answer_takes_the_place_of_the_one_before_it() {
        let cache = Cache::default();
        let answer = |tag: &str| Cached { etag: tag.to_owned(), body: Bytes::from(vec![0; CAPACITY / 4]), next: None };
        for tag in ["a", "b", "c", "d", "e"] {
            cache.put("path", answer(tag));
        }
        cache.put("other", answer("o"));
        let kept = answer("e").weight("path") + answer("o").weight("other");
        assert_eq!((cache.get("path").unwrap().etag, cache.0.lock().unwrap().bytes), ("e".to_owned(), kept));
    }
}
