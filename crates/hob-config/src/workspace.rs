//! `[workspace]`: limits of mirrors, checkouts and commits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{duration, size};

/// The section `[workspace]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// The git program; a name is looked up in `PATH`.
    pub git: String,
    /// Prefix of Hob's branches; they are fetched in addition to the base branch.
    pub branch_prefix: String,
    /// The largest file that a commit may have, in bytes.
    #[serde(with = "size")]
    pub max_file: u64,
    /// Time limit of one fetch or push, written `10m`.
    #[serde(with = "duration")]
    pub transfer_time: Duration,
    /// Time limit of one local git command, including a large checkout.
    #[serde(with = "duration")]
    pub local_time: Duration,
    /// How long a finished issue's checkout stays on the disk after its last use.
    #[serde(with = "duration")]
    pub keep: Duration,
    /// How many idle checkouts stay for each repository; 0 means all of them.
    pub checkouts: usize,
    /// The most files that one commit may change.
    pub max_files: usize,
    /// The most KiB of a diff's text that are kept.
    pub max_patch_kib: usize,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            git: "git".to_owned(),
            branch_prefix: "hob/".to_owned(),
            max_file: 100 << 20,
            transfer_time: Duration::from_secs(600),
            local_time: Duration::from_secs(300),
            keep: Duration::from_secs(600),
            checkouts: 20,
            max_files: 10_000,
            max_patch_kib: 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_text_and_unknown_keys_are_refused() {
        let settings: WorkspaceSettings = toml::from_str("transfer_time = \"2m\"").unwrap();
        assert_eq!(settings.transfer_time, Duration::from_secs(120));
        assert_eq!(settings.max_files, 10_000);
        assert!(toml::from_str::<WorkspaceSettings>("max_file = 1").is_err());
    }
}
