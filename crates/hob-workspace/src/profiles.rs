//! The files of profiles: of a commit, read from git's objects alone, and of a folder of the operator's.
//!
//! Only a commit's plain files count, no links and no folders below. Neither settings nor index of a git directory is
//! read. The number of files is capped by the caller, and the size of each by the limit of a profile.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use git2::{FileMode, ObjectType, Odb, Repository, Tree};
use hob_domain::{PROFILE_MAX, ProfileFile, ProfileFiles, ProfileSource, Sha, Unread, is_profile_file};
use rustix::fs::OFlags;

use crate::{
    WorkspaceError,
    error::{disk, library},
    layout::blocking,
    object_id::oid,
};

/// This file's step in errors.
const DOING: &str = "read the profiles";

/// The profiles of a commit, from the folder `objects` of a git directory: at most `max` of each place. A file whose
/// content is missing counts as one that cannot be read.
///
/// # Errors
/// [`WorkspaceError::Library`] if the commit does not exist.
pub async fn commit_profiles(objects: &Path, commit: &Sha, max: usize) -> Result<ProfileFiles, WorkspaceError> {
    Ok(found(objects, commit, max).await?.files)
}

/// The files found in a commit.
pub(super) struct Found {
    pub(super) files: ProfileFiles,
    /// The folders with a file whose content is missing.
    pub(super) incomplete: Vec<Sha>,
}

/// Like [`commit_profiles`], with the missing folders.
pub(super) async fn found(objects: &Path, commit: &Sha, max: usize) -> Result<Found, WorkspaceError> {
    in_commit(objects, commit, move |repo, root| of_commit(repo, root, max)).await
}

/// A file by its name, or why it cannot be read.
pub type NamedFile = (String, Result<Vec<u8>, Unread>);

/// Plain files of one folder of a commit, from the folder `objects` of a git directory: the first `max` with a wanted
/// name, and the folder, if a content is missing.
pub(super) async fn files_in(
    objects: &Path,
    commit: &Sha,
    path: &'static str,
    is_wanted: fn(&str) -> bool,
    max: usize,
) -> Result<(Vec<NamedFile>, Option<Sha>), WorkspaceError> {
    in_commit(objects, commit, move |repo, root| {
        let Some(folder) = folder(repo, root, path)? else { return Ok((Vec::new(), None)) };
        let Files { named, is_complete, .. } = files_of(repo, &folder, is_wanted, max)?;
        Ok((named, (!is_complete).then(|| folder.id().to_string().into())))
    })
    .await
}

/// Reads a commit's tree from the objects alone.
async fn in_commit<T: Send + 'static>(
    objects: &Path,
    commit: &Sha,
    read: impl FnOnce(&Repository, &Tree<'_>) -> Result<T, git2::Error> + Send + 'static,
) -> Result<T, WorkspaceError> {
    let (objects, commit) = (objects.to_owned(), oid(commit)?);
    blocking(DOING, move || {
        // Opened from the objects alone, a repository has no settings that could name programs or other places.
        let opened = || {
            let odb = Odb::new()?;
            odb.add_disk_alternate(&objects.to_string_lossy())?;
            Repository::from_odb(odb)
        };
        let done = || {
            let repo = opened()?;
            let root = repo.find_commit(commit)?.tree()?;
            read(&repo, &root)
        };
        done().map_err(library(DOING))
    })
    .await
}

fn of_commit(repo: &Repository, root: &Tree<'_>, max: usize) -> Result<Found, git2::Error> {
    let mut found = Found { files: ProfileFiles::default(), incomplete: Vec::new() };
    for (source, path) in ProfileSource::IN_REPOSITORY {
        let Some(folder) = folder(repo, root, path)? else { continue };
        let Files { named, left_out, is_complete } = files_of(repo, &folder, is_profile_file, max)?;
        found.files.left_out += left_out;
        found.files.files.extend(named.into_iter().map(|(name, content)| ProfileFile { source, name, content }));
        if !is_complete {
            found.incomplete.push(folder.id().to_string().into());
        }
    }
    Ok(found)
}

/// The files read from one folder.
struct Files {
    named: Vec<NamedFile>,
    /// The number of files beyond those.
    left_out: usize,
    /// Whether each content is there.
    is_complete: bool,
}

