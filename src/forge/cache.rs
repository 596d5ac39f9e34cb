//! The conditional cache: complete bodies of `GET` answers with their `ETag`, so that asking again costs no quota.
//!
//! One client has one token, so the address is the whole key. Bounded in bytes; the oldest entries go first.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

/// Bytes of bodies that are kept.
const CAPACITY: usize = 32 << 20;

/// An answer that can be had again with its tag.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub(super) etag: String,
    pub(super) body: Bytes,
    pub(super) next: Option<String>,
}

#[derive(Debug, Default)]
struct Shelf {
    entries: HashMap<String, Cached>,
    order: VecDeque<String>,
    bytes: usize,
}

/// The answers kept so far.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Shelf>);

impl Cache {
    pub(super) fn get(&self, path: &str) -> Option<Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.get(path).cloned()
    }

    pub(super) fn put(&self, path: &str, answer: Cached) {
        if answer.body.len() > CAPACITY / 8 {
            return;
        }
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.bytes += answer.body.len();
        match shelf.entries.insert(path.to_owned(), answer) {
            Some(old) => shelf.bytes -= old.body.len(),
            None => shelf.order.push_back(path.to_owned()),
        }
        while shelf.bytes > CAPACITY {
            let Some(oldest) = shelf.order.pop_front() else { break };
            if let Some(gone) = shelf.entries.remove(&oldest) {
                shelf.bytes -= gone.body.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_make_room() {
        let cache = Cache::default();
        let answer = |len: usize| Cached { etag: "e".to_owned(), body: Bytes::from(vec![0; len]), next: None };
        for n in 0..20 {
            cache.put(&n.to_string(), answer(CAPACITY / 10));
        }
        assert!(cache.get("0").is_none() && cache.get("19").is_some());
        cache.put("big", answer(CAPACITY / 4));
        assert!(cache.get("big").is_none());
    }
}
