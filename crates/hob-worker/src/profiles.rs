//! The profiles of an attempt: those of the base commit, of the operator's folder, and Hob's own. An unreadable one is
//! a warning in the catalog: the work continues with the others.

use std::path::Path;

use hob_config::ProfileSettings;
use hob_domain::{
    Catalog, CatalogEntry, ProfileFile, ProfileFiles, ProfileName, ProfileSource, Sha, Unread, is_profile_file,
    name_of_profile_file, ready_profiles,
};
use hob_forge::ForgeError;
use hob_workspace::{Remote, WorkspaceError, folder_profiles};

use crate::{WorkError, Worker, metrics::METRICS};

/// The catalog for an attempt from `base`, a fetched commit. It does not use the forge's API; contents that the mirror
/// lacks come from its git server.
pub async fn base_catalog(worker: &Worker, remote: &Remote, base: &Sha) -> Catalog {
    let settings = &worker.settings.profiles;
    let catalog = catalog(worker.workspace.profile_files(remote, base, settings.max).await, settings).await;
    METRICS.profiles.read(catalog.unread_places);
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
        let warn = |error| warnings.push(format!("cannot read the profiles of {whose}: {error}"));
        found.map_err(warn).unwrap_or_default()
    };
    let places =
        [readable(of_repository, "the repository"), readable(of_settings, "`profiles.folder`"), ready_profiles()];
    let mut catalog = Catalog::new(places, settings.max);
    catalog.unread_places = warnings.len();
    catalog.warnings.splice(0..0, warnings);
    catalog
}

/// The catalog for the commit `base`, from the forge's API, for callers without a checkout. It asks for each file.
pub(super) async fn forge_catalog(worker: &Worker, base: &Sha) -> Result<Catalog, WorkError> {
    let settings = &worker.settings.profiles;
    let mut found = ProfileFiles::default();
    for (source, folder) in ProfileSource::IN_REPOSITORY {
        let files = profile_files(worker, folder, base).await?;
        found.left_out += files.len().saturating_sub(settings.max);
        for name in files.into_iter().take(settings.max) {
            found.files.extend(profile_file(worker, base, source, folder, name).await?);
        }
    }
    Ok(catalog(Ok(found), settings).await)
}

/// The profiles that a command or the repository may name.
#[derive(Debug, Default)]
pub(super) struct KnownProfiles {
    /// Their names.
    pub(super) names: Vec<String>,
    /// Names whose file is damaged, each with the problem.
    pub(super) damaged: Vec<(String, String)>,
}

impl KnownProfiles {
    /// Adds what a catalog knows of the names in `asked`.
    fn judge(&mut self, catalog: &Catalog, asked: &[&str]) {
        for name in asked {
            let Ok(profile) = name.parse::<ProfileName>() else { continue };
            if let Some(fault) = catalog.damaged(&profile).and_then(CatalogEntry::fault) {
                self.damaged.push(((*name).to_owned(), fault));
            }
        }
    }
}

/// The profiles that may be named: the built-in and the operator's, and if one of `asked` is not among them, also the
/// repository's. These come from the forge, since there is no checkout yet: the names of the files, and the requested
/// files.
pub(super) async fn known_profiles(worker: &Worker, base: &Sha, asked: &[&str]) -> Result<KnownProfiles, WorkError> {
    let settings = &worker.settings.profiles;
    let everywhere = catalog(Ok(ProfileFiles::default()), settings).await;
    let names = everywhere.profiles().map(|profile| profile.name.to_string()).collect();
    let mut known = KnownProfiles { names, damaged: Vec::new() };
    known.judge(&everywhere, asked);
    if asked.iter().all(|name| known.names.iter().any(|known| known == name)) {
        return Ok(known);
    }
    for (source, folder) in ProfileSource::IN_REPOSITORY {
        for file in profile_files(worker, folder, base).await?.into_iter().take(settings.max) {
            let Ok(name) = name_of_profile_file(&file) else { continue };
            if !asked.contains(&name.as_str()) {
                known.names.push(name.to_string());
                continue;
            }
            let files = Vec::from_iter(profile_file(worker, base, source, folder, file).await?);
            let of_file = Catalog::new([ProfileFiles { files, left_out: 0 }], 1);
            if of_file.get(&name).is_some() {
                known.names.push(name.to_string());
            }
            known.judge(&of_file, asked);
        }
    }
    known.damaged.retain(|(name, _)| !known.names.contains(name));
    Ok(known)
}

/// The names of the files of profiles in a folder.
async fn profile_files(worker: &Worker, folder: &str, base: &Sha) -> Result<Vec<String>, WorkError> {
    let mut files = worker.forge.repository().names(folder, base).await?;
    files.retain(|file| is_profile_file(file));
    Ok(files)
}

/// A file from the forge; `None` if it does not exist.
async fn profile_file(
    worker: &Worker,
    base: &Sha,
    source: ProfileSource,
    folder: &str,
    name: String,
) -> Result<Option<ProfileFile>, WorkError> {
    let content = match worker.forge.repository().file(&format!("{folder}/{name}"), base).await {
        Ok(None) => return Ok(None),
        Ok(Some(text)) => Ok(text.into_bytes()),
        Err(error @ ForgeError::Unreadable { .. }) => Err(Unread::Failed(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(ProfileFile { source, name, content }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row M5: an unreadable file leaves the others.
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
