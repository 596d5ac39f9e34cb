//! Settings that cannot be used.

use std::path::PathBuf;

use config::ConfigError;

use crate::SecretFileError;

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
    #[error("unknown setting `{key}`{} `hob config show --all` prints all settings", hint(nearest, origin))]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it was given, if that is known.
        origin: Option<String>,
        /// The nearest known one.
        nearest: Option<String>,
    },
    /// A key of the repository's own settings.
    #[error("`{key}` is a setting of the repository{}: write it in its `{file}`", place(origin))]
    OfTheRepository {
        /// The key.
        key: String,
        /// Where it was given, if that is known.
        origin: Option<String>,
        /// The repository's file.
        file: &'static str,
    },
    /// A setting that is given under its old and its current name.
    #[error("`{old}` is the old name of `{new}`, and both are set: remove `{old}`")]
    GivenTwice {
        /// The old name.
        old: &'static str,
        /// The current one.
        new: &'static str,
    },
    /// A setting that is gone, and whose value must not be passed over.
    #[error("`{key}` is not a setting any more: {instead}")]
    Gone {
        /// The key.
        key: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// Constants that are changed where people work.
    #[error("`[testing]` changes what is constant, so it is refused at {0}: remove the section")]
    Testing(String),
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
    /// Settings that cannot be written out again.
    #[error("the settings cannot be shown: {0}")]
    Unshown(String),
    /// A value that is well formed but invalid.
    #[error("the setting `{key}` cannot be used: it is `{value}`; {allowed}{}", place(origin))]
    Senseless {
        /// The key.
        key: String,
        /// Where it was given, if that is known.
        origin: Option<String>,
        /// The value.
        value: String,
        /// What to write.
        allowed: String,
    },
}

impl SettingsError {
    /// The error with the place where its setting was given; `found` looks for it.
    pub(super) fn with_place(mut self, found: impl FnOnce(&str) -> Option<String>) -> Self {
        if let Self::UnknownKey { key, origin, .. }
        | Self::OfTheRepository { key, origin, .. }
        | Self::Senseless { key, origin, .. } = &mut self
        {
            *origin = found(key);
        }
        self
    }

    /// A value that is well formed but invalid.
    pub(super) fn senseless(key: impl Into<String>, value: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self::Senseless { key: key.into(), origin: None, value: value.into(), allowed: allowed.into() }
    }
}

/// Refuses the `value` of `key` unless it `holds`, with what is `allowed`.
///
/// # Errors
/// [`SettingsError::Senseless`].
pub(super) fn hold(holds: bool, key: &str, value: impl ToString, allowed: &str) -> Result<(), SettingsError> {
    if holds { Ok(()) } else { Err(SettingsError::senseless(key, value.to_string(), allowed)) }
}

fn place(origin: &Option<String>) -> String {
    origin.as_ref().map(|place| format!(" ({place})")).unwrap_or_default()
}

fn hint(nearest: &Option<String>, origin: &Option<String>) -> String {
    match (nearest, origin) {
        (Some(key), Some(place)) => format!(", did you mean `{key}`? It is {place};"),
        (Some(key), None) => format!(", did you mean `{key}`?"),
        (None, Some(place)) => format!(" ({place});"),
        (None, None) => ";".to_owned(),
    }
}
