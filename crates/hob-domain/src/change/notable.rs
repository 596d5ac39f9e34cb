//! What a person should see of a change before reading it, beside how it is tested: dependencies, commits of people that it
//! undoes, generated files, and the shape of its diff. `hob-workspace` finds it in the trees.

use crate::{Diff, FileChange, Names, Sha, Shown};

/// Packages that are kept.
const DEPENDENCIES_MAX: usize = 100;
/// Changed files that nobody wonders about.
const FILES_USUAL: usize = 25;
/// How many changed files each file that the issue names excuses.
const FILES_EACH: usize = 10;

/// What a person should see first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Notable {
    /// The packages that come, change or go.
    pub dependencies: Dependencies,
    /// The commits of people on the branch that the change undoes, oldest first.
    pub undone: Vec<Undone>,
    /// Changed files that a program writes, without lock files.
    pub generated: Names,
    /// Changed files that differ in blank space and line ends alone.
    pub blank: Names,
    /// The folders that lose most of their files.
    pub emptied: Vec<Emptied>,
    /// How far the change goes beyond what the issue names, if it is far.
    pub sweeping: Option<Sweeping>,
    /// Changed files.
    pub files: usize,
}

/// The packages that a change brings, moves or takes away.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Dependencies {
    /// The first ones: those that a manifest names, then those of lock files alone.
    pub first: Vec<DependencyChange>,
    /// How many there are.
    pub all: usize,
    /// Changed files that name packages in a form that cannot be read.
    pub unread: Names,
}

impl Notable {
    /// Whether a person should look before anyone merges by habit, so that the pull request is a draft: what the checks run
    /// changed, old tests fail on the new code, or work of people goes.
    pub fn makes_a_draft(&self, shown: &Shown) -> bool {
        let of_tests = !shown.judges.is_empty() || !shown.broken.is_empty();
        of_tests || !self.undone.is_empty() || !self.emptied.is_empty()
    }
}

impl Dependencies {
    /// With no more than are kept.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.first.truncate(DEPENDENCIES_MAX);
        self
    }

    /// Adds what is known against a package that comes.
    pub fn warn(&mut self, name: &str, version: &str, file: &str, advisories: Vec<Advisory>) {
        // The forge and the files may write one name in different ways.
        let normal = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
        let comes = |change: &&mut DependencyChange| change.to.is_some() && normal(&change.name) == normal(name);
        if let Some(change) = self.first.iter_mut().find(comes) {
            change.advisories.extend(advisories);
            return;
        }
        self.all += 1;
        self.first.push(DependencyChange {
            name: name.to_owned(),
            from: None,
            to: Some(version.to_owned()).filter(|version| !version.is_empty()),
            file: file.to_owned(),
            wanted: false,
            advisories,
        });
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.all == 0 && self.unread.is_empty()
    }
}

/// A package that comes, changes or goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyChange {
    /// Its name; untrusted text, as the versions are.
    pub name: String,
    /// The versions that go.
    pub from: Option<String>,
    /// The versions that come.
    pub to: Option<String>,
    /// The file that says so.
    pub file: String,
    /// Whether a manifest of the repository names it otherwise than before.
    pub wanted: bool,
    /// What the forge knows against the versions that come.
    pub advisories: Vec<Advisory>,
}

/// A known weakness of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advisory {
    /// Its id, such as `GHSA-…`.
    pub id: String,
    /// How bad it is, in the forge's word.
    pub severity: String,
    /// What it is; untrusted text.
    pub summary: String,
}

/// A person's commit on the branch that the change undoes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The commit.
    pub commit: Sha,
    /// The author that it names; untrusted text.
    pub author: String,
    /// The first line of its message; untrusted text.
    pub subject: String,
    /// The files in which it is undone.
    pub files: Names,
    /// Whether that is all of it.
    pub whole: bool,
}

/// A folder that loses most of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emptied {
    /// Its path; empty for the whole repository.
    pub folder: String,
    /// How many files it loses.
    pub lost: usize,
    /// How many it had.
    pub had: usize,
}

