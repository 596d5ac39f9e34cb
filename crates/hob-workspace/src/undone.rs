//! Commits of people on the branch that later work undoes.
//!
//! # Flow
//! The work since the newest of them is compared with what each of them changed: a file is undone where all lines that the
//! person took out are back, and all that they brought are gone and were not replaced by others.

use std::collections::{HashMap, HashSet};

use git2::{Commit, DiffOptions, Oid, Patch, Repository, Sort, Tree};
use hob_domain::{CommitIdentity, Names, Sha, Undone, shown_path};

use crate::commit::is_own;

/// Commits that are looked at, the newest ones.
const COMMITS_MAX: usize = 20;
/// Bytes of a file that is compared line by line.
const FILE_MAX: usize = 1 << 20;

/// The commits between `base` and `head` whose committer is not `own` and that the work since the newest of them undoes.
pub(super) fn undone(
    repo: &Repository,
    own: &CommitIdentity,
    base: Oid,
    head: Oid,
) -> Result<Vec<Undone>, git2::Error> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    walk.push(head)?;
    walk.hide(base)?;
    let mut commits = Vec::new();
    for id in walk {
        let commit = repo.find_commit(id?)?;
        if !is_own(&commit, own) {
            commits.push(commit);
        }
        if commits.len() == COMMITS_MAX {
            break;
        }
    }
    let Some(newest) = commits.first().filter(|newest| newest.id() != head) else { return Ok(Vec::new()) };
    let since = Since::new(repo, &newest.tree()?, &repo.find_commit(head)?.tree()?)?;
    let mut found = Vec::new();
    // What a merge brings is not that person's work.
    for commit in commits.iter().rev().filter(|commit| commit.parent_count() == 1) {
        found.extend(since.undoes(commit)?);
    }
    Ok(found)
}

/// The work since the newest commit of a person.
struct Since<'r> {
    repo: &'r Repository,
    /// Of each changed path, the file before and the file that it became.
    changed: HashMap<Vec<u8>, [Oid; 2]>,
}

impl<'r> Since<'r> {
    fn new(repo: &'r Repository, newest: &Tree<'_>, head: &Tree<'_>) -> Result<Self, git2::Error> {
        let mut diff = repo.diff_tree_to_tree(Some(newest), Some(head), None)?;
        // A file that moved is still there.
        diff.find_similar(None)?;
        let mut changed = HashMap::new();
        for delta in diff.deltas() {
            let (old, new) = (delta.old_file(), delta.new_file());
            let path = if old.id().is_zero() { new.path_bytes() } else { old.path_bytes() };
            changed.insert(path.unwrap_or_default().to_owned(), [old.id(), new.id()]);
        }
        Ok(Self { repo, changed })
    }

    /// What of a commit it undoes; `None` if nothing.
    fn undoes(&self, commit: &Commit<'_>) -> Result<Option<Undone>, git2::Error> {
        let (before, after) = (commit.parent(0)?.tree()?, commit.tree()?);
        let changes = self.repo.diff_tree_to_tree(Some(&before), Some(&after), None)?;
        let (mut all, mut files) = (0, Vec::new());
        for delta in changes.deltas() {
            all += 1;
            let (old, new) = (delta.old_file(), delta.new_file());
            let path = new.path_bytes().or_else(|| old.path_bytes()).unwrap_or_default();
            let Some([then, now]) = self.changed.get(path) else { continue };
            if self.is_undone([old.id(), new.id()], [*then, *now])? {
                files.push(shown_path(path));
            }
        }
        let whole = files.len() == all;
        Ok((!files.is_empty()).then(|| Undone {
            commit: Sha(commit.id().to_string()),
            author: shown_path(commit.author().name_bytes()),
            subject: String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned(),
            files: files.into_iter().collect::<Names>(),
            whole,
        }))
    }

    /// Whether what a commit did to a file is undone by what was done to it since.
    fn is_undone(&self, [old, new]: [Oid; 2], [then, now]: [Oid; 2]) -> Result<bool, git2::Error> {
        if old == now {
            return Ok(true);
        }
        let (Some(old), Some(new), Some(then), Some(now)) =
            (self.text(old), self.text(new), self.text(then), self.text(now))
        else {
            return Ok(false);
        };
        let [before, after, then_has, now_has] = [&old, &new, &then, &now].map(|text| counted(text));
        let of = |lines: &HashMap<&str, usize>, line: &str| lines.get(line).copied().unwrap_or(0);
        let brought: HashSet<&str> =
            after.iter().filter(|(line, count)| **count > of(&before, line)).map(|(line, _)| *line).collect();
        let taken: HashSet<&str> =
            before.iter().filter(|(line, count)| **count > of(&after, line)).map(|(line, _)| *line).collect();
        let undone = |has: &HashMap<&str, usize>| {
            brought.iter().all(|line| of(has, line) <= of(&before, line))
                && taken.iter().all(|line| of(has, line) >= of(&before, line))
        };
        let says_something = !brought.is_empty() || !taken.is_empty();
        Ok(says_something && undone(&now_has) && !undone(&then_has) && !replaced(&then, &now, &brought, &taken)?)
    }

