//! Where the operator's file of settings is found.

use std::path::PathBuf;

use crate::{SettingsError, standard::variable, variable_names::CONFIG};

/// Below the folder of a user's settings.
const OF_USER: &str = "hob/hob.toml";
/// Of the whole machine.
const OF_MACHINE: &str = "/etc/hob/hob.toml";

/// The operator's file: the one that the flag `--config` names, else `HOB_CONFIG`, else the user's, else the machine's. A file in the
/// current folder is never taken: it may be of a repository that somebody else wrote.
///
/// # Errors
/// [`SettingsError::Unreadable`] if Hob may not look.
pub fn operator_file(flag: Option<PathBuf>) -> Result<Option<PathBuf>, SettingsError> {
    if let Some(named) = flag.or_else(|| variable(CONFIG).map(PathBuf::from)) {
        return Ok(Some(named));
    }
    let home = || Some(PathBuf::from(variable("HOME")?).join(".config"));
    let user = variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    first_of(user.map(|folder| folder.join(OF_USER)).into_iter().chain([PathBuf::from(OF_MACHINE)]))
}

/// The first that is there. One that may not be looked at counts, so that its error is told.
fn first_of(places: impl Iterator<Item = PathBuf>) -> Result<Option<PathBuf>, SettingsError> {
    for place in places {
        match place.try_exists() {
            Ok(false) => {}
            Ok(true) => return Ok(Some(place)),
            Err(source) => return Err(SettingsError::Unreadable { path: place, source }),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_file_comes_before_the_machines() {
        let folder = tempfile::tempdir().unwrap();
        let [user, machine] = ["user.toml", "machine.toml"].map(|name| folder.path().join(name));
        let found = || first_of([user.clone(), machine.clone()].into_iter()).unwrap();
        assert_eq!(found(), None);
        std::fs::write(&machine, "").unwrap();
        assert_eq!(found().as_ref(), Some(&machine));
        std::fs::write(&user, "").unwrap();
        assert_eq!(found().as_ref(), Some(&user));
    }

    #[test]
    fn a_file_that_may_not_be_looked_at_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        // A file has nothing below it.
        let error = first_of(std::iter::once(file.join("hob.toml"))).unwrap_err().to_string();
        assert!(error.starts_with("the settings file `") && error.contains("cannot be read"), "{error}");
    }
}
