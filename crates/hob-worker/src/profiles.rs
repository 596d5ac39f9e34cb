//! The profiles that an attempt has: of the base commit, of the operator's folder, and Hob's own. What cannot be read is a
//! warning in the catalog: the work goes on with what is there.

use std::{path::Path, time::Instant};

use hob_config::ProfileSettings;
use hob_domain::{
    Catalog, ProfileFiles, ProfileName, ProfileSource, Sha, is_profile_file, name_of_profile_file, parse_profile,
    ready_profiles,
};
use hob_forge::ForgeError;
use hob_workspace::{Remote, WorkspaceError, folder_profiles};

use crate::{WorkError, Worker, counters::loaded};

/// The catalog for an attempt from `base`, which was fetched. It asks the forge's API nothing; contents that the mirror
/// lacks come from its git server.
pub async fn base_catalog(worker: &Worker, remote: &Remote, base: &Sha) -> Catalog {
    let (settings, began) = (&worker.settings.profiles, Instant::now());
    let catalog = catalog(worker.workspace.profile_files(remote, base, settings.max).await, settings).await;
    loaded(began.elapsed(), catalog.unread_places);
    catalog
}

/// The catalog of a repository's files, and those that every repository has.
pub async fn catalog(of_repository: Result<ProfileFiles, WorkspaceError>, settings: &ProfileSettings) -> Catalog {
    let of_settings = match settings.folder.as_str() {
        "" => Ok(ProfileFiles::default()),
        folder => folder_profiles(Path::new(folder), settings.max).await,
    };
    let mut warnings: Vec<String> = Vec::new();
    let mut readable = |found: Result<ProfileFiles, WorkspaceError>, whose: &str| {
        let warn = |error| warnings.push(format!("the profiles of {whose} are not there: {error}"));
        found.map_err(warn).unwrap_or_default()
    };
    let places =
        [readable(of_repository, "the repository"), readable(of_settings, "`profiles.folder`"), ready_profiles()];
    let mut catalog = Catalog::of(places, settings.max);
    catalog.unread_places = warnings.len();
    catalog.warnings.splice(0..0, warnings);
    catalog
}

/// The profiles that a command may name: those that every repository has, and if one of `asked` is none of them, also the
/// repository's. The forge is asked for these, since no checkout is there yet: for the names of the files, and for what is asked for.
pub(super) async fn profile_names(worker: &Worker, base: &Sha, asked: &[&str]) -> Result<Vec<String>, WorkError> {
    let settings = &worker.settings.profiles;
    let everywhere = catalog(Ok(ProfileFiles::default()), settings).await;
    let mut names: Vec<String> = everywhere.profiles().map(|profile| profile.name.to_string()).collect();
    if asked.iter().all(|name| names.iter().any(|known| known == name)) {
        return Ok(names);
    }
    for (_, folder) in ProfileSource::IN_REPOSITORY {
        let files = worker.forge.repository().names(folder, base).await?;
        for file in files.iter().filter(|file| is_profile_file(file)).take(settings.max) {
            let Ok(name) = name_of_profile_file(file) else { continue };
            if !asked.contains(&name.as_str()) || is_profile(worker, base, (folder, file), &name).await? {
                names.push(name.to_string());
            }
        }
    }
    Ok(names)
}

/// Whether the file is a profile of this name.
async fn is_profile(
    worker: &Worker,
    base: &Sha,
    (folder, file): (&str, &str),
    name: &ProfileName,
) -> Result<bool, WorkError> {
    match worker.forge.repository().file(&format!("{folder}/{file}"), base).await {
        Ok(text) => {
            let profile = text.and_then(|text| parse_profile(file, text.as_bytes()).profile);
            Ok(profile.is_some_and(|profile| profile.name == *name))
        }
        Err(ForgeError::Unreadable { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row M5: what cannot be read leaves the others.
    #[tokio::test]
    async fn a_folder_that_is_gone_is_a_warning() {
        let settings = ProfileSettings { folder: "/no/such/folder".to_owned(), models: Vec::new(), max: 10 };
        let gone = Err(WorkspaceError::InvalidSha("x".to_owned()));
        let catalog = catalog(gone, &settings).await;
        assert_eq!((catalog.profiles().count(), catalog.warnings.len(), catalog.unread_places), (7, 2, 2));
        assert!(catalog.warnings[1].contains("`profiles.folder`"), "{:?}", catalog.warnings);
    }

    #[tokio::test]
    async fn a_profile_of_the_settings_hides_a_ready_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("writer.md"), "---\nname: writer\ndescription: Ours\n---\nWrite.").unwrap();
        let shown = folder.path().to_string_lossy().into_owned();
        let settings = ProfileSettings { folder: shown, models: Vec::new(), max: 10 };
        let catalog = catalog(Ok(ProfileFiles::default()), &settings).await;
        assert_eq!(catalog.get(&"writer".parse().unwrap()).unwrap().0.description, "Ours");
        assert!(catalog.warnings.is_empty(), "{:?}", catalog.warnings);
    }
}