/// A change that goes far beyond what the issue names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweeping {
    /// The changed files, without generated ones.
    pub files: usize,
    /// How many of them the issue names.
    pub named: usize,
}

impl Sweeping {
    /// How far the change goes beyond the issue's text; `None` if that is not far. A file is named by its path, its name, or a
    /// folder that it is in.
    pub fn of(diff: &Diff, left_aside: &Names, issue_text: &str) -> Option<Self> {
        let files = diff.files.len().saturating_sub(left_aside.all);
        let named = diff.files.iter().filter(|file| is_named(file, issue_text)).count().min(files);
        (files > FILES_USUAL.max(named * FILES_EACH) && named < files).then_some(Self { files, named })
    }
}

fn is_named(file: &FileChange, text: &str) -> bool {
    let (folders, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    // A name without a dot is a common word, as a folder's is without its slash.
    let by_name = name.contains('.') && has_word(text, name);
    let mut upper = Some(folders).filter(|folders| !folders.is_empty());
    let mut by_folder = false;
    while let Some(folder) = upper {
        by_folder |= has_word(text, &format!("{folder}/")) || has_word(text, &format!("`{folder}`"));
        upper = folder.rsplit_once('/').map(|(upper, _)| upper);
    }
    by_name || by_folder || has_word(text, &file.path)
}

/// Whether the text has this word, which no letter or digit precedes.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChangeKind, FileMode};

    fn diff(paths: impl Iterator<Item = String>) -> Diff {
        let file = |path| FileChange {
            path,
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 1,
            deletions: 1,
            size: 1,
        };
        Diff { files: paths.map(file).collect(), ..Diff::default() }
    }

    #[test]
    fn an_advisory_is_told_of_the_package_that_comes() {
        let change = |name: &str, to: Option<&str>| DependencyChange {
            name: name.to_owned(),
            from: None,
            to: to.map(str::to_owned),
            file: "requirements.txt".to_owned(),
            wanted: true,
            advisories: Vec::new(),
        };
        let first = vec![change("flask-login", None), change("flask-login", Some("2.0"))];
        let mut found = Dependencies { all: 2, first, unread: Names::default() };
        let known = |id: &str| vec![Advisory { id: id.into(), severity: "high".into(), summary: "x".into() }];
        found.warn("Flask_Login", "2.0", "requirements.txt", known("GHSA-1"));
        found.warn("other", "", "composer.lock", known("GHSA-2"));
        let told: Vec<_> = found.first.iter().map(|change| change.advisories.len()).collect();
        assert_eq!((told, found.all), (vec![0, 1, 1], 3));
        assert_eq!((found.first[2].to.as_ref(), found.first[2].file.as_str()), (None, "composer.lock"));
    }

    #[test]
    fn a_change_is_sweeping_where_it_goes_far_beyond_what_the_issue_names() {
        let of = |files: usize, text: &str| {
            let paths = (0..files).map(|n| format!("src/part{}/file{n}.rs", n % 2));
            Sweeping::of(&diff(paths), &Names::default(), text).map(|found| (found.files, found.named))
        };
        assert_eq!(of(25, "one word is wrong"), None);
        assert_eq!(of(26, "one word is wrong"), Some((26, 0)));
        assert_eq!(of(120, "`file7.rs` is wrong"), Some((120, 1)));
        assert_eq!(of(30, "file1.rs, file2.rs and src/part0/file4.rs"), None);
        assert_eq!(of(120, "rename it in src/"), None);
        assert_eq!(of(120, "all of `src/part0`, and `src/part1` as well"), None);
        // Another file, and another folder.
        assert_eq!(of(30, "profile7.rs and lib_src/x"), Some((30, 0)));
        let generated = (0..100).map(|n| n.to_string()).collect();
        assert_eq!(Sweeping::of(&diff((0..110).map(|n| format!("a{n}"))), &generated, ""), None);
    }
}