fn files_of(
    repo: &Repository,
    folder: &Tree<'_>,
    is_wanted: fn(&str) -> bool,
    max: usize,
) -> Result<Files, git2::Error> {
    let mut files = Files { named: Vec::new(), left_out: 0, is_complete: true };
    for entry in folder.iter().filter(|entry| entry.name().is_ok_and(is_wanted)) {
        if files.named.len() >= max {
            files.left_out += 1;
            continue;
        }
        let is_file = [FileMode::Blob, FileMode::BlobExecutable].map(i32::from).contains(&entry.filemode());
        let content = match is_file {
            true => match repo.odb()?.exists(entry.id()) {
                true => match repo.odb()?.read_header(entry.id())? {
                    // One that is longer than a profile may be is not loaded.
                    (size, _) if size > PROFILE_MAX => Err(Unread::TooLarge(size as u64)),
                    _header => Ok(repo.find_blob(entry.id())?.content().to_vec()),
                },
                false => {
                    files.is_complete = false;
                    Err(Unread::NotFetched)
                }
            },
            false => Err(Unread::NotRegular),
        };
        files.named.push((entry.name().unwrap_or_default().to_owned(), content));
    }
    Ok(files)
}

fn folder<'repo>(repo: &'repo Repository, root: &Tree<'_>, path: &str) -> Result<Option<Tree<'repo>>, git2::Error> {
    match root.get_path(Path::new(path)) {
        Ok(entry) if entry.kind() == Some(ObjectType::Tree) => repo.find_tree(entry.id()).map(Some),
        Ok(_no_folder) => Ok(None),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The profiles in a folder of the operator's: the first `max` by name. Links in it are followed, as the operator owns
/// them.
///
/// # Errors
/// [`WorkspaceError::Disk`] if the folder cannot be read. A file that cannot be read is reported by name.
pub async fn folder_profiles(folder: &Path, max: usize) -> Result<ProfileFiles, WorkspaceError> {
    let folder = folder.to_owned();
    blocking(DOING, move || of_folder(&folder, max)).await
}

fn of_folder(folder: &Path, max: usize) -> Result<ProfileFiles, WorkspaceError> {
    let (mut names, mut left_out) = (BTreeSet::new(), 0);
    for entry in fs::read_dir(folder).map_err(disk("read", folder))? {
        let name = entry.map_err(disk("read", folder))?.file_name().to_string_lossy().into_owned();
        if is_profile_file(&name) {
            names.insert(name);
        }
        if names.len() > max {
            names.pop_last();
            left_out += 1;
        }
    }
    let file = |name: String| {
        let content = content(&folder.join(&name));
        ProfileFile { source: ProfileSource::Settings, name, content }
    };
    Ok(ProfileFiles { files: names.into_iter().map(file).collect(), left_out })
}

fn content(path: &PathBuf) -> Result<Vec<u8>, Unread> {
    let unread = |error: std::io::Error| Unread::Failed(format!("the file cannot be read: {error}"));
    // Opening a pipe must not wait for a writer.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = fs::File::options().read(true).custom_flags(flags).open(path).map_err(unread)?;
    let about = file.metadata().map_err(unread)?;
    if !about.is_file() {
        return Err(Unread::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(PROFILE_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > PROFILE_MAX { Err(Unread::TooLarge(about.len())) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use git2::Signature;

    use super::*;

    /// A repository with one commit of these files: path, mode, content.
    fn commit(folder: &Path, files: &[(&str, FileMode, &[u8])]) -> Sha {
        let repo = Repository::init_bare(folder).unwrap();
        let mut builder = git2::build::TreeUpdateBuilder::new();
        for (path, mode, content) in files {
            builder.upsert(*path, repo.blob(content).unwrap(), *mode);
        }
        let empty = repo.find_tree(repo.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let tree = repo.find_tree(builder.create_updated(&repo, &empty).unwrap()).unwrap();
        let by = Signature::now("a", "a@example.org").unwrap();
        repo.commit(None, &by, &by, "m", &tree, &[]).unwrap().to_string().into()
    }

    fn told(found: &ProfileFiles) -> Vec<String> {
        let told = |file: &ProfileFile| match &file.content {
            Ok(bytes) => format!("{}/{}: {} bytes", file.source, file.name, bytes.len()),
            Err(why) => format!("{}/{}: {why}", file.source, file.name),
        };
        found.files.iter().map(told).collect()
    }

    #[tokio::test]
    async fn the_files_of_a_folder_are_told_by_their_names() {
        let place = tempfile::tempdir().unwrap();
        let sha = commit(
            place.path(),
            &[
                ("forms/a.yml", FileMode::Blob, b"one"),
                ("forms/b.yml", FileMode::Link, b"/etc/passwd"),
                ("forms/c.md", FileMode::Blob, b"no"),
                ("forms/d.yml", FileMode::Blob, b"two"),
            ],
        );
        let objects = place.path().join("objects");
        let read = |path, max| files_in(&objects, &sha, path, |name| name.ends_with(".yml"), max);
        let (files, missing) = read("forms", 2).await.unwrap();
        let link = Err(Unread::NotRegular);
        assert_eq!(files, [("a.yml".to_owned(), Ok(b"one".to_vec())), ("b.yml".to_owned(), link)]);
        assert_eq!((missing, read("gone", 2).await.unwrap()), (None, (Vec::new(), None)));
    }

    #[tokio::test]
    async fn only_plain_files_of_the_two_folders_are_read() {
        let place = tempfile::tempdir().unwrap();
        let large = vec![b'x'; 5 << 20];
        let sha = commit(
            place.path(),
            &[
                (".github/agents/a.md", FileMode::Blob, b"one"),
                (".github/agents/b.agent.md", FileMode::BlobExecutable, b"two"),
                (".github/agents/link.md", FileMode::Link, b"/etc/passwd"),
                (".github/agents/large.md", FileMode::Blob, &large),
                (".github/agents/deep/c.md", FileMode::Blob, b"no"),
                (".github/agents/README.md", FileMode::Blob, b"no"),
                (".github/agents/x.txt", FileMode::Blob, b"no"),
                (".claude/agents/d.md", FileMode::Blob, b"three"),
                ("d.md", FileMode::Blob, b"no"),
            ],
        );
        let objects = place.path().join("objects");
        let found = commit_profiles(&objects, &sha, 10).await.unwrap();
        assert_eq!(
            told(&found),
            [
                ".github/agents/a.md: 3 bytes",
                ".github/agents/b.agent.md: 3 bytes",
                ".github/agents/large.md: the file has 5242880 bytes, more than 65536",
                ".github/agents/link.md: it is not a regular file",
                ".claude/agents/d.md: 5 bytes",
            ]
        );
        let few = commit_profiles(&objects, &sha, 1).await.unwrap();
        assert_eq!((few.files.len(), few.left_out), (2, 3));
        assert!(commit_profiles(&objects, &"0".repeat(40).into(), 1).await.is_err());
    }

    #[tokio::test]
    async fn a_commit_without_profiles_has_none() {
        let place = tempfile::tempdir().unwrap();
        let sha =
            commit(place.path(), &[(".github/agents", FileMode::Link, b"/etc"), (".claude/a", FileMode::Blob, b"")]);
        let found = commit_profiles(&place.path().join("objects"), &sha, 10).await.unwrap();
        assert_eq!(found, ProfileFiles::default());
    }

    #[tokio::test]
    async fn a_folder_is_read_in_the_order_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, length) in [("b.md", 3), ("a.md", 65_537), ("z.md", 1), ("c.txt", 1)] {
            fs::write(folder.path().join(name), vec![b'x'; length]).unwrap();
        }
        fs::create_dir(folder.path().join("d.md")).unwrap();
        symlink("b.md", folder.path().join("e.md")).unwrap();
        let found = folder_profiles(folder.path(), 4).await.unwrap();
        assert_eq!(
            told(&found),
            [
                "settings/a.md: the file has 65537 bytes, more than 65536",
                "settings/b.md: 3 bytes",
                "settings/d.md: it is not a regular file",
                "settings/e.md: 3 bytes",
            ]
        );
        assert_eq!(found.left_out, 1);
        assert!(folder_profiles(&folder.path().join("none"), 4).await.is_err());
    }
}
