//! Records under keys, which remember their changes since they were last stored.

use std::{
    borrow::{Borrow, Cow},
    collections::{BTreeMap, BTreeSet},
};

/// Changes by key: the new value, or `None` if the record is gone.
pub(in super::super) type Changes<'s, K, V> = BTreeMap<K, Option<Cow<'s, V>>>;

/// Records in order of their keys. Taking one to change it marks it as changed.
#[derive(Debug, Clone)]
pub(in super::super) struct Records<K, V> {
    all: BTreeMap<K, V>,
    changed: BTreeSet<K>,
}

impl<K, V> Default for Records<K, V> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), changed: BTreeSet::new() }
    }
}

impl<K: Ord + Clone, V: Clone> Records<K, V> {
    /// The record of this key.
    pub(in super::super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.all.get(key)
    }

    /// The record of this key, to change it.
    pub(in super::super) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (key, _) = self.all.get_key_value(key)?;
        self.changed.insert(key.clone());
        self.all.get_mut(key.clone().borrow())
    }

    /// Adds a record, or replaces the one of this key.
    pub(in super::super) fn insert(&mut self, key: K, value: V) {
        self.changed.insert(key.clone());
        self.all.insert(key, value);
    }

    /// Changes the records that `wanted` selects.
    pub(in super::super) fn edit(&mut self, wanted: impl Fn(&V) -> bool, mut change: impl FnMut(&mut V)) {
        for (key, value) in self.all.iter_mut().filter(|(_, value)| wanted(value)) {
            self.changed.insert(key.clone());
            change(value);
        }
    }

    /// Replaces each record by the result of `changed`.
    pub(in super::super) fn try_edit<E>(&mut self, changed: impl Fn(&V) -> Result<V, E>) -> Result<(), E> {
        for (key, value) in &mut self.all {
            *value = changed(value)?;
            self.changed.insert(key.clone());
        }
        Ok(())
    }

    /// Keeps the records that `wanted` selects.
    pub(in super::super) fn retain(&mut self, wanted: impl Fn(&V) -> bool) {
        let changed = &mut self.changed;
        self.all.retain(|key, value| {
            let keeps = wanted(value);
            if !keeps {
                changed.insert(key.clone());
            }
            keeps
        });
    }

    /// Every record, by key.
    pub(in super::super) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.all.values()
    }

    /// The greatest key.
    pub(in super::super) fn last_key(&self) -> Option<&K> {
        self.all.last_key_value().map(|(key, _)| key)
    }

    /// The changes since the last call.
    pub(in super::super) fn take_changes(&mut self) -> Changes<'_, K, V> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|key| (key.clone(), self.all.get(&key).map(Cow::Borrowed))).collect()
    }

    /// Every record, as if all had changed.
    pub(in super::super) fn as_changes(&self) -> Changes<'_, K, V> {
        self.all.iter().map(|(key, value)| (key.clone(), Some(Cow::Borrowed(value)))).collect()
    }

    /// Applies stored changes; they do not count as changes.
    pub(in super::super) fn replay(&mut self, changes: Changes<'_, K, V>) {
        for (key, value) in changes {
            match value {
                Some(value) => self.all.insert(key, value.into_owned()),
                None => self.all.remove(&key),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_told_and_told_once() {
        let mut records = Records::default();
        records.insert(1, "a".to_owned());
        records.insert(2, "b".to_owned());
        assert_eq!(records.take_changes().len(), 2);
        assert!(records.get(&1).is_some() && records.take_changes().is_empty());
        records.get_mut(&2).unwrap().push('!');
        records.retain(|value| value != "a");
        let told: Vec<_> = records.take_changes().into_iter().map(|(k, v)| (k, v.map(Cow::into_owned))).collect();
        assert_eq!(told, [(1, None), (2, Some("b!".to_owned()))]);
        records.edit(|value| value == "x", String::clear);
        assert!(records.take_changes().is_empty());
    }
}
