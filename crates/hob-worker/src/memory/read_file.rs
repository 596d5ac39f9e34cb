//! The repository's file as this worker last read it, so that each commit's is read once.

use std::sync::Arc;

use hob_config::RepositorySettings;
use hob_domain::Sha;
use parking_lot::Mutex;

/// The file at one commit.
#[derive(Debug, Default)]
pub(crate) struct ReadFile(Mutex<Option<(Sha, Arc<RepositorySettings>)>>);

impl ReadFile {
    /// The file at this commit; `None` if another was read last.
    pub(crate) fn at(&self, commit: &Sha) -> Option<Arc<RepositorySettings>> {
        self.0.lock().as_ref().filter(|(known, _)| known == commit).map(|(_, file)| Arc::clone(file))
    }

    /// Notes the file at this commit.
    pub(crate) fn note(&self, commit: &Sha, file: &Arc<RepositorySettings>) {
        *self.0.lock() = Some((commit.clone(), Arc::clone(file)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_one_commit_is_known() {
        let (memory, file) = (ReadFile::default(), Arc::new(RepositorySettings::default()));
        memory.note(&Sha::from("a"), &file);
        assert!(memory.at(&Sha::from("a")).is_some() && memory.at(&Sha::from("b")).is_none());
        memory.note(&Sha::from("b"), &file);
        assert!(memory.at(&Sha::from("a")).is_none() && memory.at(&Sha::from("b")).is_some());
    }
}
