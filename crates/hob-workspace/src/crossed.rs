//! The two trees between the base and the head of a change: the old code with the new tests, and the new code with the old
//! tests.
//!
//! - Each becomes a commit in the issue's git directory, on top of the commit whose code it has, so that a check that asks
//!   git finds a history. It is on no branch and never pushed.
//! - A manifest, such as `package.json`, is code, with the parts that say what is tested taken from the side of the tests.

use std::{collections::BTreeSet, os::unix::ffi::OsStrExt, path::Path};

use git2::{Delta, Index, IndexEntry, IndexTime, Oid, Repository, Signature, Time, Tree};
use hob_domain::{PathGlobs, Sha};
use hob_proof::{Side, Sides, judged_by, judges, judges_otherwise, split};

use crate::{Checkout, WorkspaceError, error::library, git_dir, layout::blocking, object_id::oid};

/// Bytes of a file that is read to tell its sides apart.
const FILE_MAX: usize = 1 << 20;
/// Marks of tests within files of code that cannot be told apart here, by the endings of the files.
const INLINE: [(&str, &str); 6] = [
    (".d", "unittest"),
    (".js", "import.meta.vitest"),
    (".py", "\ndef test_"),
    (".py", "unittest.TestCase"),
    (".ts", "import.meta.vitest"),
    (".zig", "\ntest \""),
];

/// What a change touches, and the trees between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed {
    /// Whether code changed, beside tests and text.
    pub code: bool,
    /// Whether tests changed.
    pub tests: bool,
    /// Changed files that decide what the checks run.
    pub judges: Vec<String>,
    /// Changed files with code and tests that cannot be told apart.
    pub mixed: Vec<String>,
    /// The old code with the new tests.
    pub needed: Crossing,
    /// The new code with the old tests.
    pub kept: Crossing,
}

/// A tree between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crossing {
    /// It is the base's.
    Base,
    /// It is the head's.
    Head,
    /// It is that of this commit.
    Commit(Sha),
}

/// The rules by which files are sorted.
#[derive(Debug, Clone)]
pub struct SideRules {
    /// The repository's own globs of tests; none: by their names.
    pub tests: Option<PathGlobs>,
    /// The checks, whose files are the judge.
    pub checks: Vec<String>,
}

/// Makes the trees between the base and `head`.
///
/// # Errors
/// [`WorkspaceError::Library`] when a commit is not there.
pub async fn crossed(checkout: &Checkout, head: &Sha, rules: SideRules) -> Result<Crossed, WorkspaceError> {
    let (git, base, head) = (checkout.git_dir(), oid(checkout.base())?, oid(head)?);
    blocking("tell code and tests apart", move || {
        let doing = "tell code and tests apart";
        let repo = git_dir::open(&git, doing)?;
        cross(&repo, base, head, &rules).map_err(library(doing))
    })
    .await
}

/// The files of one path on both sides.
struct Pair<'a> {
    path: &'a Path,
    base: Option<IndexEntry>,
    head: Option<IndexEntry>,
}

/// The trees that are being made.
struct Between<'r> {
    repo: &'r Repository,
    needed: Index,
    kept: Index,
    found: Crossed,
}

fn cross(repo: &Repository, base: Oid, head: Oid, rules: &SideRules) -> Result<Crossed, git2::Error> {
    let (old, new) = (repo.find_commit(base)?, repo.find_commit(head)?);
    let (from, to) = (old.tree()?, new.tree()?);
    let by_names = Sides::new(rules.tests.clone(), BTreeSet::new());
    let judges = judges_of(repo, &[&from, &to], &rules.checks, &by_names);
    let sides = Sides::new(rules.tests.clone(), judges);
    let (mut needed, mut kept) = (Index::new()?, Index::new()?);
    needed.read_tree(&from)?;
    kept.read_tree(&to)?;
    let found = Crossed {
        code: false,
        tests: false,
        judges: Vec::new(),
        mixed: Vec::new(),
        needed: Crossing::Base,
        kept: Crossing::Head,
    };
    let mut between = Between { repo, needed, kept, found };
    for delta in repo.diff_tree_to_tree(Some(&from), Some(&to), None)?.deltas() {
        let file = if delta.status() == Delta::Deleted { delta.old_file() } else { delta.new_file() };
        let Some(path) = file.path() else { continue };
        between.take(&sides, &Pair { path, base: entry(&from, path), head: entry(&to, path) })?;
    }
    let Between { mut needed, mut kept, mut found, .. } = between;
    let id = |commit: Oid| Sha(commit.to_string());
    let crossing = |index: &mut Index, on: &git2::Commit<'_>| -> Result<Crossing, git2::Error> {
        let tree = index.write_tree_to(repo)?;
        if tree == from.id() {
            return Ok(Crossing::Base);
        }
        if tree == to.id() {
            return Ok(Crossing::Head);
        }
        let who = Signature::new("Hob", "hob@localhost", &Time::new(0, 0))?;
        let commit = repo.commit(None, &who, &who, "Code and tests of two commits\n", &repo.find_tree(tree)?, &[on])?;
        Ok(Crossing::Commit(id(commit)))
    };
    if found.code {
        found.needed = crossing(&mut needed, &old)?;
        found.kept = crossing(&mut kept, &new)?;
    } else if found.tests || !found.judges.is_empty() {
        (found.needed, found.kept) = (Crossing::Head, Crossing::Base);
    }
    Ok(found)
}

