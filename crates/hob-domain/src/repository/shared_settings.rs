//! The settings that all workers of a repository have to share. Each worker applies its own to the ledgers that all of them write, so
//! with two sets the loosest limit would win. The record of the repository says which set the running attempts began with.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::WorkerId;

/// Those of a worker that are not the defaults: by key, how the hash of the value begins. Everybody who can read the repository reads its
/// ledger, and the values are the operator's.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SharedSettings(BTreeMap<String, String>);

impl SharedSettings {
    /// Of values by key, as they are written.
    pub fn new(values: impl IntoIterator<Item = (String, String)>) -> Self {
        let hashed = |value: &str| -> String {
            Sha256::digest(value.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
        };
        Self(values.into_iter().map(|(key, value)| (key, hashed(&value))).collect())
    }

    /// These without the `keys` that something else decides for all workers.
    pub fn without<'a>(mut self, keys: impl IntoIterator<Item = &'a str>) -> Self {
        for key in keys {
            self.0.remove(key);
        }
        self
    }

    /// The keys in which the two differ, in their order.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let keys: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        keys.into_iter().filter(|key| self.0.get(*key) != other.0.get(*key)).cloned().collect()
    }
}

/// The settings of the attempt that began last, and whose they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsInUse {
    /// The worker.
    pub by: WorkerId,
    /// Its settings.
    pub values: SharedSettings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_workers_differ_in_what_one_of_them_sets_otherwise() {
        let of = |values: &[(&str, &str)]| {
            SharedSettings::new(values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())))
        };
        let (first, second) =
            (of(&[("budget.day", "7.0"), ("plan", "\"large\"")]), of(&[("budget.day", "8.0"), ("plan", "\"large\"")]));
        assert_eq!(first.differing(&second), ["budget.day"]);
        assert_eq!(first.differing(&SharedSettings::default()), ["budget.day", "plan"]);
        assert_eq!(SharedSettings::default().differing(&first), ["budget.day", "plan"]);
        assert!(first.differing(&first.clone()).is_empty());
        assert!(
            first.clone().without(["budget.day", "jobs"]).differing(&second.clone().without(["budget.day"])).is_empty()
        );
        assert!(!serde_json::to_string(&first).unwrap().contains("large"));
    }
}
