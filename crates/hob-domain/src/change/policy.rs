//! What a piece of work may change: protected paths, gitlinks, links out of the tree, size, secrets.

use std::fmt;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use hob_text::markup::code_span;

use crate::{ChangeKind, Diff, FileChange, FileMode, LinkOut, PathGlobs, SecretFound, change::run_at_push::globs};

/// Always protected unless [`HobFiles::Allowed`]: an account that may write these can run code with the repository's
/// rights, or, through `.gitmodules`, in the git of everyone who clones it.
const HOB_FILES: [&str; 3] = [".github/workflows/**", ".github/hob.toml", ".gitmodules"];

/// Names that contain secrets by convention, in any folder.
const ENV_FILES: [&str; 2] = ["**/.env", "**/.env.*"];

/// Examples of the files above, made to be committed.
const ENV_EXAMPLES: [&str; 4] = ["**/.env.example", "**/.env.sample", "**/.env.template", "**/.env.dist"];

/// Whether workflows, Hob's own settings and `.gitmodules` may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HobFiles {
    /// They are refused.
    Protected,
    /// The settings allow them.
    Allowed,
}

/// What a glob of the repository begins with that takes files of other services out of the protected ones.
const EXCEPT: char = '!';

/// Globs that are named to an agent.
const NAMED_MAX: usize = 40;
const MIB: u64 = 1 << 20;

/// What an agent is told before it works: the changes that would be refused. `own` are the repository's globs.
pub fn refused_changes(own: &[String], hob_files: HobFiles, max_files: usize, max_file_bytes: u64) -> String {
    let always: &[&str] = match hob_files {
        HobFiles::Protected => &HOB_FILES,
        HobFiles::Allowed => &[],
    };
    let own = own.iter().map(String::as_str).filter(|glob| !glob.starts_with(EXCEPT));
    let globs: Vec<&str> = always.iter().copied().chain(own).collect();
    let mut named: Vec<String> = globs.iter().take(NAMED_MAX).map(|glob| code_span(glob)).collect();
    if globs.len() > NAMED_MAX {
        named.push(format!("{} more", globs.len() - NAMED_MAX));
    }
    let size = match max_file_bytes {
        bytes if bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
        bytes => format!("{bytes} bytes"),
    };
    let paths = if named.is_empty() { String::new() } else { format!("of {}; ", named.join(", ")) };
    format!(
        "A change is refused as a whole if it has any of this: a change {paths}of a file by which another CI service \
         runs the branch, such as `.gitlab-ci.yml`; a secret, or a file such as `.env`; a link out \
         of the repository; more than {max_files} changed files; a file of more than {size}. If the issue \
         cannot be solved without that, ask instead."
    )
}

/// The rules for a diff.
#[derive(Debug, Clone)]
pub struct DiffPolicy {
    protected: GlobSet,
    /// What a service runs at the push, and the repository's exceptions.
    at_push: GlobSet,
    allowed: GlobSet,
    env_files: GlobSet,
    env_examples: GlobSet,
    max_files: usize,
    max_file_bytes: u64,
}

/// A glob that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("read the protected path `{glob}`: {source}")]
pub struct InvalidGlob {
    glob: String,
    source: globset::Error,
}

impl DiffPolicy {
    /// Compiles the rules; `protected` are the repository's own globs, of which those with a `!` take files that a service
    /// runs at the push out; case is ignored.
    ///
    /// # Errors
    /// [`InvalidGlob`] for a glob that cannot be read.
    pub fn new(
        protected: &[String],
        hob_files: HobFiles,
        max_files: usize,
        max_file_bytes: u64,
    ) -> Result<Self, InvalidGlob> {
        let own: &[&str] = match hob_files {
            HobFiles::Protected => &HOB_FILES,
            HobFiles::Allowed => &[],
        };
        let of_repository = || protected.iter().map(String::as_str);
        let more = of_repository().filter(|glob| !glob.starts_with(EXCEPT));
        Ok(Self {
            protected: compile(own.iter().copied().chain(more))?,
            at_push: compile(globs().map(|(_, glob)| glob))?,
            allowed: compile(of_repository().filter_map(|glob| glob.strip_prefix(EXCEPT)))?,
            env_files: compile(ENV_FILES)?,
            env_examples: compile(ENV_EXAMPLES)?,
            max_files,
            max_file_bytes,
        })
    }