impl Between<'_> {
    /// Puts a changed file into both trees.
    fn take(&mut self, sides: &Sides, pair: &Pair<'_>) -> Result<(), git2::Error> {
        let path = pair.path.to_string_lossy();
        match sides.of(&path) {
            Side::Docs => return Ok(()),
            side @ (Side::Test | Side::Judge) => {
                self.found.tests |= side == Side::Test;
                if side == Side::Judge {
                    self.found.judges.push(path.into_owned());
                }
                put(&mut self.needed, pair.path, pair.head.as_ref())?;
                return put(&mut self.kept, pair.path, pair.base.as_ref());
            }
            Side::Code => {}
        }
        let texts = self.text(pair.base.as_ref()).zip(self.text(pair.head.as_ref()));
        if let Some((before, after)) = &texts
            && judges_otherwise(&path, before, after)
        {
            self.found.judges.push(path.to_string());
            let mixed = judged_by(&path, before, after).zip(judged_by(&path, after, before));
            return match mixed {
                Some((needed, kept)) => {
                    self.found.code |= !same_apart_from_judge(&path, before, after);
                    self.put_both(pair, &needed, &kept)
                }
                None => self.mixed(&path),
            };
        }
        if path.ends_with(".rs") {
            return self.take_rust(pair, &path);
        }
        let has_tests = |entry: Option<&IndexEntry>| {
            let text = self.text(entry).unwrap_or_default();
            INLINE.iter().any(|(ending, mark)| path.ends_with(ending) && text.contains(mark))
        };
        if has_tests(pair.base.as_ref()) || has_tests(pair.head.as_ref()) {
            return self.mixed(&path);
        }
        self.found.code = true;
        Ok(())
    }

    /// A file of Rust, whose tests are often within it.
    fn take_rust(&mut self, pair: &Pair<'_>, path: &str) -> Result<(), git2::Error> {
        let split_of = |entry: Option<&IndexEntry>| match entry {
            Some(entry) => self.text(Some(entry)).and_then(|text| split(&text)),
            None => split(""),
        };
        let (Some(before), Some(after)) = (split_of(pair.base.as_ref()), split_of(pair.head.as_ref())) else {
            return self.mixed(path);
        };
        self.found.code |= before.code.trim() != after.code.trim();
        if before.tests.trim() == after.tests.trim() {
            return Ok(());
        }
        self.found.tests = true;
        // Tests of a file that only one side has come and go with it.
        if pair.base.is_none() || pair.head.is_none() {
            return Ok(());
        }
        self.put_both(pair, &format!("{}\n{}", before.code, after.tests), &format!("{}\n{}", after.code, before.tests))
    }

    fn mixed(&mut self, path: &str) -> Result<(), git2::Error> {
        self.found.code = true;
        self.found.mixed.push(path.to_owned());
        Ok(())
    }

    fn put_both(&mut self, pair: &Pair<'_>, needed: &str, kept: &str) -> Result<(), git2::Error> {
        let entry = |like: Option<&IndexEntry>, text: &str| -> Result<Option<IndexEntry>, git2::Error> {
            let Some(like) = like else { return Ok(None) };
            let path = pair.path.as_os_str().as_bytes().to_owned();
            Ok(Some(IndexEntry { id: self.repo.blob(text.as_bytes())?, path, ..empty(like.mode) }))
        };
        let (needed, kept) = (entry(pair.base.as_ref(), needed)?, entry(pair.head.as_ref(), kept)?);
        put(&mut self.needed, pair.path, needed.as_ref())?;
        put(&mut self.kept, pair.path, kept.as_ref())
    }

    fn text(&self, entry: Option<&IndexEntry>) -> Option<String> {
        text_of(self.repo, entry?.id)
    }
}

