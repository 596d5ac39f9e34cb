//! A map that is shared between tasks and forgets its oldest keys.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use parking_lot::Mutex;

/// A map of at most `MAX` keys: a new one takes the place of the oldest. A key that gets another value stays as old as
/// it is.
#[derive(Debug)]
pub(super) struct BoundedMap<K, V, const MAX: usize>(Mutex<Entries<K, V>>);

#[derive(Debug)]
struct Entries<K, V> {
    values: HashMap<K, V>,
    /// The keys, oldest first.
    keys: VecDeque<K>,
}

impl<K, V, const MAX: usize> Default for BoundedMap<K, V, MAX> {
    fn default() -> Self {
        Self(Mutex::new(Entries { values: HashMap::new(), keys: VecDeque::new() }))
    }
}

impl<K: Hash + Eq + Clone, V: Clone, const MAX: usize> BoundedMap<K, V, MAX> {
    /// The value of the key.
    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.0.lock().values.get(key).cloned()
    }

    /// Sets the value of the key.
    pub(super) fn insert(&self, key: K, value: V) {
        let mut entries = self.0.lock();
        if entries.values.insert(key.clone(), value).is_some() {
            return;
        }
        entries.keys.push_back(key);
        if entries.keys.len() > MAX
            && let Some(oldest) = entries.keys.pop_front()
        {
            entries.values.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_takes_the_place_of_the_oldest() {
        let map = BoundedMap::<u8, char, 2>::default();
        for (key, value) in [(1, 'a'), (2, 'b'), (1, 'c'), (3, 'd')] {
            map.insert(key, value);
        }
        assert_eq!([1, 2, 3].map(|key| map.get(&key)), [None, Some('b'), Some('d')]);
        map.insert(2, 'e');
        assert_eq!(map.get(&2), Some('e'));
    }
}
