//! The places that profiles come from, in order of precedence.

use serde::Serialize;

use crate::profile::profile_name::{InvalidProfileName, ProfileName};

/// The largest file of a profile, in bytes.
pub const PROFILE_MAX: usize = 64 * 1024;

/// A place of profiles. If several places have a profile of the same name, the first place's is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileSource {
    /// `.github/agents` of the base branch.
    GithubAgents,
    /// `.claude/agents` of the base branch.
    ClaudeAgents,
    /// The folder that the settings name.
    Settings,
    /// Hob itself.
    Ready,
}

impl ProfileSource {
    /// The folders of a repository that contain profiles.
    pub const IN_REPOSITORY: [(Self, &str); 2] =
        [(Self::GithubAgents, ".github/agents"), (Self::ClaudeAgents, ".claude/agents")];

    /// Whether the repository's writers wrote it.
    pub fn is_repository(self) -> bool {
        match self {
            Self::GithubAgents | Self::ClaudeAgents => true,
            Self::Settings | Self::Ready => false,
        }
    }
}

impl std::fmt::Display for ProfileSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::GithubAgents => ".github/agents",
            Self::ClaudeAgents => ".claude/agents",
            Self::Settings => "settings",
            Self::Ready => "Hob",
        })
    }
}

/// A file that should be a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFile {
    /// The place.
    pub source: ProfileSource,
    /// The file's name there.
    pub name: String,
    /// Its content, or why it was not read.
    pub content: Result<Vec<u8>, Unread>,
}

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is a link, a folder or something else.
    #[error("it is not a regular file")]
    NotRegular,
    /// It has more bytes than are read.
    #[error("the file has {0} bytes, more than {PROFILE_MAX}")]
    TooLarge(u64),
    /// The mirror lacks its content.
    #[error("its content is not there: fetch it first")]
    NotFetched,
    /// The disk or the forge failed, in its own words.
    #[error("{0}")]
    Failed(String),
}

/// The files of one place.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ProfileFiles {
    /// Those that were read, in the order of their names.
    pub files: Vec<ProfileFile>,
    /// How many more there are.
    pub left_out: usize,
}

/// The name of the profile in a file that does not name it.
///
/// # Errors
/// [`InvalidProfileName`] if no valid name can be made from the file's.
pub fn name_of_file(file: &str) -> Result<ProfileName, InvalidProfileName> {
    let stem = file.strip_suffix(".md").unwrap_or(file);
    stem.strip_suffix(".agent").unwrap_or(stem).to_ascii_lowercase().replace(['.', ' '], "-").parse()
}

/// Whether a file of this name should be a profile. A folder may have a `README.md` about itself.
pub fn is_profile_file(name: &str) -> bool {
    name.ends_with(".md") && !name.eq_ignore_ascii_case("README.md") && !name.starts_with('.')
}