/// Whether a manifest changed only in what says what is tested.
fn same_apart_from_judge(path: &str, before: &str, after: &str) -> bool {
    judged_by(path, before, after).zip(judged_by(path, after, after)).is_some_and(|(one, other)| one == other)
}

/// The files that the checks run, in any of the trees. A test that a check runs is still a test, and what it runs is the product.
fn judges_of(repo: &Repository, trees: &[&Tree<'_>], checks: &[String], by_names: &Sides) -> BTreeSet<String> {
    let of = |tree: &&Tree<'_>| {
        judges(checks, |path| {
            if by_names.of(path) == Side::Test {
                return None;
            }
            let entry = tree.get_path(Path::new(path)).ok()?;
            (entry.kind() == Some(git2::ObjectType::Blob)).then(|| text_of(repo, entry.id()).unwrap_or_default())
        })
    };
    trees.iter().flat_map(of).collect()
}

fn text_of(repo: &Repository, id: Oid) -> Option<String> {
    let blob = repo.find_blob(id).ok()?;
    (blob.size() <= FILE_MAX).then(|| String::from_utf8(blob.content().to_owned()).ok())?
}

/// A tree's file as an entry of an index.
fn entry(tree: &Tree<'_>, path: &Path) -> Option<IndexEntry> {
    let found = tree.get_path(path).ok()?;
    let mode = u32::try_from(found.filemode()).ok()?;
    Some(IndexEntry { id: found.id(), path: path.as_os_str().as_bytes().to_owned(), ..empty(mode) })
}

pub(super) fn empty(mode: u32) -> IndexEntry {
    let time = IndexTime::new(0, 0);
    IndexEntry {
        ctime: time,
        mtime: time,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: Oid::ZERO_SHA1,
        flags: 0,
        flags_extended: 0,
        path: Vec::new(),
    }
}