    /// Every rule that the diff breaks; empty if it may be pushed.
    pub fn violations(&self, diff: &Diff) -> Vec<Violation> {
        let mut found = Vec::new();
        if diff.files.len() > self.max_files {
            found.push(Violation::TooManyFiles { count: diff.files.len(), limit: self.max_files });
        }
        for file in &diff.files {
            self.check(file, &mut found);
        }
        let links = diff.links_out.iter().cloned();
        found.extend(links.map(|LinkOut { path, target }| Violation::LinkOut { path, target }));
        found.extend(diff.secrets.iter().cloned().map(Violation::Secret));
        found
    }

    /// Whether nobody may change the path.
    pub fn protects(&self, path: &str) -> bool {
        self.protected.is_match(path) || self.runs_at_push(path).is_some()
    }

    /// The service that runs this path at the push, unless the repository allows it.
    fn runs_at_push(&self, path: &str) -> Option<&'static str> {
        let first = self.at_push.matches(path).into_iter().min().filter(|_| !self.allowed.is_match(path))?;
        globs().nth(first).map(|(service, _)| service)
    }

    fn check(&self, file: &FileChange, found: &mut Vec<Violation>) {
        for path in file.both_paths().filter(|path| self.protected.is_match(path)) {
            found.push(Violation::Protected { path: path.to_owned() });
        }
        for path in file.both_paths().filter(|path| !self.protected.is_match(path)) {
            // Through a link, a folder of another name is the service's.
            let inside = (file.mode == FileMode::Link).then(|| format!("{path}/x"));
            let service = self.runs_at_push(path).or_else(|| self.runs_at_push(&inside?));
            found.extend(service.map(|service| Violation::RunsAtPush { path: path.to_owned(), service }));
        }
        let path = || file.path.clone();
        if file.mode == FileMode::Gitlink {
            found.push(Violation::Gitlink { path: path() });
        }
        if file.kind == ChangeKind::Deleted {
            return;
        }
        if file.size > self.max_file_bytes {
            found.push(Violation::TooLarge { path: path(), bytes: file.size, limit: self.max_file_bytes });
        }
        if self.env_files.is_match(&file.path) && !self.env_examples.is_match(&file.path) {
            found.push(Violation::SecretFile { path: path() });
        }
    }
}

impl PathGlobs {
    /// The files outside these paths, on either side of a rename.
    pub fn outside(&self, files: &[FileChange]) -> Vec<Violation> {
        let paths = files.iter().flat_map(FileChange::both_paths);
        paths
            .filter(|path| !self.is_match(path))
            .map(|path| Violation::OutsideProfile { path: path.to_owned() })
            .collect()
    }
}

impl FileChange {
    /// Its path, preceded by its former path.
    pub(crate) fn both_paths(&self) -> impl Iterator<Item = &str> {
        let before = match &self.kind {
            ChangeKind::Renamed { from } => Some(from.as_str()),
            ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => None,
        };
        before.into_iter().chain([self.path.as_str()])
    }
}

fn compile<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<GlobSet, InvalidGlob> {
    let mut set = GlobSetBuilder::new();
    let invalid = |glob: &str| {
        let glob = glob.to_owned();
        move |source| InvalidGlob { glob, source }
    };
    for glob in globs {
        // A folder means everything below it, as in `.gitignore`.
        let whole = glob.strip_suffix('/').map_or_else(|| glob.to_owned(), |folder| format!("{folder}/**"));
        // Some file systems ignore case, so `.GITHUB/Workflows` must not slip through.
        let mut glob_rule = GlobBuilder::new(whole.trim_start_matches('/'));
        let compiled = glob_rule.case_insensitive(true).literal_separator(true).build();
        set.add(compiled.map_err(invalid(glob))?);
    }
    set.build().map_err(invalid("all together"))
}