    fn text(&self, id: Oid) -> Option<String> {
        if id.is_zero() {
            return Some(String::new());
        }
        let blob = self.repo.find_blob(id).ok()?;
        (blob.size() <= FILE_MAX).then(|| String::from_utf8(blob.content().to_owned()).ok())?
    }
}

/// The lines that say something, with how often each is there.
fn counted(text: &str) -> HashMap<&str, usize> {
    let mut lines = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        *lines.entry(line).or_insert(0) += 1;
    }
    lines
}

/// Whether other lines than those that were `taken` took the place of those that were `brought`.
fn replaced(then: &str, now: &str, brought: &HashSet<&str>, taken: &HashSet<&str>) -> Result<bool, git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0);
    let patch = Patch::from_buffers(then.as_bytes(), None, now.as_bytes(), None, Some(&mut options))?;
    for hunk in 0..patch.num_hunks() {
        let (mut loses, mut others) = (false, false);
        for number in 0..patch.num_lines_in_hunk(hunk)? {
            let line = patch.line_in_hunk(hunk, number)?;
            let text = String::from_utf8_lossy(line.content());
            let text = text.trim();
            match line.origin() {
                '-' => loses |= brought.contains(text),
                '+' => others |= !text.is_empty() && !taken.contains(text),
                _context => {}
            }
        }
        if loses && others {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use git2::{Index, IndexEntry, Signature, Time};

    use super::*;

    /// Commits by a name, each of the whole files, on each other; what is undone, a line each.
    fn told(steps: &[(&str, &[(&str, &str)])]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        let mut ids: Vec<Oid> = Vec::new();
        for (who, files) in steps {
            let mut index = Index::new().unwrap();
            for (path, text) in *files {
                let id = repo.blob(text.as_bytes()).unwrap();
                let entry = IndexEntry { id, path: path.as_bytes().to_owned(), ..crate::crossed::empty(0o100_644) };
                index.add(&entry).unwrap();
            }
            let tree = repo.find_tree(index.write_tree_to(&repo).unwrap()).unwrap();
            let by = Signature::new(who, &format!("{who}@x"), &Time::new(1, 0)).unwrap();
            let parents: Vec<_> = ids.last().map(|id| repo.find_commit(*id).unwrap()).into_iter().collect();
            let subject = format!("{who} {}", ids.len());
            ids.push(repo.commit(None, &by, &by, &subject, &tree, &parents.iter().collect::<Vec<_>>()).unwrap());
        }
        let own = CommitIdentity { name: "Hob".to_owned(), email: "Hob@x".to_owned() };
        let found = undone(&repo, &own, ids[0], *ids.last().unwrap()).unwrap();
        let line = |one: &Undone| {
            format!(
                "{} in {}{}",
                one.subject,
                one.files.first.join(" "),
                if one.whole { "" } else { " and not elsewhere" }
            )
        };
        found.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    const BASE: (&str, &[(&str, &str)]) = ("ann", &[("a", "one\ntwo\n")]);
    const WORK: (&str, &[(&str, &str)]) = ("Hob", &[("a", "one\ntwo\nwork\n")]);

    #[test]
    fn what_a_person_brought_or_took_out_and_the_work_undoes_is_named() {
        let person = ("ann", &[("a", "one\ntwo\nwork\nguard\n"), ("b", "new\n")][..]);
        let reverts = ("ann", &[("a", "one\ntwo\n")][..]);
        for (steps, says) in [
            (vec![BASE, WORK, person, ("Hob", &[("a", "one\ntwo\nwork\n")][..])], "ann 2 in a b"),
            (vec![BASE, WORK, person, ("Hob", &[("a", "one\ntwo\nwork\nmore\n"), ("b", "new\n")][..])], ""),
            (
                vec![BASE, WORK, person, ("Hob", &[("a", "zero\none\ntwo\nwork\n"), ("b", "new\n")][..])],
                "ann 2 in a and not elsewhere",
            ),
            // Hob's work, which a person took out, comes back.
            (vec![BASE, WORK, reverts, WORK], "ann 2 in a"),
            (vec![BASE, WORK, reverts, ("Hob", &[("a", "one\ntwo\nother\n")][..])], ""),
            // A person undid it, and the work left that as it is.
            (
                vec![
                    BASE,
                    WORK,
                    person,
                    WORK,
                    ("ann", &[("a", "one\ntwo\nwork\n"), ("c", "x\n")][..]),
                    ("Hob", &[("a", "one\ntwo\nwork\n"), ("c", "x\ny\n")][..]),
                ],
                "",
            ),
            // It only moved.
            (vec![BASE, WORK, person, ("Hob", &[("a", "one\ntwo\nwork\nguard\n"), ("sub/b", "new\n")][..])], ""),
            (vec![BASE, WORK], ""),
            (vec![BASE, WORK, person], ""),
        ] {
            assert_eq!(told(&steps), says, "{steps:?}");
        }
    }
}