fn put(index: &mut Index, path: &Path, entry: Option<&IndexEntry>) -> Result<(), git2::Error> {
    match entry {
        Some(entry) => index.add(entry),
        None => match index.remove(path, 0) {
            // It is not there on this side either.
            Err(error) if error.code() != git2::ErrorCode::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A repository with two commits of these files.
    pub(crate) fn repository(
        base: &[(&str, &str)],
        head: &[(&str, &str)],
    ) -> (tempfile::TempDir, Repository, Oid, Oid) {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        let commit = |files: &[(&str, &str)], parents: &[Oid]| {
            let mut index = Index::new().unwrap();
            for (path, text) in files {
                let id = repo.blob(text.as_bytes()).unwrap();
                index.add(&IndexEntry { id, path: path.as_bytes().to_owned(), ..empty(0o100_644) }).unwrap();
            }
            let tree = repo.find_tree(index.write_tree_to(&repo).unwrap()).unwrap();
            let who = Signature::new("a", "a@x", &Time::new(1, 0)).unwrap();
            let parents: Vec<_> = parents.iter().map(|id| repo.find_commit(*id).unwrap()).collect();
            repo.commit(None, &who, &who, "x", &tree, &parents.iter().collect::<Vec<_>>()).unwrap()
        };
        let base = commit(base, &[]);
        let head = commit(head, &[base]);
        (dir, repo, base, head)
    }

    /// Paths with their texts.
    type Files = Vec<(String, String)>;

    fn of(base: &[(&str, &str)], head: &[(&str, &str)], check: &str) -> (Crossed, Files, Files) {
        let (_dir, repo, base, head) = repository(base, head);
        let rules = SideRules { tests: None, checks: vec![check.to_owned()] };
        let crossed = cross(&repo, base, head, &rules).unwrap();
        let files = |crossing: &Crossing| {
            let commit = match crossing {
                Crossing::Base => base,
                Crossing::Head => head,
                Crossing::Commit(sha) => Oid::from_str(&sha.0).unwrap(),
            };
            let tree = repo.find_commit(commit).unwrap().tree().unwrap();
            let mut files = Vec::new();
            tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
                if let Some(text) = text_of(&repo, entry.id()) {
                    files.push((format!("{folder}{}", entry.name().unwrap_or_default()), text));
                }
                git2::TreeWalkResult::Ok
            })
            .unwrap();
            files
        };
        let (needed, kept) = (files(&crossed.needed), files(&crossed.kept));
        (crossed, needed, kept)
    }

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn code_and_tests_are_crossed_whether_they_come_change_or_go() {
        let base = [("README.md", "1"), ("src/a.py", "1"), ("tests/gone.py", "1"), ("tests/test_a.py", "1")];
        let head =
            [("README.md", "2"), ("src/a.py", "2"), ("src/b.py", "2"), ("tests/new.py", "2"), ("tests/test_a.py", "2")];
        let (crossed, needed, kept) = of(&base, &head, "pytest");
        assert!(crossed.code && crossed.tests && crossed.judges.is_empty() && crossed.mixed.is_empty());
        let old = [("README.md", "1"), ("src/a.py", "1"), ("tests/new.py", "2"), ("tests/test_a.py", "2")];
        assert_eq!(needed, files(&old));
        let new = [
            ("README.md", "2"),
            ("src/a.py", "2"),
            ("src/b.py", "2"),
            ("tests/gone.py", "1"),
            ("tests/test_a.py", "1"),
        ];
        assert_eq!(kept, files(&new));
    }

    #[test]
    fn where_one_side_is_as_it_was_no_tree_is_made() {
        let (code, ..) = of(&[("a.py", "1"), ("tests/a.py", "1")], &[("a.py", "2"), ("tests/a.py", "1")], "pytest");
        assert_eq!((code.code, code.tests, code.needed, code.kept), (true, false, Crossing::Base, Crossing::Head));
        let (tests, ..) = of(&[("a.py", "1"), ("tests/a.py", "1")], &[("a.py", "1"), ("tests/a.py", "2")], "pytest");
        assert_eq!((tests.code, tests.tests, tests.needed, tests.kept), (false, true, Crossing::Head, Crossing::Base));
    }

    #[test]
    fn the_judge_goes_with_the_tests() {
        let base = [("Makefile", "test:\n\tpytest\n"), ("a.py", "1")];
        let head = [("Makefile", "test:\n\ttrue\n"), ("a.py", "2")];
        let (crossed, needed, kept) = of(&base, &head, "make test");
        assert_eq!((crossed.judges, crossed.tests), (vec!["Makefile".to_owned()], false));
        assert_eq!(needed, files(&[("Makefile", "test:\n\ttrue\n"), ("a.py", "1")]));
        assert_eq!(kept, files(&[("Makefile", "test:\n\tpytest\n"), ("a.py", "2")]));
        let package = |version: &str, test: &str| {
            format!(r#"{{"dependencies":{{"a":"{version}"}},"scripts":{{"test":"{test}"}}}}"#)
        };
        let (base, head) = (package("1", "jest"), package("2", "true"));
        let (crossed, _needed, kept) = of(&[("package.json", &base)], &[("package.json", &head)], "npm test");
        assert!(crossed.code && crossed.judges == ["package.json"]);
        assert!(kept[0].1.contains("\"2\"") && kept[0].1.contains("jest"), "{kept:?}");
    }

    #[test]
    fn tests_within_a_file_of_rust_are_told_apart_and_other_ones_are_not() {
        let file = |code: &str, test: &str| {
            format!(
                "pub fn a() -> u8 {{ {code} }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn t() {{ {test} }}\n}}\n"
            )
        };
        let (base, head) = (file("1", ""), file("2", "assert_eq!(super::a(), 2);"));
        let (crossed, needed, kept) = of(&[("src/lib.rs", &base)], &[("src/lib.rs", &head)], "cargo test");
        assert!(crossed.code && crossed.tests && crossed.mixed.is_empty());
        assert!(needed[0].1.contains("{ 1 }") && needed[0].1.contains("a(), 2"), "{needed:?}");
        assert!(kept[0].1.contains("{ 2 }") && !kept[0].1.contains("a(), 2"), "{kept:?}");
        let base = [("a.py", "def a(): 1\n\ndef test_a(): pass\n")];
        let (crossed, ..) = of(&base, &[("a.py", "def a(): 2\n\ndef test_a(): pass\n")], "pytest a.py");
        assert_eq!(crossed.mixed, ["a.py"]);
    }
}
