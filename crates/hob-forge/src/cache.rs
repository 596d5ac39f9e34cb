//! The conditional cache: complete bodies of `GET` answers with their `ETag`, so that asking again costs no quota.
//!
//! One connection has one identity, so the address is the whole key. Bounded in bytes; what was not asked for the longest
//! time goes first, so that the lists of every poll outlive what was read of finished issues. Bodies are kept compressed:
//! the lists of a forge repeat the same names and addresses all the time, and take a fifth of their size or less.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};

use crate::reply::Links;

/// Bytes of answers that are kept, as they are kept: the lists of 50 repositories, and what is read of some dozens of
/// issues.
const CAPACITY: usize = 2 << 20;

/// About what the tables cost for one answer, in bytes: its part of their nodes, and the allocator's of four pieces.
const ENTRY: usize = 256;

/// An answer that can be had again with its tag.
#[derive(Debug, Clone)]
pub(super) struct Cached {
    pub(super) etag: String,
    pub(super) body: Bytes,
    pub(super) links: Links,
}

/// An answer as it is kept.
#[derive(Debug)]
struct Packed {
    /// The moment of its last use.
    used: u64,
    etag: String,
    body: Box<[u8]>,
    links: Links,
}

impl Packed {
    /// About how many bytes it takes to keep this answer of `path`.
    fn weight(&self, path: &str) -> usize {
        ENTRY + path.len() + self.etag.len() + self.links.bytes() + self.body.len()
    }

    fn unpacked(&self) -> Option<Cached> {
        let body = decompress_size_prepended(&self.body).ok()?.into();
        Some(Cached { etag: self.etag.clone(), body, links: self.links.clone() })
    }
}

/// Trees, which shrink again and grow by little, where a hash table doubles.
#[derive(Debug, Default)]
struct Entries {
    entries: BTreeMap<Arc<str>, Packed>,
    /// The paths by the moment of their last use.
    used: BTreeMap<u64, Arc<str>>,
    clock: u64,
    bytes: usize,
}

impl Entries {
    fn get(&mut self, path: &str) -> Option<Cached> {
        let answer = self.entries.get_mut(path)?;
        self.clock += 1;
        let path = self.used.remove(&answer.used)?;
        answer.used = self.clock;
        self.used.insert(self.clock, path);
        answer.unpacked()
    }

    fn take(&mut self, path: &str) {
        if let Some(answer) = self.entries.remove(path) {
            self.used.remove(&answer.used);
            self.bytes -= answer.weight(path);
        }
    }

    fn put(&mut self, path: &str, answer: Packed) {
        self.take(path);
        self.clock += 1;
        self.bytes += answer.weight(path);
        let path: Arc<str> = path.into();
        self.used.insert(self.clock, Arc::clone(&path));
        self.entries.insert(path, Packed { used: self.clock, ..answer });
        while self.bytes > CAPACITY {
            let Some((_, oldest)) = self.used.pop_first() else { break };
            if let Some(gone) = self.entries.remove(&oldest) {
                self.bytes -= gone.weight(&oldest);
            }
        }
    }
}

/// The answers kept so far.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Entries>);

impl Cache {
    pub(super) fn get(&self, path: &str) -> Option<Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path)
    }

    /// Keeps no answer of `path` any more.
    pub(super) fn forget(&self, path: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(path);
    }

    pub(super) fn put(&self, path: &str, answer: Cached) {
        let body = compress_prepend_size(&answer.body).into_boxed_slice();
        if body.len() <= CAPACITY / 4 {
            let packed = Packed { used: 0, etag: answer.etag, body, links: answer.links };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).put(path, packed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of so many bytes that cannot be compressed.
    fn noise(tag: &str, len: usize) -> Cached {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        Cached { etag: tag.to_owned(), body: (0..len).map(|_| next()).collect(), links: Links::default() }
    }

    #[test]
    fn what_was_not_asked_for_the_longest_makes_room() {
        let cache = Cache::default();
        for n in 0..20 {
            cache.put(&n.to_string(), noise("e", CAPACITY / 10));
            assert!(cache.get("0").is_some(), "what each poll asks for stays");
        }
        assert!(cache.get("1").is_none() && cache.get("19").is_some());
        cache.put("big", noise("e", CAPACITY / 2));
        assert!(cache.get("big").is_none());
    }

    #[test]
    fn an_answer_takes_the_place_of_the_one_before_it() {
        let cache = Cache::default();
        for tag in ["a", "b", "c", "d", "e"] {
            cache.put("path", noise(tag, CAPACITY / 5));
        }
        cache.put("other", noise("o", CAPACITY / 5));
        assert_eq!(cache.get("path").unwrap().etag, "e");
        let entries = cache.0.lock().unwrap();
        let kept: usize = entries.entries.iter().map(|(path, answer)| answer.weight(path)).sum();
        assert_eq!((entries.entries.len(), entries.used.len(), entries.bytes), (2, 2, kept));
    }

    #[test]
    fn an_answer_comes_back_as_it_was_and_takes_less() {
        let cache = Cache::default();
        let list =
            r#"{"user":{"login":"ann","url":"https://api.github.com/users/ann"},"labels":["code"]},"#.repeat(100);
        let links = Links { next: Some("page 2".to_owned()), ..Links::default() };
        let answer = Cached { etag: "e".to_owned(), body: list.clone().into(), links: links.clone() };
        cache.put("list", answer);
        let back = cache.get("list").unwrap();
        assert_eq!((back.etag.as_str(), back.body, back.links), ("e", list.clone().into(), links));
        assert!(cache.0.lock().unwrap().bytes * 5 < list.len());
        cache.put("nothing", noise("n", 0));
        assert_eq!(cache.get("nothing").unwrap().body, "");
    }
}
