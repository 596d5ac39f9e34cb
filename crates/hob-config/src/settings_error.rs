//! Settings that cannot be used.

use std::path::PathBuf;

use config::ConfigError;

use crate::{Renamed, SecretFileError};

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file does not exist or cannot be read.
    #[error("the settings file `{path}` cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error("the settings file `{path}` cannot be used: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line and what is wrong there.
        reason: String,
    },
    /// A key that Hob does not know.
    #[error("unknown setting `{key}`{} `hob settings` prints all settings", hint(nearest))]
    UnknownKey {
        /// The key.
        key: String,
        /// The nearest known one.
        nearest: Option<String>,
    },
    /// A setting that is given under its old and its current name.
    #[error("`{}` is the old name of `{}`, and both are set: remove `{}`", .0.old, .0.new, .0.old)]
    GivenTwice(Renamed),
    /// A value of the wrong kind.
    #[error("invalid setting: {0}")]
    Invalid(#[from] ConfigError),
    /// A file that should provide a token or key.
    #[error(transparent)]
    SecretFile(#[from] SecretFileError),
    /// A variable that looks like a setting but is not one.
    #[error("unknown variable `{name}`, did you mean `{nearest}`?")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// The nearest known one.
        nearest: String,
    },
    /// A value that is well formed but invalid.
    #[error("the setting `{key}` cannot be used: it is `{value}`; {allowed}")]
    Senseless {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What to write.
        allowed: String,
    },
}

/// Refuses the `value` of `key` unless it `holds`, with what is `allowed`.
///
/// # Errors
/// [`SettingsError::Senseless`].
pub(super) fn hold(holds: bool, key: &str, value: impl ToString, allowed: &str) -> Result<(), SettingsError> {
    let refused =
        || SettingsError::Senseless { key: key.to_owned(), value: value.to_string(), allowed: allowed.to_owned() };
    if holds { Ok(()) } else { Err(refused()) }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(|| ";".to_owned(), |key| format!(", did you mean `{key}`?"))
}