/// A rule that a diff breaks. Its text never contains a secret's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A protected path is changed, on either side of a rename.
    Protected {
        /// The path.
        path: String,
    },
    /// A file that a service runs at the push is changed, on either side of a rename.
    RunsAtPush {
        /// The path.
        path: String,
        /// The service.
        service: &'static str,
    },
    /// A path that the profile may not change.
    OutsideProfile {
        /// The path.
        path: String,
    },
    /// The tree contains a commit of another repository.
    Gitlink {
        /// The path.
        path: String,
    },
    /// A symbolic link points out of the tree.
    LinkOut {
        /// The path.
        path: String,
        /// Where it points.
        target: String,
    },
    /// A file is too large.
    TooLarge {
        /// The path.
        path: String,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Too many files are changed.
    TooManyFiles {
        /// How many.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A file that contains secrets by convention.
    SecretFile {
        /// The path.
        path: String,
    },
    /// A file, its name or an earlier commit contains a secret.
    Secret(SecretFound),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protected { path } => write!(f, "`{path}` is protected"),
            Self::RunsAtPush { path, service } => write!(
                f,
                "`{path}` is protected, since {service} runs it at the push: `protected = [\"!{path}\"]` in `.github/hob.toml` \
                 allows it"
            ),
            Self::OutsideProfile { path } => write!(f, "`{path}` is not among the paths that the profile may change"),
            Self::Gitlink { path } => write!(f, "`{path}` is a link to another repository's commit"),
            Self::LinkOut { path, target } => write!(f, "`{path}` is a link out of the repository, to `{target}`"),
            Self::TooLarge { path, bytes, limit } => {
                write!(f, "`{path}` has {bytes} bytes, the limit is {limit}")
            }
            Self::TooManyFiles { count, limit } => write!(f, "{count} files are changed, the limit is {limit}"),
            Self::SecretFile { path } => write!(f, "`{path}` is a file that holds secrets"),
            Self::Secret(SecretFound { path, kind, commit: None }) => write!(f, "`{path}` holds {kind}"),
            Self::Secret(SecretFound { path, kind, commit: Some(commit) }) => {
                write!(f, "`{path}` holds {kind} in the commit {}", commit.short())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_text::SecretKind;

    use super::*;
    use crate::Sha;

    fn file(path: &str) -> FileChange {
        FileChange {
            path: path.into(),
            kind: ChangeKind::Modified,
            mode: FileMode::File,
            additions: 1,
            deletions: 0,
            size: 10,
        }
    }

    fn judged(file: FileChange, hob_files: HobFiles) -> Vec<String> {
        let policy = DiffPolicy::new(&["deploy/".into(), "*.lock".into()], hob_files, 5, 100).unwrap();
        let diff = Diff { files: vec![file], ..Diff::default() };
        policy.violations(&diff).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn a_profile_changes_its_own_paths_on_both_sides_of_a_rename() {
        let paths = PathGlobs::new(vec!["docs/**".to_owned()]).unwrap();
        let renamed = FileChange { kind: ChangeKind::Renamed { from: "src/a.md".to_owned() }, ..file("docs/a.md") };
        let outside = |file: FileChange| paths.outside(&[file]).iter().map(Violation::to_string).collect::<Vec<_>>();
        assert_eq!(outside(file("docs/a.md")), Vec::<String>::new());
        assert_eq!(outside(file("src/a.rs")), ["`src/a.rs` is not among the paths that the profile may change"]);
        assert_eq!(outside(renamed).len(), 1);
    }

    /// Attack corpus D43, D44.
    #[test]
    fn protected_paths_are_refused_in_any_case_and_on_both_sides_of_a_rename() {
        for path in [
            ".github/workflows/ci.yml",
            ".GitHub/Workflows/deep/x.yml",
            ".github/HOB.toml",
            ".gitmodules",
            "deploy/a/b",
            "x.lock",
        ] {
            assert_eq!(judged(file(path), HobFiles::Protected), [format!("`{path}` is protected")]);
        }
        for path in ["src/main.rs", ".github/workflows.md", "sub/x.lock", "docs/deploy"] {
            assert!(judged(file(path), HobFiles::Protected).is_empty(), "{path}");
        }
        let moved = FileChange { kind: ChangeKind::Renamed { from: ".github/workflows/ci.yml".into() }, ..file("a") };
        assert_eq!(judged(moved.clone(), HobFiles::Protected).len(), 1);
        assert!(judged(moved, HobFiles::Allowed).is_empty());
    }

    /// Attack corpus K143.
    #[test]
    fn what_a_service_runs_at_the_push_is_protected_unless_the_repository_says_otherwise() {
        let diff = |path: &str, mode| Diff { files: vec![FileChange { mode, ..file(path) }], ..Diff::default() };
        let judged = |own: &[&str], path: &str, mode| {
            let own: Vec<String> = own.iter().map(ToString::to_string).collect();
            DiffPolicy::new(&own, HobFiles::Protected, 5, 100).unwrap().violations(&diff(path, mode)).len()
        };
        for (_, glob) in globs() {
            // One path of each glob.
            let path = glob.replace("**/", "a/b/").replace("/**", "/a/b").replace('*', "x");
            let path = match path.split_once('{') {
                Some((before, rest)) => format!("{before}{}", rest.split([',', '}']).next().unwrap()),
                None => path,
            };
            for path in [path.clone(), path.to_uppercase()] {
                assert_eq!(judged(&[], &path, FileMode::File), 1, "{glob}: {path}");
                assert_eq!(judged(&[], &path, FileMode::Link), 1, "{glob}: {path}");
                assert_eq!(judged(&[&format!("!{path}")], &path, FileMode::File), 0, "{glob}: {path}");
            }
            let alikes = match glob.strip_prefix("**/") {
                Some(name) if name.starts_with(['*', '.']) && !name.ends_with("/**") => vec![format!("{path}_")],
                Some(_) => vec![path.replace("a/b/", "a/b/x"), path.replace("a/b/", "a/b-")],
                None => vec![format!("docs/{path}"), format!("x{path}"), path.replace('/', "-") + "_"],
            };
            for alike in alikes {
                assert_eq!(judged(&[], &alike, FileMode::File), 0, "{glob}: {alike}");
            }
        }
        for folder in [".circleci", ".buildkite", ".GITHUB/actions", ".gitea/workflows"] {
            assert_eq!(judged(&[], folder, FileMode::Link), 1, "{folder}");
            assert_eq!(judged(&[], folder, FileMode::File), 0, "{folder}");
        }
        // No exception reaches Hob's own files, or takes back what the repository protects.
        assert_eq!(judged(&["!**"], ".github/workflows/ci.yml", FileMode::File), 1);
        assert_eq!(judged(&["deploy/", "!deploy/"], "deploy/a", FileMode::File), 1);
        assert_eq!(judged(&["!**/Jenkinsfile"], "a/Jenkinsfile", FileMode::File), 0);
        assert_eq!(judged(&["!**/Jenkinsfile"], ".travis.yml", FileMode::File), 1);
    }

    #[test]
    fn what_must_not_be_in_a_tree_is_named_without_its_value() {
        for (change, said) in [
            (FileChange { mode: FileMode::Gitlink, ..file("a") }, "`a` is a link to another repository's commit"),
            (FileChange { size: 101, ..file("a") }, "`a` has 101 bytes, the limit is 100"),
            (file("x/.env"), "`x/.env` is a file that holds secrets"),
            (
                file("Jenkinsfile"),
                "`Jenkinsfile` is protected, since Jenkins runs it at the push: `protected = [\"!Jenkinsfile\"]` in \
                 `.github/hob.toml` allows it",
            ),
        ] {
            assert_eq!(judged(change, HobFiles::Protected), [said]);
        }
        assert!(judged(file(".env.example"), HobFiles::Protected).is_empty());
        assert!(judged(FileChange { kind: ChangeKind::Deleted, ..file(".env") }, HobFiles::Protected).is_empty());
    }

    #[test]
    fn links_and_secrets_are_named_without_their_value() {
        let secret = |commit| SecretFound { path: "a".into(), kind: SecretKind::GitHubToken, commit };
        let diff = Diff {
            links_out: vec![LinkOut { path: "a".into(), target: "/etc".into() }],
            secrets: vec![secret(None), secret(Some(Sha::from("0123456789abcdef")))],
            ..Diff::default()
        };
        let policy = DiffPolicy::new(&[], HobFiles::Protected, 1, 100).unwrap();
        let said: Vec<_> = policy.violations(&diff).iter().map(Violation::to_string).collect();
        let wanted = [
            "`a` is a link out of the repository, to `/etc`",
            "`a` holds a GitHub token",
            "`a` holds a GitHub token in the commit 0123456789",
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn too_many_files_are_refused() {
        let policy = DiffPolicy::new(&[], HobFiles::Protected, 1, 100).unwrap();
        let diff = Diff { files: vec![file("a"), file("b")], ..Diff::default() };
        assert_eq!(policy.violations(&diff), [Violation::TooManyFiles { count: 2, limit: 1 }]);
    }

    #[test]
    fn a_glob_that_cannot_be_read_is_named() {
        let error = DiffPolicy::new(&["a[".into()], HobFiles::Protected, 1, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read the protected path `a[`: error parsing glob 'a[': unclosed character class; missing ']'"
        );
    }
}
