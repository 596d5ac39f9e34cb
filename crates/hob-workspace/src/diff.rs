//! From two commits to a [`Diff`]: files, counts, findings, and a patch with a cap.

use std::path::Path;

use git2::{Delta, DiffDelta, DiffFormat, DiffOptions, Index, Oid, Repository};
use hob_domain::{ChangeKind, Diff, FileChange, FileMode, shown_path};
use hob_text::Redaction;

use crate::{WorkspaceError, error::library, git_dir, links::links_out, secrets::secrets};

/// Above this many bytes a file's content is not compared line by line, only as a whole.
const LARGEST_TEXT: i64 = 64 << 20;

/// Reads the difference; its findings on links and secrets do not depend on the patch.
pub(super) fn read(git: &Path, base: Oid, head: Oid, cap: usize, own: &Redaction) -> Result<Diff, WorkspaceError> {
    let failed = library("read the diff");
    let repo = git_dir::open(git, "read the diff")?;
    // An empty index has no attributes: a repository's own must not hide its changes.
    Index::new().and_then(|mut none| repo.set_index(&mut none)).map_err(&failed)?;
    let tree = |id| repo.find_commit(id).and_then(|commit| commit.tree());
    let (old, new) = (tree(base).map_err(&failed)?, tree(head).map_err(&failed)?);
    let mut options = DiffOptions::new();
    options.include_typechange(true).max_size(LARGEST_TEXT);
    let mut diff = repo.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).map_err(&failed)?;
    diff.find_similar(None).map_err(&failed)?;
    let mut files: Vec<_> = diff.deltas().map(|delta| change(&repo, &delta)).collect();
    let mut patch = Patch { text: String::new(), cap, truncated: false };
    let mut at = 0;
    diff.print(DiffFormat::Patch, |delta, _hunk, line| {
        if line.origin() == 'F' {
            let path = shown(&delta);
            at = (at..files.len()).find(|n| files[*n].path == path).unwrap_or(at);
        }
        if let Some(file) = files.get_mut(at) {
            count(file, line.origin());
        }
        patch.push(line.origin(), line.content());
        true
    })
    .map_err(&failed)?;
    let has_links = |delta: DiffDelta<'_>| {
        [delta.old_file(), delta.new_file()].iter().any(|file| file.mode() == git2::FileMode::Link)
    };
    let links_out =
        if diff.deltas().any(has_links) { links_out(&repo, &old, &new).map_err(&failed)? } else { Vec::new() };
    let secrets = secrets(&repo, base, head, own).map_err(&failed)?;
    Ok(Diff { files, patch: patch.text, patch_truncated: patch.truncated, links_out, secrets })
}

fn count(file: &mut FileChange, origin: char) {
    match origin {
        '+' => file.additions += 1,
        '-' => file.deletions += 1,
        _context_or_header => {}
    }
}

fn shown(delta: &DiffDelta<'_>) -> String {
    let file = if delta.status() == Delta::Deleted { delta.old_file() } else { delta.new_file() };
    shown_path(file.path_bytes().unwrap_or_default())
}

pub(super) fn change(repo: &Repository, delta: &DiffDelta<'_>) -> FileChange {
    let kind = match delta.status() {
        Delta::Added | Delta::Copied | Delta::Untracked => ChangeKind::Added,
        Delta::Deleted => ChangeKind::Deleted,
        Delta::Renamed => ChangeKind::Renamed { from: shown_path(delta.old_file().path_bytes().unwrap_or_default()) },
        Delta::Unmodified
        | Delta::Modified
        | Delta::Ignored
        | Delta::Typechange
        | Delta::Unreadable
        | Delta::Conflicted => ChangeKind::Modified,
    };
    let side = if kind == ChangeKind::Deleted { delta.old_file() } else { delta.new_file() };
    let mode = match side.mode() {
        git2::FileMode::Link => FileMode::Link,
        git2::FileMode::Commit => FileMode::Gitlink,
        git2::FileMode::BlobExecutable => FileMode::Executable,
        git2::FileMode::Blob
        | git2::FileMode::BlobGroupWritable
        | git2::FileMode::Tree
        | git2::FileMode::Unreadable => FileMode::File,
    };
    let gone = kind == ChangeKind::Deleted;
    let size = if gone || mode == FileMode::Gitlink { 0 } else { size(repo, side.id()) };
    FileChange { path: shown(delta), kind, mode, additions: 0, deletions: 0, size }
}

fn size(repo: &Repository, id: Oid) -> u64 {
    repo.odb().and_then(|odb| odb.read_header(id)).map_or(0, |(size, _kind)| size as u64)
}

struct Patch {
    text: String,
    cap: usize,
    truncated: bool,
}

impl Patch {
    /// Adds a whole line or none, so that the kept part can be parsed.
    fn push(&mut self, origin: char, content: &[u8]) {
        let line = String::from_utf8_lossy(content);
        self.truncated |= self.text.len() + line.len() + 1 > self.cap;
        if self.truncated {
            return;
        }
        if matches!(origin, '+' | '-' | ' ') {
            self.text.push(origin);
        }
        self.text.push_str(&line);
    }
}
