//! The repository's file as this worker last read it, so that each commit's is read once.

use std::sync::Arc;

use hob_config::RepositorySettings;
use hob_domain::Sha;
use parking_lot::Mutex;

/// The file of a commit; `None` if it has none.
pub(crate) type FileOfCommit = Option<Arc<RepositorySettings>>;

/// The file at one commit.
#[derive(Debug, Default)]
pub(crate) struct ReadFile(Mutex<Option<(Sha, FileOfCommit)>>);

impl ReadFile {
    /// The file at this commit; `None` if another was read last.
    pub(crate) fn at(&self, commit: &Sha) -> Option<FileOfCommit> {
        self.0.lock().as_ref().filter(|(known, _)| known == commit).map(|(_, file)| file.clone())
    }

    /// The file that was read last.
    pub(crate) fn last(&self) -> FileOfCommit {
        self.0.lock().as_ref().and_then(|(_, file)| file.clone())
    }

    /// Notes the file at this commit.
    pub(crate) fn note(&self, commit: &Sha, file: &FileOfCommit) {
        *self.0.lock() = Some((commit.clone(), file.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_one_commit_is_known() {
        let (memory, file) = (ReadFile::default(), Some(Arc::new(RepositorySettings::default())));
        memory.note(&Sha::from("a"), &file);
        assert!(memory.at(&Sha::from("a")).is_some() && memory.at(&Sha::from("b")).is_none());
        memory.note(&Sha::from("b"), &None);
        assert!(memory.at(&Sha::from("a")).is_none() && memory.at(&Sha::from("b")).is_some_and(|file| file.is_none()));
    }
}
