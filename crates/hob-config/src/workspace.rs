//! `[workspace]`: limits of mirrors, checkouts and commits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// The section `[workspace]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceSettings {
    /// The git program; a name is looked up in `PATH`.
    pub git: String,
    /// Prefix of Hob's branches, which are fetched in addition to the base branch.
    pub branch_prefix: String,
    /// How long one fetch or push may take, written `10m`.
    #[serde(with = "duration")]
    pub transfer_time: Duration,
    /// How long one local git command may take, a big checkout included.
    #[serde(with = "duration")]
    pub local_time: Duration,
    /// How long the checkout of an issue that is finished stays on the disk after its last use.
    #[serde(with = "duration")]
    pub keep: Duration,
    /// How many checkouts of issues that nobody works on stay for each repository; 0: all of them.
    pub checkouts: usize,
    /// How many MiB a repository's mirror and checkouts may have on the disk; 0: not limited.
    pub disk_mib: u64,
    /// How many files one commit may change.
    pub max_files: usize,
    /// How many MiB one committed file may have.
    pub max_file_mib: u64,
    /// How many KiB of a diff's text are kept.
    pub max_patch_kib: usize,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            git: "git".to_owned(),
            branch_prefix: "hob/".to_owned(),
            transfer_time: Duration::from_secs(600),
            local_time: Duration::from_secs(300),
            keep: Duration::from_secs(86_400),
            checkouts: 20,
            disk_mib: 51_200,
            max_files: 10_000,
            max_file_mib: 100,
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
