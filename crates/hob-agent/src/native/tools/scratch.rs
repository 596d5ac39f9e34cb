//! The run's scratch folder: files that the agent can read beside its own folder, with outputs that were cut, and those of
//! jobs in the background.
//!
//! - Guarantees: made when it is needed, outside of the agent's folder, below its `TMPDIR`; removed with the run. The agent may
//!   put anything in it, and Hob follows no link there. Bounded: [`KEPT_MAX`] files of at most 1 MiB each, then the
//!   oldest goes.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use hob_process::{drop_in_background, remove_tree};
use tokio::sync::OnceCell;

use crate::{confined::Confined, folder::Folder, native::tools::ToolError, report::boundary};

/// Outputs that are kept.
const KEPT_MAX: usize = 40;
/// Bytes of an answer that a model gets at once.
pub(in crate::native) const ANSWER_MAX: usize = 10_000;

/// The folder, and the outputs in it.
#[derive(Debug)]
pub(in crate::native) struct Scratch {
    parent: PathBuf,
    home: Option<PathBuf>,
    made: OnceCell<Option<Made>>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    names: VecDeque<String>,
    number: u32,
}

/// Removed with everything in it when it is dropped.
#[derive(Debug)]
struct Made {
    folder: Folder,
    _removed: RemovedOnDrop,
}

#[derive(Debug)]
struct RemovedOnDrop(Option<Removed>);

/// The removal, which may take a while.
#[derive(Debug)]
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        if let Err(error) = remove_tree(&self.0) {
            tracing::warn!(%error, "the scratch folder of a run could not be removed: {error}");
        }
    }
}

impl Drop for RemovedOnDrop {
    fn drop(&mut self) {
        drop_in_background(self.0.take());
    }
}

impl Scratch {
    /// A folder for children in `confined`, which is not made yet.
    pub(in crate::native) fn of(confined: &Confined) -> Self {
        let path = |name: &str| confined.environment.get(OsStr::new(name)).map(PathBuf::from);
        Self {
            parent: path("TMPDIR").unwrap_or_else(|| "/tmp".into()),
            home: path("HOME"),
            made: OnceCell::new(),
            kept: Mutex::default(),
        }
    }

    /// The folder; `None` if it cannot be made.
    pub(in crate::native) async fn folder(&self) -> Option<&Folder> {
        let (parent, home) = (self.parent.clone(), self.home.clone());
        let make =
            || async { tokio::task::spawn_blocking(move || make(&parent, home.as_deref())).await.ok().flatten() };
        self.made.get_or_init(make).await.as_ref().map(|made| &made.folder)
    }

    /// The folder if `path` names something in it.
    pub(super) fn of_path(&self, path: &str) -> Option<&Folder> {
        let folder = &self.made.get()?.as_ref()?.folder;
        Path::new(path).starts_with(folder.path()).then_some(folder)
    }

    /// At most [`ANSWER_MAX`] bytes of an output, its beginning and its end; the whole of it in a file, which the text names.
    pub(in crate::native) async fn cut(&self, text: String, cap: usize) -> String {
        let cap = cap.min(ANSWER_MAX);
        if text.len() <= cap {
            return text;
        }
        let head = boundary(&text, cap / 2);
        let from = text.len() - cap / 2;
        let tail = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let place = match self.keep(text.clone()).await {
            Some(path) => format!("; all of it is in {}", path.display()),
            None => String::new(),
        };
        format!("{}\n[… {} bytes cut{place} …]\n{}", &text[..head], tail - head, &text[tail..])
    }

    /// Keeps an output; where it is.
    async fn keep(&self, text: String) -> Option<PathBuf> {
        let folder = self.folder().await?.clone();
        let (name, oldest) = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.number += 1;
            let name = format!("output-{}.txt", kept.number);
            kept.names.push_back(name.clone());
            (name, if kept.names.len() > KEPT_MAX { kept.names.pop_front() } else { None })
        };
        let path = folder.path().join(&name);
        let written = tokio::task::spawn_blocking(move || {
            if let Some(oldest) = oldest.and_then(|name| folder.inside(&name).ok()) {
                // It may be gone already.
                folder.remove(&oldest).ok();
            }
            folder.inside(&name).and_then(|file| folder.write(&file, &text, None)).is_ok()
        });
        written.await.ok()?.then_some(path)
    }
}

fn make(parent: &Path, home: Option<&Path>) -> Option<Made> {
    let name = format!("hob-{:016x}", rand::random::<u64>());
    // The agent can replace a folder of its home, and no other: no link in its place is followed.
    let (from, below) = match (home.and_then(|home| parent.strip_prefix(home).ok()), home) {
        (Some(below), Some(home)) => (home, below.join(&name)),
        (_, _) => (parent, PathBuf::from(&name)),
    };
    hob_process::Folder::open(from).and_then(|from| from.makes(&below)).ok()?;
    let path = parent.join(name);
    let removed = RemovedOnDrop(Some(Removed(path.clone())));
    Some(Made { folder: Folder::open(&path).ok()?, _removed: removed })
}

/// A refusal where no scratch folder can be made.
pub(super) fn missing() -> ToolError {
    ToolError::Refused("no folder for its output could be made".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_link_in_the_home_leads_outputs_outside_and_the_oldest_go() {
        let place = tempfile::tempdir().unwrap();
        let (home, outside) = (place.path().join("home"), place.path().join("outside"));
        for folder in [&home, &outside] {
            std::fs::create_dir(folder).unwrap();
        }
        std::os::unix::fs::symlink(&outside, home.join("tmp")).unwrap();
        let environment = [("HOME".into(), home.clone().into()), ("TMPDIR".into(), home.join("tmp").into())].into();
        let scratch = Scratch::of(&Confined { plan: hob_sandbox::Sandbox::none().plan(), environment });
        let long = "é".repeat(ANSWER_MAX);
        for _ in 0..=KEPT_MAX {
            let cut = scratch.cut(long.clone(), 32 * 1024).await;
            assert!(cut.len() < ANSWER_MAX + 300 && cut.contains("10000 bytes cut; all of it is in "), "{}", cut.len());
        }
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        let folder = scratch.folder().await.unwrap().path().to_owned();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), KEPT_MAX);
        assert_eq!(std::fs::read_to_string(folder.join("output-41.txt")).unwrap(), long);
        assert!(!folder.join("output-1.txt").exists());
        assert_eq!(scratch.cut("short".to_owned(), 100).await, "short");
    }
}
